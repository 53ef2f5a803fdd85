# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Computes until it is ended, beside threads that sleep. Arguments: FOLDER LIBRARY THREADS

arguments <- commandArgs(trailingOnly = TRUE)
source(file.path(arguments[[1L]], "common.R"))
dyn.load(arguments[[2L]])

compute <- function() {
    x <- 0
    for (i in 1:2000) x <- x + sqrt(i)
    x
}
beside <- function() repeat compute()

wanted <- as.integer(arguments[[3L]])
stopifnot(.C("threads_start", wanted)[[1L]] == wanted)
ready()
beside()
