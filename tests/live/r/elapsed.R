# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Computes and waits under R's own profiler of elapsed time. Arguments: FOLDER SECONDS
# Writes `Rprof.out`, and the seconds that passed to `elapsed`.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])

now <- function() as.numeric(Sys.time())
computes <- function(s) {
    until <- now() + s
    while (now() < until) sum(sqrt(1:1000))
}
sleeps <- function(s) Sys.sleep(s)
first <- function() {
    computes(0.06)
    sleeps(0.11)
}
second <- function() {
    sleeps(0.04)
    for (i in 1:20) sleeps(0.002)
    inner()
}
inner <- function() computes(0.03)
reads <- function() {
    con <- pipe("sleep 0.07; echo one")
    readLines(con)
    close(con)
}
work <- function() {
    until <- now() + seconds
    while (now() < until) {
        first()
        second()
        reads()
    }
}
path <- file.path(folder, "Rprof.out")
ready()
await("go")
Rprof(path, interval = 0.01, event = "elapsed")
before <- now()
work()
put("elapsed", as.character(now() - before))
Rprof(NULL)
done()
Sys.sleep(1000)
