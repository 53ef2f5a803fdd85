# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Forks, as parallel::mclapply() does it; the children compute in child_work() and the parent waits in parent(). Then
# there is another round of it, and the end. Arguments: FOLDER SECONDS (of CPU time, of each child, from when there is a file
# known.PID)

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])
invisible(compiler::enableJIT(0L))
spin <- function(n) { x <- 0; for (i in seq_len(n)) x <- x + sqrt(i); x }
child_work <- function(i) {
    while (!file.exists(file.path(folder, paste0("known.", Sys.getpid())))) spin(1000)
    end <- cpu_time() + seconds
    while (cpu_time() < end) spin(1000)
    Sys.getpid()
}
parent <- function() unlist(parallel::mclapply(1:3, function(i) child_work(i), mc.cores = 3L))
invisible(loadNamespace("parallel"))
ready()
await("go")
put("pids", as.character(c(parent(), parent())))
done()
