# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Switches as often as it can: to and from another process, over pipes (tests/fixtures/pingpong.c), below DEPTH calls.
# Arguments: FOLDER LIBRARY PROGRAM DEPTH TIMES TURNS
# For each line in the pipe `turns` it goes to and fro TIMES times and appends to `times` the seconds that took; with TURNS 0
# it does so all the time, from `go` on.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
invisible(dyn.load(args[[2L]]))
depth <- as.integer(args[[4L]])
times <- as.integer(args[[5L]])
turns <- as.integer(args[[6L]])
stopifnot(.C("pingpong_start", args[[3L]], 0L)[[2L]] > 0)

inner <- function() stopifnot(.C("pingpong", times)[[1L]] == times)
down <- function(n) if (n > 1L) down(n - 1L) else inner()
outer_most <- function() down(depth)

# one CPU, so that each waits for the other and neither for the machine
if (turns) {
    turn <- fifo(file.path(folder, "turns"), "r", blocking = TRUE)
    ready()
    for (i in seq_len(turns)) {
        if (!length(readLines(turn, 1L))) break
        before <- as.numeric(Sys.time())
        outer_most()
        cat(as.numeric(Sys.time()) - before, "\n", file = file.path(folder, "times"), append = TRUE)
    }
} else {
    ready()
    await("go")
    repeat outer_most()
}
