# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Waits N times in each of six system calls, and writes how many failed. Arguments: FOLDER LIBRARY N

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
invisible(dyn.load(args[[2L]]))
n <- as.integer(args[[3L]])
kinds <- c("epoll_wait", "sigtimedwait", "semtimedop", "recv", "io_getevents", "nanosleep")

waiting <- function(kind) .C("waits_run", kind - 1L, n, failed = 0L, early = 0L)
stopifnot(.C("waits_open", 0L)[[1L]] == 1L)
ready()
await("go")
got <- lapply(seq_along(kinds), waiting)
.C("waits_close", 0L)
put("waited", sprintf("%s %d %d", kinds, vapply(got, `[[`, 0L, "failed"), vapply(got, `[[`, 0L, "early")))
done()
