# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Mixed work with a call graph that is known: recursion, S3 and S4 dispatch, lazy promises, conditions, the apply family,
# compiled code and code as it is, collections of garbage. Arguments: FOLDER SECONDS (of CPU time) [graph [calls]].
# With "calls" the innermost work is system calls.
#
# With a third argument the graph is written to edges.txt: "caller<TAB>callee" per line, the roots with an empty caller. It holds what the
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
if (identical(args[4L], "calls")) burn <- function() { for (k in 1:4) s <- Sys.getpid(); s + 0.5 }

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

if (isTRUE(nzchar(args[3L]))) source(file.path(folder, "mixed_graph.R"))

# Twice before, so that caches are filled: callNextMethod() fills one more at its second call.
for (i in 1:2) for (job in jobs) job()

ready()
await("go")
main(seconds)
done()
