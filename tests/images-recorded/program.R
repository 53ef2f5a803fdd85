# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The program of which the images here were recorded (./record). Arguments: FOLDER profile | FOLDER calls STOP FORM.
#
# profile: calls of all kinds, in random order, as they are and byte-compiled, with R's profiler on: its interval is long,
#   it writes to FOLDER/MODE.out when the recorder makes it. From one mode to the next by an interrupt.
# calls: without the profiler; writes FOLDER/calls, the stack by sys.calls(), and stands still there.

args <- commandArgs(trailingOnly = TRUE)
folder <- args[[1L]]
mode <- args[[2L]]
options(keep.source = TRUE, warn = 1, expressions = 50000L)
invisible(compiler::enableJIT(0L))
suppressMessages({
    library(methods)
    library(stats)
})
put <- function(name, lines = character()) {
    temporary <- file.path(folder, paste0(name, ".tmp"))
    writeLines(enc2utf8(lines), temporary, useBytes = TRUE)
    file.rename(temporary, file.path(folder, name))
}

if (mode == "profile") {
    setClass("Thing", representation(value = "numeric"))
    setClass("SubThing", contains = "Thing")
    invisible(setGeneric("size", function(x, ...) standardGeneric("size")))
    Account <- setRefClass("Account", fields = list(total = "numeric", work = "function"),
        methods = list(add = function(x) {
            work()
            total <<- total + x
            invisible(.self)
        }))
}

corpus <- file.path(folder, "corpus.R")
make <- function(compile) {
    env <- new.env(parent = globalenv())
    sys.source(corpus, env, keep.source = TRUE)
    if (mode == "profile") {
        env$thing <- new("SubThing", value = 1)
        env$account <- Account$new(total = 0, work = env$work)
    }
    if (compile) {
        for (name in setdiff(ls(env, all.names = TRUE), c("active", "stop_here")))
            if (is.function(env[[name]])) env[[name]] <- compiler::cmpfun(env[[name]])
        env$steps <- lapply(env$steps, compiler::cmpfun)
        env$stops <- lapply(env$stops, compiler::cmpfun)
        env$collections <- lapply(env$collections, compiler::cmpfun)
    }
    env
}
if (mode == "profile" || args[[4L]] == "plain") plain <- make(FALSE)
if (mode == "profile" || args[[4L]] == "compiled") compiled <- make(TRUE)
if (mode == "profile") {
    setMethod("size", "Thing", plain$size_thing)
    setMethod("size", "SubThing", compiler::cmpfun(plain$size_sub))
}

run_step <- function(env, i) {
    env$steps[[i]]()
    NULL
}
run_compiled <- compiler::cmpfun(run_step)
forever <- function() {
    n <- length(plain$steps)
    repeat for (i in sample(n)) {
        run_step(plain, i)
        run_compiled(compiled, i)
    }
}
forever_gc <- function() repeat {
    garbage <- lapply(1:2000, function(i) c(i, i))
    for (i in sample(length(plain$collections))) {
        plain$collections[[i]](garbage)
        compiled$collections[[i]](garbage)
    }
}
forever_deep <- function() repeat {
    plain$down(150L)
    compiled$down(150L)
}

# --- for sys.calls() ---

# As R's profiler names a call: doprof() in eval.c.
call_name <- function(call) {
    f <- call[[1L]]
    if (is.symbol(f)) return(as.character(f))
    if (is.call(f) && length(f) == 3L && is.symbol(f[[1L]]) && is.symbol(f[[2L]])) {
        op <- as.character(f[[1L]])
        if (op %in% c("::", ":::", "$") && is.symbol(f[[3L]])) return(paste0(f[[2L]], op, f[[3L]]))
        if (op == "[[" && is.symbol(f[[3L]])) return(paste0(f[[2L]], "[[", f[[3L]], "]]"))
        if (op == "[[" && is.character(f[[3L]])) return(paste0(f[[2L]], "[[\"", f[[3L]], "\"]]"))
        if (op == "[[" && is.integer(f[[3L]])) return(sprintf("%s[[%d]]", as.character(f[[2L]]), f[[3L]]))
        if (op == "[[" && is.double(f[[3L]]))
            return(sprintf("%s[[%.0f]]", as.character(f[[2L]]), if (getRversion() >= "4.3.0") trunc(f[[3L]]) else f[[3L]]))
    }
    "<Anonymous>"
}
# The stack in the form of a line of Rprof(), and the files before it. `inner`: names of frames inside.
calls_lines <- function(calls, inner) {
    files <- character()
    frames <- vapply(rev(calls), function(call) {
        ref <- attr(call, "srcref")
        frame <- sprintf("\"%s\" ", call_name(call))
        if (is.null(ref)) return(frame)
        file <- get("filename", envir = attr(ref, "srcfile"))
        if (!file %in% files) files <<- c(files, file)
        paste0(frame, match(file, files), "#", ref[[1L]], " ")
    }, "")
    c(sprintf("#File %d: %s", seq_along(files), files),
        paste0(length(inner), " ", paste0("\"", inner, "\" ", collapse = ""), paste0(frames, collapse = "")))
}

run_mode <- function(mode, run, ...) {
    Rprof(file.path(folder, paste0(mode, ".out")), interval = 0.9, ...)
    tryCatch(run(), interrupt = function(condition) NULL)
    Rprof(NULL)
}

if (mode == "calls") {
    env <- if (args[[4L]] == "compiled") compiled else plain
    env$stops[[as.integer(args[[3L]])]]()
} else {
    run_mode("names", forever)
    run_mode("lines", forever, line.profiling = TRUE)
    run_mode("filter", forever, line.profiling = TRUE, filter.callframes = TRUE)
    run_mode("gc", forever_gc, line.profiling = TRUE, gc.profiling = TRUE)
    run_mode("deep", forever_deep, line.profiling = TRUE)
}
