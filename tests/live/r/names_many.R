# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Ever new functions with different names: chains of a hundred that call each other. At the end of a
# chain spin() computes for a moment; none is called again. Arguments: FOLDER HELPER ROUNDS CHAINS
# BIG PACE (HELPER: the shared object made from all_fork.c). In each round two forked children make
# CHAINS chains each, one in PACE seconds; `round.N` is there when they have ended, and the next one
# waits for `seen.N`. Then one child makes BIG chains, as fast as it can.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
dyn.load(args[[2L]])
rounds <- as.integer(args[[3L]])
chains <- as.integer(args[[4L]])
big <- as.integer(args[[5L]])
pace <- as.numeric(args[[6L]])
invisible(compiler::enableJIT(0L))

turns <- if (pace > 0) 60000 else 6000
spin <- function(d) {
    x <- 0
    for (i in 1:turns) x <- x + i
    x
}
chain <- function(tag) {
    names <- lapply(paste0(tag, "_", 1:100), as.name)
    here <- new.env()
    for (k in 1:100) {
        body <- as.call(list(if (k < 100L) names[[k + 1L]] else quote(spin), quote(d)))
        assign(as.character(names[[k]]), as.function(list(d = quote(expr = ), body), envir = here), envir = here)
    }
    eval(as.call(list(names[[1L]], 0)), here)
}
child <- function(n, pace) {
    pid <- Sys.getpid()
    began <- proc.time()[["elapsed"]]
    for (i in seq_len(n)) {
        chain(paste0("own_", pid, "_", i))
        ahead <- began + i * pace - proc.time()[["elapsed"]]
        if (ahead > 0) Sys.sleep(ahead)
    }
    .C("all_exit", 0L)
}
fork <- function(n, pace) if (.C("all_fork", 0L)[[1L]] == 0L) child(n, pace)

ready()
await("go")
for (round in seq_len(rounds)) {
    invisible(fork(chains, pace))
    invisible(fork(chains, pace))
    invisible(.C("all_reap", 2L, 1L))
    put(paste0("round.", round))
    await(paste0("seen.", round))
}
if (big > 0L) {
    invisible(fork(big, 0))
    invisible(.C("all_reap", 1L, 1L))
}
put("big")
await("end")
done()
