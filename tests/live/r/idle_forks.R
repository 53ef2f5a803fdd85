# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# idle_forks.R FOLDER HELPER: forks two children that compute in byte code, one after the other, each until there is a file
# first.enough, second.enough, and runs no byte code
# itself while it waits, as a server does: what profilers must learn from a process is to be learnt from its children.
# HELPER is tests/fixtures/all_fork.c.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
compiler::enableJIT(0L)
dyn.load(args[[2L]])
text <- "idle_child <- function(enough) {
    n <- 0
    while ((n <- n + 1) < 20 || !file.exists(enough))
        for (i in 1:20000)
            sqrt(i)
}"
eval(parse(text = text, keep.source = TRUE, srcfile = srcfilecopy("idle_child.R", strsplit(text, "\n")[[1L]])))
idle_child <- compiler::cmpfun(idle_child)

ready()
while (!file.exists(file.path(folder, "go"))) .Internal(Sys.sleep(0.2))
for (child in c("first", "second")) {
    if (.C("all_fork", 0L)[[1L]] == 0L) {
        put(child, as.character(Sys.getpid()))
        idle_child(file.path(folder, paste0(child, ".enough")))
        put(paste0(child, ".done"))
        .C("all_exit", 0L)
    }
    while (!file.exists(file.path(folder, paste0(child, ".done")))) .Internal(Sys.sleep(0.2))
}
done()
