# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# master.R FOLDER: forks a child when the file `go` is there; both compute.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
in_child <- function(n) {
    s <- 0
    for (i in seq_len(n)) s <- s + i %% 7
    s
}
in_master <- in_child
ready()
await("go")
job <- parallel::mcparallel(repeat in_child(1e5))
put("child", as.character(job$pid))
repeat in_master(1e5)
