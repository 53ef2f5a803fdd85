# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# A program that calls functions through every form that R's profiler names, runs Rprof() on itself, and is meant to
# be profiled from outside in the same time. Arguments: FOLDER SECONDS (of CPU time), FOLDER holding common.R.
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
suppressPackageStartupMessages(library(methods))

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

    # 3. dispatch
    area <- function(shape, ...) UseMethod("area")
    area.default <- function(shape, ...) spin()
    area.round <- function(shape, ...) { spin(); NextMethod() }
    print.round <- function(x, ...) { spin(); invisible(x) }
    Ops.money <- function(e1, e2) { spin(); structure(1, class = "money") }
    `[.money` <- function(x, i) { spin(); x }
    `$.record` <- function(x, name) { spin(); function() spin() }
    round_shape <- structure(list(), class = "round")
    money <- structure(1, class = "money")
    record <- structure(list(), class = "record")

    # 4. lazy evaluation, recursion, conditions
    force_late <- function(x) late(x)
    late <- function(x) x
    countdown <- function(n) if (n > 0) countdown(n - 1) else spin()
    again <- function(n) if (n > 0) Recall(n - 1) else spin()
    leaver <- function() { on.exit(spin()); spin() }
    failing <- function() { spin(); stop("wanted") }
    warning_one <- function() { warning("wanted"); spin() }
    muffler <- function(w) { spin(); invokeRestart("muffleWarning") }
    makeActiveBinding("active", function() spin(), environment())
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
        function() area(round_shape),
        function() print(round_shape),
        function() money + money,
        function() money[1],
        function() record$anything(),
        function() size(thing),
        function() show(thing),
        function() account$add(1),
        function() force_late(plain(9)),
        function() { delayedAssign("promised", plain(10)); promised },
        function() countdown(8),
        function() again(4),
        function() leaver(),
        function() tryCatch(failing(), error = function(e) spin(), finally = spin()),
        function() try(failing(), silent = TRUE),
        function() withCallingHandlers(warning_one(), warning = muffler),
        function() suppressWarnings(warning_one()),
        function() active,
        function() sapply(1:2, function(i) plain(i)),
        function() vapply(1:2, function(i) plain(i), 0),
        function() Map(function(a, b) plain(a), 1:2, 1:2),
        function() Filter(function(i) { spin(); TRUE }, 1:2),
        function() apply(matrix(1:4, 2), 1, function(r) plain(r)),
        function() outer(1:2, 1:2, function(x, y) { spin(); x + y }),
        function() rapply(list(1, 2), function(v) plain(v)),
        function() eval(quote(plain(11))),
        function() evalq(plain(12), list(z = 1)),
        function() local(plain(13)),
        function() with(list(z = 1), plain(14)),
        function() eval(parse(text = "plain(15)")),
        function() { i <- 0; repeat { i <- i + 1; if (i > 2) break; plain(i) } },
        function() { i <- 0; while (i < 2) { i <- i + 1; spin() } },
        function() switch("b", a = 1, b = plain(16)),
        function() order(data, decreasing = TRUE),
        function() fft(data),
        function() rnorm(10000),
        function() paste0(data, collapse = ""),
        function() gsub("a", "b", rep("banana", 500)),
        function() Recall_outer(function() plain(17))
    )
    Recall_outer <- function(f) f()
})

setClass("Thing", representation(value = "numeric"))
setClass("SubThing", contains = "Thing")
invisible(setGeneric("size", function(x, ...) standardGeneric("size")))
Account <- setRefClass("Account", fields = list(total = "numeric", work = "function"),
    methods = list(add = function(x) { work(); total <<- total + x; invisible(.self) }))

make <- function() {
    env <- new.env(parent = globalenv())
    eval(definitions, env)
    env$thing <- new("SubThing", value = 1)
    env$account <- Account$new(total = 0, work = env$spin)
    env
}
as_is <- make()
compiled <- make()
for (name in ls(compiled, all.names = TRUE)) {
    if (name == "active") next
    value <- compiled[[name]]
    if (is.function(value)) assign(name, compiler::cmpfun(value), compiled)
}
compiled$steps <- lapply(compiled$steps, compiler::cmpfun)
# S4 methods are global: one of them works in plain code, one in compiled code.
setMethod("size", "Thing", function(x, ...) as_is$spin())
setMethod("size", "SubThing", compiler::cmpfun(function(x, ...) { compiled$spin(); callNextMethod() }))
setMethod("show", "Thing", function(object) { as_is$spin(); invisible() })

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
    "area", "area.round", "area.default", "print.round", "Ops.money", "[.money", "$.record", "size", "show",
    "account$add", "force_late", "late", "countdown", "again", "Recall", "leaver", "failing", "warning_one",
    "tryCatch", "doTryCatch", "withCallingHandlers", "suppressWarnings", "FUN", "f", "do.call", "sum", "eval"))

# All names there can be: R's own functions and this program's, those they define and the parameters they call.
called <- new.env()
for (space in c(list(as_is, globalenv()), lapply(c("base", "stats", "utils", "methods", "compiler"), asNamespace))) {
    for (name in setdiff(ls(space, all.names = TRUE), "active")) {
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
    "object[[1]]", "object[[2]]", "object[[3]]", "nested[[2]]", "object_env[[\"run\"]]", "account$add", "record$anything", "work",
    "value[[3]]", "as_is$spin", "compiled$spin", ".nextMethod")
put("known.txt", sort(unique(known)))

ready()
await("go")
Rprof(file.path(folder, "oracle.out"), interval = 0.001)
window(seconds)
Rprof(NULL)
done()
