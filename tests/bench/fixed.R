# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# For each line on standard input, does a fixed piece of work and prints its elapsed seconds.  Arguments: FOLDER DEPTH

args <- commandArgs(trailingOnly = TRUE)
source(file.path(args[[1L]], "common.R"))
depth <- as.integer(args[[2L]])
fib <- function(n) if (n < 2L) n else fib(n - 1L) + fib(n - 2L)
dig <- function(n) if (n <= 0L) for (i in 1:20) fib(19L) else dig(n - 1L)
work <- function() system.time(dig(depth), gcFirst = FALSE)[["elapsed"]]
invisible(work())
input <- file(file.path(args[[1L]], "turns"), "r")
ready()
while (length(readLines(input, 1L))) {
    cat(work(), "\n", file = file.path(args[[1L]], "times"), append = TRUE)
}
