# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Works with much garbage. Arguments: FOLDER SECONDS (of CPU time).

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])

# What each collection has to go through: without it they would be too short to be seen.
ballast <- lapply(1:6000, function(i) list(i, c(i, i)))

vectors <- function(n) for (i in seq_len(n)) numeric(20000)
lists <- function(n) lapply(seq_len(n), function(i) list(i, i + 1))
strings <- function(n) paste0("s", seq_len(n), "_", sample(1e6, 1L))
growing <- function(n) {
    x <- NULL
    for (i in seq_len(n)) x <- c(x, i)
    x
}
pairs <- function(n) {
    x <- NULL
    for (i in seq_len(n)) x <- list(i, x)
    x
}
frames <- function(n) for (i in seq_len(n)) local(i + 1)
finalized <- function(n) {
    for (i in seq_len(n)) reg.finalizer(new.env(), function(e) quiet(20))
    gc(FALSE, full = FALSE)
}
explicit <- function() gc(FALSE)
quiet <- function(n) {
    s <- 0
    for (i in seq_len(n)) s <- s + sqrt(i)
    s
}

window <- function(seconds) {
    end <- cpu_time() + seconds
    while (cpu_time() < end) for (i in sample(9)) switch(i, vectors(250), lists(10000), strings(5000),
        growing(2000), pairs(10000), frames(3000), finalized(5), explicit(), quiet(100000))
}
window(1)

ready()
await("go")
window(seconds)
done()
