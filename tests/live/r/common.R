# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the test programs share. They are started as  R -f PROGRAM --args FOLDER ...  and talk to the test by files
# in FOLDER: they create `ready` when they have started, wait for `go`, and create `done` at the end.

args <- commandArgs(trailingOnly = TRUE)
folder <- args[[1L]]
options(warn = 1)

# A file appears whole or not at all.
put <- function(name, lines = character()) {
    temporary <- file.path(folder, paste0(name, ".tmp"))
    con <- file(temporary, "wb")
    writeLines(enc2utf8(lines), con, useBytes = TRUE)
    close(con)
    file.rename(temporary, file.path(folder, name))
    invisible()
}

await <- function(name) {
    while (!file.exists(file.path(folder, name))) Sys.sleep(0.02)
}

ready <- function() put("ready", as.character(Sys.getpid()))

done <- function() put("done")

# CPU time used so far, seconds.
cpu_time <- function() sum(proc.time()[1:2])

# CPU time that an expression takes, seconds. The kernel knows it exactly, but divides it into user's and system's by what it
# finds at some ticks: of a short time the one or the other may be nothing, only the sum is right.
cpu_time_of <- function(expression) {
    expression <- substitute(expression)
    where <- parent.frame()
    times <- 0
    start <- cpu_time()
    while ((used <- cpu_time() - start) < 0.2) {
        for (i in 1:20) eval(expression, where)
        times <- times + 20
    }
    used / times
}
