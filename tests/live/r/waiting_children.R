# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Forks, as parallel::mclapply() does it; each child waits, and measures itself how long. The last one is killed in the middle
# of a wait. Arguments: FOLDER
# Writes `measured`: PID FUNCTION LEAST MOST, in seconds

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
invisible(loadNamespace("parallel"))
invisible(loadNamespace("tools"))
now <- function() as.numeric(Sys.time())
rests <- function(i) for (k in 1:5) Sys.sleep(0.1 * i)
reads <- function(i) {
    con <- pipe(sprintf("sleep %.1f; echo one", 0.3 * i))
    stopifnot(identical(readLines(con), "one"))
    close(con)
}
hangs <- function() {
    put("hangs", sprintf("%.6f", now()))
    Sys.sleep(1000)
}
child <- function(i) {
    times <- numeric(3)
    times[[1]] <- now()
    rests(i)
    times[[2]] <- now()
    reads(i)
    times[[3]] <- now()
    sprintf("%d %s %.6f %.6f", Sys.getpid(), c("rests", "reads"), diff(times), diff(times))
}
ready()
await("go")
lines <- unlist(parallel::mclapply(1:3, child, mc.cores = 3L))
job <- parallel::mcparallel(hangs())
await("hangs")
Sys.sleep(0.5)
began <- as.numeric(readLines(file.path(folder, "hangs")))
least <- now() - began
invisible(tools::pskill(job$pid, tools::SIGKILL))
invisible(suppressWarnings(parallel::mccollect(job)))
lines <- c(lines, sprintf("%d hangs %.6f %.6f", job$pid, least, now() - began))
put("measured", lines)
done()
