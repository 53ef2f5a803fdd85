# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Mixed work with a call graph that is known: recursion, S3 and S4 dispatch, lazy promises, conditions, the apply family,
# compiled code and code as it is, collections of garbage. Arguments: FOLDER SECONDS (of CPU time).
#
# The graph is written to edges.txt: "caller<TAB>callee" per line, the roots with an empty caller. It holds what the
# bodies of all functions say, R's own included, and by hand what they do not say: functions passed as arguments,
# promises, methods. Functions of the deep chains have their depth in their names, so that a frame that is missing,
# repeated or out of order is a call that cannot be.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])
invisible(compiler::enableJIT(0L))
suppressPackageStartupMessages(library(methods))

values <- seq_len(500) / 3
burn <- function() {
    s <- 0
    for (k in 1:4) s <- s + sum(sqrt(values))
    s
}

# Chains down_1 > down_2 > ... > down_40, and the same with a promise, a loop and a handler in the way.
depth <- 40L
for (k in seq_len(depth)) {
    under <- if (k < depth) call(paste0("down_", k + 1L)) else quote(burn())
    assign(paste0("down_", k), eval(call("function", NULL, call("{", under, quote(burn())))))
    under <- if (k < depth) call(paste0("lazy_", k + 1L), quote(x)) else quote(x)
    assign(paste0("lazy_", k), eval(call("function", as.pairlist(alist(x = )), call("{", quote(burn()), under))))
}
lazy_source <- function() { burn(); 1 }
promises <- function() lazy_1(lazy_source())
chain <- function() down_1()

even <- function(n) if (n > 0) odd(n - 1) else burn()
odd <- function(n) if (n > 0) even(n - 1) else burn()
mutual <- function() even(30)

weigh <- function(x, ...) UseMethod("weigh")
weigh.default <- function(x, ...) burn()
weigh.stone <- function(x, ...) { burn(); NextMethod() }
weigh.gem <- function(x, ...) { burn(); NextMethod() }
gem <- structure(list(), class = c("gem", "stone"))
s3 <- function() weigh(gem)

setClass("Base", representation(v = "numeric"))
setClass("Derived", contains = "Base")
invisible(setGeneric("score", function(x, ...) standardGeneric("score")))
invisible(setMethod("score", "Base", function(x, ...) burn()))
invisible(setMethod("score", "Derived", function(x, ...) { burn(); callNextMethod() }))
derived <- new("Derived", v = 1)
s4 <- function() score(derived)

apply_work <- function(i) burn()
applied <- function() { lapply(1:3, apply_work); vapply(1:3, apply_work, 0); sapply(1:3, function(i) apply_work(i)) }

catch_work <- function() { burn(); stop("wanted") }
catch_handler <- function(e) burn()
catch_last <- function() burn()
caught <- function() tryCatch(catch_work(), error = catch_handler, finally = catch_last())

collect <- function() { garbage <- lapply(1:50, function(i) numeric(100)); gc(FALSE, full = FALSE) }
looping <- function() { i <- 0; repeat { i <- i + 1; if (i > 3) break; for (j in 1:2) burn() } }

jobs <- list(chain = chain, promises = promises, mutual = mutual, s3 = s3, s4 = s4, applied = applied, caught = caught,
    collect = collect, looping = looping)
main <- function(seconds) {
    end <- cpu_time() + seconds
    while (cpu_time() < end) for (k in sample(length(names(jobs)))) switch(k, chain(), promises(), mutual(), s3(), s4(),
        applied(), caught(), collect(), looping())
}

# Half of the functions are compiled: those of odd depth, and some of the others.
for (name in c(grep("^(down|lazy)_[0-9]*[13579]$", ls(), value = TRUE), "burn", "even", "weigh.stone", "apply_work",
    "catch_work", "applied", "s3", "looping", "mutual")) assign(name, compiler::cmpfun(get(name)))

# --- the graph ---

edges <- new.env()
add <- function(caller, callee) for (x in callee) for (y in caller) edges[[paste0(y, "\t", x)]] <- TRUE
seen <- new.env()
# A function by name: this program's, or R's own, exported or not.
find_function <- function(name) {
    for (space in c(globalenv(), lapply(c("methods", "utils", "stats", "compiler"), asNamespace))) {
        value <- get0(name, space, mode = "function")
        if (!is.null(value)) return(value)
    }
}
is_closure <- function(name) typeof(find_function(name)) == "closure"
# Functions that a body defines for itself, by name.
inner_functions <- function(body) {
    found <- list()
    look <- function(e) {
        if (is.call(e)) {
            if (identical(e[[1L]], quote(`<-`)) && is.name(e[[2L]]) && is.call(e[[3L]]) &&
                identical(e[[3L]][[1L]], quote(`function`))) found[[as.character(e[[2L]])]] <<- e[[3L]][[3L]]
            for (part in as.list(e)) if (!missing(part)) look(part)
        }
    }
    look(body)
    found
}
# Arguments are promises: in g(f(x)), f is called when g looks at its argument.
promised <- function(e) {
    if (is.call(e)) {
        if (is.name(e[[1L]])) for (part in as.list(e)[-1L]) if (!missing(part) && is.call(part)) {
            add(as.character(e[[1L]]), Filter(is_closure, all.names(part, unique = TRUE)))
        }
        for (part in as.list(e)) if (!missing(part)) promised(part)
    }
}
foreign <- c(".Call", ".External", ".External2", ".C", ".Fortran", ".External.graphics", ".Call.graphics")
follow <- function(name, body, own = list()) {
    if (!is.null(seen[[name]])) return(invisible())
    seen[[name]] <- TRUE
    own <- c(inner_functions(body), own)
    callees <- unique(all.names(body))
    for (f in names(own)) if (f %in% callees) {
        add(name, f)
        follow(f, own[[f]], own)
    }
    for (f in callees) {
        if (f %in% foreign) add(name, f)
        if (!nzchar(f) || f %in% names(own) || !is_closure(f)) next
        add(name, f)
        follow_function(f)
    }
}
follow_function <- function(name) {
    value <- find_function(name)
    # defaults of arguments are promises of the call's own
    follow(name, as.call(c(quote(`{`), body(value), Filter(is.call, as.list(formals(value))))))
    if (!exists(name, globalenv(), inherits = FALSE)) promised(body(value))
    # methods: of generic functions that R dispatches by name
    if ("UseMethod" %in% all.names(body(value))) for (m in ls(baseenv(), pattern = paste0("^", name, "\\."))) {
        add(name, m)
        if (is_closure(m)) follow_function(m)
    }
}
roots <- c("main", "await", "done")
for (name in roots) {
    add("", name)
    follow_function(name)
}
for (name in c(names(jobs), ls(pattern = "^(down|lazy)_"), ls(pattern = "^weigh\\."), "lazy_source", "apply_work",
    "catch_handler", "catch_last")) follow_function(name)
# Passed as arguments, promised, or dispatched:
add(paste0("lazy_", depth), "lazy_source")
for (m in c("weigh.gem", "weigh.stone", "weigh.default")) add(c("weigh", "NextMethod"), m)
add("score", c("score", "burn", "callNextMethod", "methods:::loadMethod"))
follow_function("callNextMethod")
add("callNextMethod", c(".nextMethod", "burn"))
add(".nextMethod", c("burn", "assign"))
# the first call of a method in a cache loads it, by a generic function, see R_dispatchGeneric() in methods_list_dispatch.c
add("methods:::loadMethod", c("methods:::loadMethod", "callNextMethod", "assign"))
for (f in findFunction("loadMethod")) follow("methods:::loadMethod", body(get("loadMethod", f)))
add("lapply", c("FUN", "apply_work")); add("vapply", c("FUN", "apply_work")); add("FUN", c("apply_work", "burn", "numeric"))
for (f in c("tryCatch", "tryCatchList", "tryCatchOne", "doTryCatch")) add(f, "catch_work")
add("tryCatchOne", "value[[3]]"); add("value[[3]]", "burn")
add("tryCatch", "catch_last")
put("edges.txt", ls(edges, all.names = TRUE))

# Once before, so that caches are filled.
for (job in jobs) job()

ready()
await("go")
main(seconds)
done()
