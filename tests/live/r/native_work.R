# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
# Work that is done in native code, below R functions that call each other and are called from C: until it is killed.
dir <- commandArgs(TRUE)[1]
x <- matrix(runif(1e4), 100)
words <- paste0("word", seq_len(2000), c("a", "b", "zz"))
products <- function() sum(x %*% x)
model <- function() coef(lm.fit(x, x[, 1] + runif(100)))[1]
patterns <- function() sum(grepl("o.*[0-9]+z+$", words))
sorted <- function() order(runif(1e4), method = "radix")[1] + sort(runif(1e4), method = "quick")[1]
frozen <- function() length(unserialize(serialize(words, NULL)))
called <- function(n) if (n) vapply(1, function(i) called(n - 1), 0) else optimize(function(p) (p - 1)^2, c(0, 3))$minimum
dispatched <- function() eval(quote(Reduce(function(a, b) tryCatch(a + b, error = function(e) 0), 1:50)))
work <- list(products, model, patterns, sorted, frozen, function() called(8), dispatched)
for (f in work) f()
file.create(file.path(dir, "ready"))
repeat for (f in work) f()
