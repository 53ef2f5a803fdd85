# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Makes functions, with source references and compiled or not, calls them and throws them away, all the time, so that
# addresses are used again: for oracle.R. Each file name stands for many functions in turn, at other lines.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))

# Bodies; f is the function itself, g one that was made before it.
bodies <- list(
    c("f <- function(n, g) {", "    s <- 0", "    for (i in 1:n) {", "        s <- s + i", "        s <- s * 0.5",
        "    }", "    g(n,", "        s)", "}"),
    c("f <- function(n, g)", "{", "    h <- function(k) {", "        k + 1", "    }", "    for (i in 1:30)",
        "        h(i)", "    g(", "        h(n),", "        h(n))", "}"),
    c("f <- function(n, g) {", "    v <- vapply(1:20, function(i) {", "        sqrt(i) +", "            i", "    }, 0)",
        "    tryCatch({", "        g(n, v)", "    }, error = function(e) stop(e))", "}"),
    c("f <- function(n, g) {", "    i <- 0", "    repeat {", "        i <- i + 1", "        if (i > n)",
        "            break", "        rep(i, 10)", "    }", "    eval(quote({", "        g(n, i)", "    }))", "}"))
leaf <- c("f <- function(n, g) {", "    x <- g", "    for (i in 1:60) {", "        x <- i", "        x <- x * 2", "    }",
    "    x", "}")

make <- function(body, file, env) {
    first <- sample.int(200L, 1L)
    name <- sprintf("%s_%d_%d", file, first, first + length(body) - 1L)
    body[[1L]] <- sub("f", name, body[[1L]], fixed = TRUE)
    path <- sprintf("%s.R", sub("f_", "soak ", file))
    eval(parse(text = c(character(first - 1L), body), srcfile = srcfilecopy(path, ""))[[1L]], env)
    if (runif(1) < 0.5) env[[name]] <- compiler::cmpfun(env[[name]])
    as.name(name)
}
file_name <- function() paste0("f_", sample.int(2000L, 1L))
window <- function(seconds) {
    env <- new.env()
    inner <- make(leaf, file_name(), env)
    outer <- make(bodies[[sample.int(length(bodies), 1L)]], file_name(), env)
    outermost <- make(bodies[[sample.int(length(bodies), 1L)]], file_name(), env)
    # promises: they are evaluated deep below
    work <- substitute(for (k in 1:60) outermost(60, function(n, x) outer(n, function(n, x) inner(n, x))))
    work <- eval(call("substitute", work, list(inner = inner, outer = outer, outermost = outermost)))
    eval(work, env)
}
ready()
