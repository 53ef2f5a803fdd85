# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Computes in one function, that others call. Arguments: FOLDER

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
busy <- function(n) {
    s <- 0
    for (i in seq_len(n)) s <- s + sqrt(i)
    s
}
calls_busy <- function() busy(1e5)
ready()
repeat {
    tryCatch(lapply(1:3, function(i) calls_busy()), error = identity)
    Sys.sleep(0.02) # less than half of a CPU, which other tests need, too
}
