# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What can be tested where the profiler may be missing, and where rights may be.
library(xrprof)

fails <- function(expr, pattern) {
    e <- tryCatch({ expr; NULL }, error = identity)
    stopifnot(inherits(e, "error"), grepl(pattern, conditionMessage(e)))
}

fails(xrprof_stop(), "no profile is being taken")
stopifnot(is.null(xrprof_last()))
old <- options(xrprof.path = file.path(tempdir(), "nothing"))
fails(xrprof_start(), "no program .*nothing.*xrprof.path")
fails(xrprof(1), "no program")
options(old)

available <- tryCatch({
    xrprof_start()
    xrprof_stop()
    TRUE
}, error = function(e) {
    cat("skipped:", conditionMessage(e), "\n")
    FALSE
})
if (available) {
    busy <- function(n) { x <- 0; for (i in seq_len(n)) x <- x + sqrt(i); x }
    p <- xrprof({ for (k in 1:40) busy(1e5); "value" }, show = "none")
    stopifnot(inherits(p, "xrprof"), identical(p$value, "value"), file.exists(p$file))
    stopifnot(identical(xrprof_last()$file, p$file))
    if (p$samples > 0)
        stopifnot("busy" %in% as.data.frame(p)[["function"]])
    print(p)
    e <- tryCatch(xrprof(stop("mine"), show = "none"), error = identity)
    stopifnot(identical(conditionMessage(e), "mine"))
    fails(xrprof_stop(), "no profile is being taken")
}
