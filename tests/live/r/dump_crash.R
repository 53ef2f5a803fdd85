# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Writes `calls`, the code of each call of sys.calls(), the innermost first, and crashes in a C function. Arguments: FOLDER FILE
# FUNCTION.

args <- commandArgs(trailingOnly = TRUE)
setwd(args[[1L]]) # the kernel writes the core file there
dyn.load(args[[2L]])
kept <- as.numeric(1:300000) + 0.5
crash <- function(n, why = "no reason") {
    known <- n * 2
    writeLines(vapply(rev(sys.calls()), function(call) deparse(call, width.cutoff = 500L), ""), "calls")
    .Call(args[[3L]])
}
work <- function(data, ...) {
    total <- sum(data)
    lapply(1:2, function(i) crash(i + total))
}
work(c(1, 2, 3.5), "x y")
