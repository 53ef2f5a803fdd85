# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Things that happen a known number of times (tests/fixtures/events.c). Arguments: FOLDER LIBRARY TIMES [children].
# With "children" all is done in children, a quarter each. Writes to `hits` how often the probe was executed.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
invisible(dyn.load(args[[2L]]))
times <- as.integer(args[[3L]])
children <- identical(args[4L], "children")
invisible(compiler::enableJIT(0L))

hits <- 0L
calling <- function(n) .C("events_call", n)
probing <- function(n) { hits <<- hits + .C("events_probe", n, 0L)[[2L]]; NULL }
asking <- function(n) .C("events_syscalls", n)
small <- function(n) .C("events_pages", n)
middle <- function(n) .C("events_pages", 2L * n)
large <- function(n) .C("events_pages", 4L * n)
all_of_it <- function(n) {
    calling(n)
    probing(n)
    asking(n)
    for (k in 1:10) { small(n %/% 10L); middle(n %/% 10L); large(n %/% 10L) }
    hits
}

ready()
await("go")
if (children) {
    hits <- sum(unlist(parallel::mclapply(1:4, function(k) all_of_it(times %/% 4L), mc.cores = 2)))
} else {
    all_of_it(times)
}
put("hits", as.character(hits))
done()
