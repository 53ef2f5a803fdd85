# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# A program that calls functions through every form that R's profiler names, runs Rprof() on itself, and is meant to
# be profiled from outside in the same time. (Ways of calling, as dispatch and lazy evaluation: lines_corpus.R.) Arguments:
# FOLDER SECONDS (of CPU time), FOLDER holding common.R.
#
# Only what runs below window() is to be compared: Rprof() is on for all of that time. Steps are short (about a
# millisecond) and come in random order, so that samples are as good as independent. Everything runs twice: in
# plain code, and byte-compiled. BUILTIN contexts exist while Rprof() is on, so both profilers see builtins too.
#
# Writes to FOLDER: oracle.out (by Rprof), expected.txt (frame names that must have been seen), known.txt (all frame
# names that can be).

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])
invisible(compiler::enableJIT(0L))

# Definitions are evaluated once per environment: one is compiled, the other left as it is.
definitions <- quote({
    data <- seq_len(2000) / 7
    rounds <- 20L
    spin <- function(...) {
        s <- 0
        for (k in seq_len(rounds)) s <- s + sum(sqrt(data))
        s
    }

    # 1. symbols
    plain <- function(n) spin(n)
    `with space` <- function() spin()
    `it's` <- function() spin()
    `back\\slash` <- function() spin()
    `größe 数` <- function() spin()
    `say "hi"` <- function() spin()
    `semi;colon` <- function() spin()
    `%join%` <- function(a, b) spin(a, b)
    `tail<-` <- function(x, value) { spin(); x }
    .hidden <- function() spin()
    ..2x <- function() spin()

    # 2. members
    member <- function() spin()
    object <- list(member = member, `odd name` = member, third = member, inner = list(deep = member))
    object_env <- list2env(list(run = member, `odd run` = member), parent = globalenv())
    key <- "member"

    record <- structure(list(), class = "record")
    `$.record` <- function(x, name) { spin(); function() spin() }
    nested_call <- as.call(list(as.call(list(as.name("[["), as.name("nested"), c(2, 1)))))
    nested <- list(1, list(member))

    steps <- list(
        function() plain(1),
        function() `with space`(),
        function() `it's`(),
        function() `back\\slash`(),
        function() `größe 数`(),
        function() `say "hi"`(),
        function() `semi;colon`(),
        function() 1 %join% 2,
        function() { x <- 1; tail(x) <- 2 },
        function() { .hidden(); ..2x() },
        function() "plain"(2),
        function() base::lapply(1:2, spin),
        function() base:::Reduce(function(a, b) plain(a), 1:3),
        function() stats::optimize(function(x) { spin(); x^2 }, c(0, 1), tol = 0.5),
        function() "base"::"identity"(plain(3)),
        function() stats::setNames(plain(3), "a"),
        function() object$member(),
        function() object$`odd name`(),
        function() object$inner$deep(),
        function() object_env$run(),
        function() object_env$`odd run`(),
        function() object[["member"]](),
        function() object[["odd name"]](),
        function() object[[key]](),
        function() object[[1L]](),
        function() object[[3]](),
        function() object[[2.7]](),
        function() object[[TRUE]](),
        function() object[[1L + 1L]](),
        function() object_env[["run"]](),
        function() eval(nested_call),
        function() (function(n) spin(n))(1),
        function() (plain)(4),
        function() get("plain")(5),
        function() do.call(plain, list(6)),
        function() do.call("plain", list(7)),
        function() match.fun(plain)(8),
        function() record$anything(),
        function() fft(data),
        function() rnorm(10000)
    )
})

make <- function() {
    env <- new.env(parent = globalenv())
    eval(definitions, env)
    env
}
as_is <- make()
compiled <- make()
for (name in ls(compiled, all.names = TRUE)) {
    value <- compiled[[name]]
    if (is.function(value)) assign(name, compiler::cmpfun(value), compiled)
}
compiled$steps <- lapply(compiled$steps, compiler::cmpfun)

window <- function(seconds) {
    end <- cpu_time() + seconds
    while (cpu_time() < end) {
        for (i in sample(length(as_is$steps))) as_is$steps[[i]]()
        run_compiled()
    }
}
run_compiled <- compiler::cmpfun(function() {
    steps <- compiled$steps
    for (i in sample(length(steps))) steps[[i]]()
})

# Once before, so that nothing is loaded, compiled or cached for the first time later; and so that each step takes
# about as long on a slow machine as on a fast one: about half a millisecond for spin().
for (f in as_is$steps) f()
run_compiled()
took <- cpu_time_of(as_is$spin())
as_is$rounds <- compiled$rounds <- as.integer(max(4, min(500, ceiling(20 * 0.0005 / max(took, 1e-5)))))

# Frame names that must be there: each step takes at least one sample in a few hundred.
put("expected.txt", c("window", "run_compiled", "spin", "plain", "with space", "it's", "back\\slash",
    "größe 数", "say \"hi\"", "semi;colon", "%join%", "tail<-", ".hidden", "..2x",
    "base::lapply", "base:::Reduce", "stats::optimize", "stats::setNames", "object$member", "object$odd name",
    "object_env$run", "object_env$odd run", "object[[\"member\"]]", "object[[\"odd name\"]]", "object[[key]]",
    "object[[1]]", "object[[3]]", "nested[[2]]", "object_env[[\"run\"]]", "<Anonymous>", "steps[[i]]",
    "$.record", "do.call", "sum", "eval"))

# All names there can be: R's own functions and this program's, those they define and the parameters they call.
called <- new.env()
for (space in c(list(as_is, globalenv()), lapply(c("base", "stats", "utils", "methods", "compiler"), asNamespace))) {
    for (name in ls(space, all.names = TRUE)) {
        called[[name]] <- TRUE
        value <- get0(name, space, inherits = FALSE)
        if (is.function(value)) for (inner in all.names(body(value), unique = TRUE)) {
            if (nzchar(inner)) called[[inner]] <- TRUE
        }
    }
}
known <- c(ls(called, all.names = TRUE), "FUN", "<Anonymous>", "steps[[i]]",
    "base::lapply", "base:::Reduce", "stats::optimize", "stats::setNames", "object$member", "object$odd name",
    "object_env$run", "object_env$odd run", "object[[\"member\"]]", "object[[\"odd name\"]]", "object[[key]]",
    "object[[1]]", "object[[2]]", "object[[3]]", "nested[[2]]", "object_env[[\"run\"]]", "record$anything")
put("known.txt", sort(unique(known)))

ready()
await("go")
Rprof(file.path(folder, "oracle.out"), interval = 0.001)
window(seconds)
Rprof(NULL)
done()
