# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Computes until it is ended, always below the functions outer() and inner(). Arguments: FOLDER

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))

inner <- function() {
    x <- 0
    for (i in 1:2000) x <- x + sqrt(i)
    x
}
# (less than half of a CPU, which other tests need, too)
outer <- function() repeat {
    for (k in 1:100) inner()
    Sys.sleep(0.012)
}

ready()
outer()
