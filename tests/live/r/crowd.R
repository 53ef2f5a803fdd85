# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A crowd: NUMBER forked children, all at once. Each computes some milliseconds in crowd_child(),
# reports it, and waits to be killed. Arguments: FOLDER FIXTURE NUMBER; FIXTURE:
# tests/fixtures/all_fork.c, built.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
dyn.load(args[[2L]])
number <- as.integer(args[[3L]])

# makes no garbage: a collection would give each child its own copy of all pages
crowd_child <- compiler::cmpfun(function(n) {
    end <- proc.time()[[1L]] + 0.02
    while (proc.time()[[1L]] < end) for (i in seq_len(n)) NULL
})
pids <- file.path(folder, "pids")

ready()
await("go")
for (k in seq_len(number)) {
    if (!.C("all_fork", pid = 0L)$pid) {
        crowd_child(20000)
        cat(paste0(Sys.getpid(), "\n"), file = pids, append = TRUE) # in one write
        Sys.sleep(1e6)
    }
}
done()
Sys.sleep(1e6)
