# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Three kinds of work in turns, each in a separate function: one allocates garbage in bytes that R
# takes from the system again each time, one computes and allocates nothing, one sleeps. Arguments:
# FOLDER

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
invisible(compiler::enableJIT(0L))

# 8 MB: larger than what malloc() keeps, so its pages are new.
allocating <- function() numeric(1e6)
values <- runif(1e6)
computing <- function() sum(values)
resting <- function() Sys.sleep(0.01)

ready()
repeat {
    for (i in 1:4) allocating()
    for (i in 1:10) computing()
    resting()
}
