# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A program that computes and then ends in the way END. Arguments: FOLDER SECONDS END [HELPER]; it
# computes in outer() > middle() > inner() for SECONDS of CPU time, then END:
#   exit       it ends
#   die        last_words() computes for a while, and then kills the process
#   exec       it becomes sleep(1) (HELPER: the shared object made from target_helper.c)
#   threads    another thread computes beside it: in both_busy() R does too, in resting() it sleeps (HELPER)

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])
invisible(compiler::enableJIT(0L)) # R's compiler would add many stacks
if (length(args) > 3L) dyn.load(args[[4L]])

inner <- function(n) {
    x <- 0
    for (i in seq_len(n)) x <- x + sqrt(i)
    x
}
middle <- function(n) inner(n) + inner(n)
outer_most <- function(seconds) {
    end <- proc.time()[[1L]] + seconds
    while (proc.time()[[1L]] < end) middle(2000)
}
last_words <- function(seconds) {
    outer_most(seconds)
    tools::pskill(Sys.getpid(), tools::SIGKILL)
}
both_busy <- function(seconds) outer_most(seconds)
resting <- function(seconds) Sys.sleep(seconds)

inner <- compiler::cmpfun(inner)
ready()
await("go")
switch(args[[3L]],
    exit = outer_most(seconds),
    die = {
        outer_most(seconds)
        last_words(0.3)
    },
    exec = {
        outer_most(seconds)
        put("done")
        .C("helper_exec", "sleep", "1000")
    },
    threads = {
        .C("helper_burn", 1L)
        both_busy(seconds)
        put("resting")
        resting(seconds)
        .C("helper_stop")
    })
done()
