# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Forks, as parallel::mclapply() does it; each child waits, and measures itself how long and what it uses of a CPU, as soon as
# there is a file known.PID. The last one is killed in the middle of a wait. Arguments: FOLDER
# Writes `measured`: PID FUNCTION LEAST MOST CPU, in seconds

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
known <- function() await(paste0("known.", Sys.getpid()))
hangs <- function() {
    put("hangs", sprintf("%.6f %.6f", now(), cpu_time()))
    Sys.sleep(1000)
}
child <- function(i) {
    known()
    cpu <- times <- numeric(3)
    note <- function(k) {
        times[[k]] <<- now()
        cpu[[k]] <<- cpu_time()
    }
    note(1)
    rests(i)
    note(2)
    reads(i)
    note(3)
    sprintf("%d %s %.6f %.6f %.6f", Sys.getpid(), c("rests", "reads"), diff(times), diff(times), diff(cpu))
}
ready()
await("go")
lines <- unlist(parallel::mclapply(1:3, child, mc.cores = 3L))
job <- parallel::mcparallel({
    known()
    hangs()
})
await("hangs")
Sys.sleep(0.5)
began <- as.numeric(strsplit(readLines(file.path(folder, "hangs")), " ")[[1L]])
least <- now() - began[[1L]]
stat <- strsplit(sub(".*[)] ", "", readLines(file.path("/proc", job$pid, "stat"))), " ")[[1L]]
cpu <- sum(as.numeric(stat[12:13])) / 100 - began[[2L]]
invisible(tools::pskill(job$pid, tools::SIGKILL))
invisible(suppressWarnings(parallel::mccollect(job)))
lines <- c(lines, sprintf("%d hangs %.6f %.6f %.6f", job$pid, least, now() - began[[1L]], cpu))
put("measured", lines)
done()
