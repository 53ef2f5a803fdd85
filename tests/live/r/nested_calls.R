# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
# R functions r1, r2, ... that call each other through C and C++ (tests/fixtures/nested_calls.cpp), up to eight levels deep, each
# in a way that is chosen at random: until it is killed. Arguments: FOLDER LIBRARY [signals | thread | BARE], BARE being the library
# without unwind tables that some of the ways are taken from then.
args <- commandArgs(TRUE)
writeLines(as.character(getRversion()), file.path(args[1], "version"))
library.file <- dyn.load(args[2])
levels <- 8L
ways <- c("call", "external", "dotc", "cxx", "toplevel", "try", "qsort")
bare.file <- if (length(args) > 2 && file.exists(args[3])) dyn.load(args[3])
bare <- if (!is.null(bare.file)) c("external_c", "dotc_c", "try_c", "nested_dotc")
symbol <- function(name) getNativeSymbolInfo(name, if (sub("[0-9]+$", "", name) %in% bare) bare.file else library.file)$address
address <- list()
for (way in ways) for (i in seq_len(levels)) address[[paste0(way, "_c", i)]] <- symbol(paste0(way, "_c", i))
leaf <- symbol("nested_leaf")
set.dotc <- symbol("nested_dotc")
path <- character()
fails <- FALSE

# What is called at the deepest level: C, R, or an error that goes out through all that does not catch it.
bottom <- function() {
    kind <- sample(4L, 1L)
    if (kind == 1L) .Call(leaf, 300L)
    else if (kind == 2L) for (k in 1:20) sum(sqrt(1:500))
    else if (kind == 3L) { sort(runif(2000)); .Call(leaf, 100L) }
    else if (fails) stop("outward")
}
into <- function(level, fun) {
    name <- paste0(path[level], "_c", level)
    at <- address[[name]]
    switch(path[level],
        external = .External(at, fun),
        dotc = { .Call(set.dotc, fun); .C(at, 50L) },
        .Call(at, fun))
}
# r1 ... r8 have the same body, some of them as byte code; the way in is by base functions, too.
r <- vector("list", levels + 1L)
for (i in seq_len(levels + 1L)) {
    body <- substitute(function() if (LEVEL > length(path)) bottom() else via(LEVEL, NEXT), list(LEVEL = i, NEXT = as.name(paste0("r", i + 1L))))
    f <- eval(body)
    # what C calls has a name on the stack: it calls a symbol's value by that symbol
    if (i %% 2L) f <- compiler::cmpfun(f)
    assign(paste0("r", i), f)
}
via <- function(level, fun) {
    fun <- as.name(paste0("r", level + 1L))
    how <- sample(4L, 1L)
    if (how == 1L) into(level, fun)
    else if (how == 2L) lapply(1L, function(i) into(level, fun))
    else if (how == 3L) do.call(into, list(level, as.name("fun")))
    else tryCatch(into(level, fun), warning = function(w) NULL)
}
once <- function() {
    path <<- sample(ways, sample(levels, 1L), TRUE)
    fails <<- runif(1) < 0.3
    tryCatch(r1(), error = function(e) .Call(leaf, 50L))
}
if (length(args) > 2 && args[3] == "signals") .Call(symbol("nested_signals"), 2L)
if (length(args) > 2 && args[3] == "thread") .Call(symbol("nested_thread"))
for (i in 1:20) once()
file.create(file.path(args[1], "ready"))
repeat once()
