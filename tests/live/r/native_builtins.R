# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
# Builtins of all kinds, called by byte code and by code that is not compiled, with R's profiler on, which makes contexts of them:
# until it is killed. Arguments: FOLDER. Writes FOLDER/calls: which functions call which, for the comparison.
dir <- commandArgs(TRUE)[1]
x <- runif(2e4)
m <- matrix(x[1:10000], 100)
s <- paste0("item", seq_len(3000), letters)
l <- as.list(seq_len(3000))
e <- list2env(setNames(l, paste0("v", seq_along(l))))
b_math <- function() { exp(x); log(x); sin(x); cos(x); gamma(x); lgamma(x); sqrt(x); abs(x); floor(x); ceiling(x); trunc(x); round(x, 2); signif(x, 3) }
b_sum <- function() { sum(x); prod(x); max(x); min(x); range(x); cumsum(x); cumprod(x); cummax(x); mean(x); any(x > 2); all(x > -1) }
b_arith <- function() { x + x; x * 2; x / 3; x ^ 1.5; -x; x %% 0.3; x %/% 0.1; x < 0.5; x == 0.1; !(x > 0.5); (x > 0.1) & (x < 0.2); m %*% m }
b_text <- function() { nchar(s); substr(s, 2, 5); toupper(s); gsub("[0-9]+", "n", s); grepl("m1", s); regmatches(s, regexpr("[0-9]+", s)); strsplit(s, "m"); sprintf("%s-%d", s, 1L); paste(s, collapse = ""); chartr("abc", "xyz", s); startsWith(s, "it") }
b_sort <- function() { sort(x, method = "quick"); order(x); rank(x); rev(x); unique(s); duplicated(s); match(s, rev(s)); table(s[1:200]); which(x > 0.5); which.max(x); tabulate(1:3000) }
b_lists <- function() { lapply(l, is.null); vapply(l, length, 1L); unlist(l); do.call(rbind, l[1:50]); mapply(function(a, b) a, l[1:200], l[1:200]); rapply(l[1:200], function(i) i); Reduce(`+`, l[1:100]); Filter(function(i) i > 3, l[1:200]); c(l, l); rep(x, 2); seq_len(3000); vector("list", 5000) }
b_env <- function() { mget(ls(e), envir = e); for (n in names(l)[1:100]) get("v1", e); exists("v1", e); assign("v1", 1, e); eapply(e, identity); environmentName(e); as.list(e) }
b_objects <- function() { serialize(l, NULL); unserialize(serialize(x, NULL)); identical(x, x); attributes(m); dim(m); t(m); aperm(array(x[1:8000], c(20, 20, 20))); crossprod(m); outer(1:50, 1:50); row(m); is.na(x); as.character(x[1:500]); as.integer(x); format(x[1:300]) }
work <- list(b_math, b_sum, b_arith, b_text, b_sort, b_lists, b_env, b_objects)
names(work) <- c("b_math", "b_sum", "b_arith", "b_text", "b_sort", "b_lists", "b_env", "b_objects")
# the default arguments of a function are its own, too
all.calls <- function(f) unique(c(all.names(body(f)), unlist(lapply(formals(f), all.names))))
found <- list()
for (space in c("base", "stats", "utils", "methods")) for (n in ls(asNamespace(space), all.names = TRUE)) {
    f <- get(n, asNamespace(space))
    if (is.function(f) && !is.primitive(f)) found[[n]] <- c(found[[n]], all.calls(f))
}
for (n in names(work)) found[[n]] <- all.calls(work[[n]])
# a method is called by the name of its generic
for (n in grep("[.]default$", names(found), value = TRUE)) {
    generic <- sub("[.]default$", "", n)
    found[[generic]] <- c(found[[generic]], found[[n]])
}
found[["<toplevel>"]] <- c("repeat", "for", "if", "{", "<-", "<", "[[", "eval", "call", "assign")
writeLines(vapply(names(found), function(n) paste(c(n, unique(found[[n]])), collapse = "\t"), ""), file.path(dir, "calls"))
primitives <- Filter(function(n) is.primitive(get(n, baseenv())), ls(baseenv(), all.names = TRUE))
writeLines(paste(primitives, vapply(primitives, function(n) typeof(get(n, baseenv())), ""), sep = "\t"), file.path(dir, "primitives"))
plain <- lapply(work, function(f) { environment(f) <- globalenv(); f })
compiled <- lapply(work, compiler::cmpfun)
compiler::enableJIT(0)
for (n in names(work)) assign(n, if (runif(1) < 0.5) plain[[n]] else compiled[[n]])
Rprof(file.path(dir, "rprof"), interval = 0.9)
file.create(file.path(dir, "ready"))
repeat for (n in names(work)) { f <- if (runif(1) < 0.5) plain[[n]] else compiled[[n]]; assign(n, f); eval(call(n)) }
