# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# The snippets of lines_corpus.R, for oracle.R.
#
# The corpus is there four times: with source references and without, as it is and byte-compiled. Snippets come in
# random order.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
invisible(compiler::enableJIT(0L))
suppressPackageStartupMessages(library(methods))
packages <- list(kept = asNamespace("xrkept"), dropped = asNamespace("xrdropped"), uncompiled = asNamespace("xruncompiled"))

# Separate sources, with one kind of srcfile each.
small_file <- file.path(folder, "small.R")
writeLines(c("spin()", "small <- function(n) {", "    spin()", "    n", "}", "small(1)"), small_file)
other_file <- file.path(folder, "other name.R")
writeLines(c("", "from_srcfile <- function(n) {", "    spin()", "    spin()", "    n", "}"), other_file)

setClass("Thing", representation(value = "numeric"))
setClass("SubThing", contains = "Thing")
invisible(setGeneric("size", function(x, ...) standardGeneric("size")))

functions_in <- function(env) {
    names <- setdiff(ls(env, all.names = TRUE), "active")
    names[vapply(names, function(name) is.function(env[[name]]), NA)]
}

make <- function(keep, compile) {
    env <- new.env(parent = globalenv())
    sys.source(file.path(folder, "lines_corpus.R"), env, keep.source = keep)
    env$parsed <- eval(parse(text = c("", "function(n) {", "    spin()", "    n", "}"), keep.source = TRUE), env)
    env$parsed_plain <- eval(parse(text = c("function(n) {", "    spin()", "    n", "}"), keep.source = FALSE), env)
    eval(parse(other_file, srcfile = srcfile(other_file)), env)
    env$rebuilt <- function() NULL
    body(env$rebuilt) <- env$quoted
    environment(env$rebuilt) <- env
    env$thing <- new("SubThing", value = 1)
    if (compile) {
        for (name in functions_in(env)) env[[name]] <- compiler::cmpfun(env[[name]])
        env$snippets <- lapply(env$snippets, compiler::cmpfun)
    }
    # halfway() makes a new function of it each time: the first calls run as it is, then the JIT compiles it
    env$recipe <- parse(text = c("function(n) {", "    s <- 0", "    for (i in 1:n) {", "        s <- s + i", "    }",
        "    s / 2", "}"), keep.source = keep)[[1L]]
    env$account <- Account$new(total = 0, work = env$spin)
    env
}
Account <- setRefClass("Account", fields = list(total = "numeric", work = "function"), methods = list(
    deposit = function(x) {
        work()
        total <<- total + x
        invisible(.self)
    }))
corpora <- list(kept = make(TRUE, FALSE), kept_compiled = make(TRUE, TRUE), bare = make(FALSE, FALSE),
    bare_compiled = make(FALSE, TRUE))
# S4 methods are global; of the corpora with sources, one is plain and one compiled.
with_source <- function(text, env) eval(parse(text = text, keep.source = TRUE), env)
setMethod("size", "Thing", with_source(c("function(x, ...) {", "    spin()", "    x@value", "}"), corpora$kept))
setMethod("size", "SubThing", compiler::cmpfun(with_source(c("function(x, ...) {", "    spin()", "    callNextMethod()",
    "}"), corpora$kept_compiled)))
setMethod("show", "Thing", with_source(c("function(object) {", "    spin()", "    invisible()", "}"), corpora$kept))

run_one <- function(snippets, i) {
    snippets[[i]]()
    NULL
}
window <- function(seconds) {
    end <- cpu_time() + seconds
    n <- length(corpora$kept$snippets)
    while (cpu_time() < end) {
        for (i in sample(n)) {
            run_one(corpora$kept$snippets, i)
            run_compiled(corpora$kept_compiled$snippets, i)
        }
        for (i in sample(n, n %/% 8)) run_one(corpora$bare$snippets, i)
        for (i in sample(n, n %/% 8)) run_compiled(corpora$bare_compiled$snippets, i)
    }
}
run_compiled <- compiler::cmpfun(run_one)

# Once before, so that nothing is loaded, compiled or cached for the first time later; and so that spin() takes about
# a third of a millisecond anywhere.
for (corpus in corpora) for (snippet in corpus$snippets) snippet()
took <- cpu_time_of(corpora$kept$spin())
for (corpus in corpora) corpus$rounds <- as.integer(max(2, min(300, ceiling(20 * 0.0002 / max(took, 1e-5)))))
if (!length(attr(corpora$kept$spin, "srcref"))) stop("no source references")

ready()
