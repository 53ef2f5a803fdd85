# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Memory in known amounts. Arguments: FOLDER WHAT [TURNS COPIES].
#   counts  holds more and more of each kind, and in between computes for TURNS without allocating, while Rprof() with
#           counts of memory runs on it: oracle.out. Then it duplicates COPIES vectors with Rprof(), and without.
#   shares  three functions allocate 1 : 2 : 4, and keep it; writes `bytes`, how much in all

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
what <- args[[2L]]
turns <- if (what == "counts") as.numeric(args[[3L]])
copies <- if (what == "counts") as.numeric(args[[4L]])

big <- runif(4e6)
kept <- new.env()
keep <- function(x) assign(paste0("k", length(ls(kept))), x, envir = kept)

# Some milliseconds a turn, and next to nothing allocated.
spin <- function(seconds) {
    end <- cpu_time() + seconds
    while (cpu_time() < end) for (i in 1:4) sum(big)
}

# As much work, however long a machine that halts in between says that it took.
compute <- function() for (i in seq_len(turns)) sum(big)
phase_begin <- function() compute()
phase_large <- function() compute()
phase_small <- function() compute()
phase_nodes <- function() compute()
phase_freed <- function() compute()

phases <- function() {
    phase_begin()
    keep(numeric(5e6))
    phase_large()
    keep(lapply(1:200000, function(i) c(i, i, i, i)))
    phase_small()
    keep(as.pairlist(rep(list(NULL), 1e6)))
    phase_nodes()
    rm(list = ls(kept), envir = kept)
    gc()
    phase_freed()
}

# One duplicate() a turn: the vector has two names when it is changed.
copy <- function(n) {
    x <- numeric(100)
    for (i in seq_len(n)) {
        y <- x
        x[[1L]] <- 1
    }
}
# What came after the last sample of copy() is in the next one.
copies_seen <- function(n) {
    copy(n)
    spin(0.1)
}
# (A profiler that reads from outside may get no CPU for a while: until it has looked.)
copies_alone <- function(n) {
    copy(n)
    repeat {
        spin(0.1)
        lines <- readLines(file.path(folder, "ours.out"), warn = FALSE)
        if (any(grepl("\"spin\" \"copies_alone\"", lines, fixed = TRUE))) break
    }
}

# 100 kB a turn, which is kept, and some milliseconds.
held <- list()
hold <- function() {
    sum(big)
    held[[length(held) + 1L]] <<- numeric(12500)
}
one <- function() for (i in 1:5) hold()
two <- function() for (i in 1:10) hold()
four <- function() for (i in 1:20) hold()

# What compiles them on the way allocates, too.
for (i in 1:3) { one(); two(); four() }
held <- list()
invisible(gc())
ready()
await("go")
switch(what,
counts = {
    # once before, so that R compiles nothing between the two counts
    copy(1000)
    Rprof(file.path(folder, "oracle.out"), interval = 0.002, memory.profiling = TRUE)
    phases()
    copies_seen(copies)
    Rprof(NULL)
    copies_alone(copies)
},
shares = {
    for (round in 1:20) { one(); two(); four() }
    put("bytes", format(20 * 35 * 100000, scientific = FALSE))
})
done()
