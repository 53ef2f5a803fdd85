# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The call graph of mixed.R, which sources this file when its functions are defined. Writes edges.txt.

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
closures <- new.env()
is_closure <- function(name) {
    if (is.null(closures[[name]])) closures[[name]] <- typeof(find_function(name)) == "closure"
    closures[[name]]
}
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
# Builtins have a context when they call foreign code, and while R looks for a method of theirs for an object.
builtin <- c(.S3PrimitiveGenerics, "[", "[[", "$", "[<-", "[[<-", "$<-", ".Call", ".External", ".External2", ".C",
    ".Fortran", ".External.graphics", ".Call.graphics")
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
        if (f %in% builtin) add(name, f)
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

