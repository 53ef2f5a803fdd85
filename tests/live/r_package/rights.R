# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# For a user without rights: the engine that needs rights is refused with a message that helps; the
# others work.

library(xrprof)
heavy <- function(n) {
    x <- 0
    for (i in seq_len(n)) x <- x + sqrt(i)
    x
}
message <- tryCatch({ xrprof(heavy(10), engine = "bpf"); "no error" }, error = conditionMessage)
cat("refused:", gsub("\n", " | ", message), "\n")
message <- tryCatch({
    p <- xrprof(for (k in 1:12) heavy(1e6))
    paste(p$engine, rownames(summary(p)$by.self)[[1L]])
}, error = conditionMessage)
cat("fallback:", gsub("\n", " | ", message), "\n")
