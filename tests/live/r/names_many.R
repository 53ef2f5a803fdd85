# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Ever new functions with different names: chains of a hundred that call each other. At the end of a
# chain spin() computes for a moment; none is called again. Arguments: FOLDER HELPER N... (HELPER:
# the shared object made from all_fork.c): for each N a forked child makes that many chains, one child
# after the other. `big` is there when all have ended.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
dyn.load(args[[2L]])
invisible(compiler::enableJIT(0L))

spin <- function(d) {
    x <- 0
    for (i in 1:6000) x <- x + i
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
child <- function(n) {
    for (i in seq_len(n)) chain(paste0("own_", Sys.getpid(), "_", i))
    .C("all_exit", 0L)
}

ready()
await("go")
for (n in as.integer(args[-(1:2)])) {
    if (.C("all_fork", 0L)[[1L]] == 0L) child(n)
    .C("all_reap", 1L, 1L)
}
put("big")
await("end")
done()
