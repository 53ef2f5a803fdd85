# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Changes its labels very often. Which labels it has at any moment follows from its stack: burn() is called only while the
# option has the name of the function `lab_N` that calls it, and none() only while there are no labels.
# Arguments: FOLDER CHANGES [fork]. CHANGES: how many it makes at least. fork: a forked child burns at the end, too.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
most <- as.numeric(args[[2L]])

burn <- function(n) {
    s <- 0
    for (i in seq_len(n)) s <- s + sqrt(i)
    s
}
none <- function(n) {
    s <- 0
    for (i in seq_len(n)) s <- s + sqrt(i)
    s
}
garbage <- function(n) for (i in seq_len(n)) numeric(2000)

lengths <- c(5, 50, 500, 5000)

# Sets labels, calls burn(), and leaves the option as one of the ways to have no labels: the option is gone, has no
# elements, no names, or is not a vector of strings.
nothing <- list(NULL, character(), "unnamed", 1L, list(a = 1), quote(x))
make <- function(name) {
    force(name)
    function(n, way) {
        options(xrprof.labels = c(lab = name, n = format(n), same = "\u00fc"))
        burn(n)
        options(xrprof.labels = nothing[[way]])
        none(n)
    }
}
names <- sprintf("lab_%d", 1:40)
for (name in names) assign(name, make(name))
# called by their names, so that a stack has these
calls <- lapply(names, function(name) as.call(list(as.name(name), 0, 0L)))

# Within labels others, and the outer ones again, by the very same vector.
lab_100 <- function(n) {
    old <- options(xrprof.labels = c(lab = "lab_100"))
    burn(n)
    lab_101(n)
    burn(n)
    options(old)
}
lab_101 <- function(n) {
    old <- options(xrprof.labels = c(lab = "lab_101"))
    burn(n)
    options(old)
}

# Two functions by turns, with a collection in between, until the labels were 40 times where those before them had been.
lab_200 <- function(n) {
    options(xrprof.labels = c(lab = "lab_200"))
    at <- deparse(.Internal(address(getOption("xrprof.labels"))))
    burn(n)
    options(xrprof.labels = NULL)
    at
}
lab_201 <- function(n) {
    options(xrprof.labels = c(lab = "lab_201"))
    at <- deparse(.Internal(address(getOption("xrprof.labels"))))
    burn(n)
    options(xrprof.labels = NULL)
    at
}
reuse <- function() {
    before <- ""
    again <- 0L
    for (i in 1:1000) {
        gc(FALSE)
        at <- if (i %% 2L) lab_200(100000) else lab_201(100000)
        again <- again + (at == before)
        before <- at
        if (again == 40L) break
    }
    put("again", as.character(again))
}

# A forked child has the labels of its parent until it sets others.
lab_102 <- function(n) {
    old <- options(xrprof.labels = c(lab = "lab_102"))
    child <- parallel::mcparallel({
        burn(n)
        lab_103(n)
    })
    burn(n)
    parallel::mccollect(child)
    options(old)
}
lab_103 <- function(n) {
    old <- options(xrprof.labels = c(lab = "lab_103"))
    burn(n)
    options(old)
}

changes <- 0
window <- function(most) {
    end <- changes + most
    while (changes < end) {
        for (call in sample(calls)) {
            call[2:3] <- list(sample(lengths, 1L), sample(length(nothing), 1L))
            eval(call)
        }
        lab_100(500)
        changes <<- changes + 2 * length(calls) + 4
        garbage(20)
        if (sample(20L, 1L) == 1L) gc(FALSE)
    }
}
options(xrprof.labels = c(lab = "begin"))
options(xrprof.labels = NULL)

ready()
await("go")
window(most)
reuse()
put("changes", format(changes, scientific = FALSE))
if (length(args) > 2L) lab_102(2e7)
done()
