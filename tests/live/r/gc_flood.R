# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Allocates 24 MB thirty times, a tenth of a second apart, each with a collection at its end; or
# floods with writes of R's flag that it collects, and writes their number to times.txt. Arguments:
# FOLDER [LIBRARY FLAG SIZE SMALL], the last three as fixtures/gc_variables.c has them.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
if (length(args) > 1L) dyn.load(args[[2L]])

piece <- function() {
    for (i in 1:60) numeric(50000)
    gc(FALSE)
}
allocates <- function() for (i in 1:30) {
    piece()
    Sys.sleep(0.1)
}
floods <- function() {
    flag <- as.numeric(args[[3L]])
    flood <- .C("flood", 3, flag, as.integer(args[[4L]]), as.numeric(args[[5L]]), times = 0)
    put("times.txt", format(flood$times, scientific = FALSE))
}

ready()
while (!file.exists(file.path(folder, "go"))) for (i in 1:20) numeric(4000)
gc(FALSE)
if (length(args) > 1L) invisible(floods()) else allocates()
done()
