# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Forks. Arguments: FOLDER KIND HELPER [N] (HELPER: the shared object made from all_fork.c)
#   storm   N children, 16 at a time, that compute in storm_child() for some milliseconds
#   churn   N children that end at once, in tenths; the number of tenths done is left in files tenth.1 ...

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
kind <- args[[2L]]
dyn.load(args[[3L]])
n <- if (length(args) > 3L) as.integer(args[[4L]])

burn <- function(seconds) {
    end <- cpu_time() + seconds
    x <- 0
    while (cpu_time() < end) for (i in 1:500) x <- x + sqrt(i)
}
storm_child <- function() {
    burn(0.005)
    .C("all_exit", 0L)
}
storm_parent <- function(n) {
    running <- 0L
    for (i in seq_len(n)) {
        if (.C("all_fork", 0L)[[1L]] == 0L) storm_child()
        running <- .C("all_reap", running + 1L, 16L)[[1L]]
    }
    .C("all_reap", running, 0L + 1L)
}
churn_parent <- function(n) {
    for (tenth in 1:10) {
        .C("all_churn", n %/% 10L)
        put(paste0("tenth.", tenth))
        await(paste0("seen.", tenth))
    }
}

ready()
await("go")
switch(kind,
    storm = storm_parent(n),
    churn = churn_parent(n))
done()
