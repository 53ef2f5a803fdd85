# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Keeps objects of many kinds and writes their sizes, as object.size() has them, into `sizes`: PATH and BYTES with a tab
# between them. Arguments: FOLDER.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
setClass("Held", representation(values = "numeric"))

numbers <- as.numeric(1:3000000) + 0.5
texts <- rep(sprintf("text %d of a vector", 1:200000), 2)
listed <- lapply(1:200000, function(i) c(i, 0.5))
shared <- list(numbers, numbers, small = numeric(1000))
frame <- data.frame(a = (1:500000) + 0.25, b = rnorm(500000), c = rnorm(500000))
groups <- factor(rep(c("x", "y"), 400000))
complexes <- complex(real = rnorm(200000))
nested <- list(cache = list(big = rnorm(900000), 1))
formal <- new("Held", values = rnorm(800000))
store <- new.env()
store$inner <- rnorm(700000)
store$itself <- store
closed <- local({
    captured <- rnorm(600000)
    function() captured
})
compact <- 1:100000000

holds <- function(argument) {
    inside <- rnorm(1000000)
    sizes <- c(
        numbers = object.size(numbers), texts = object.size(texts), listed = object.size(listed),
        frame = object.size(frame), groups = object.size(groups), complexes = object.size(complexes),
        "nested$cache$big" = object.size(nested$cache$big), formal = object.size(formal),
        "store$inner" = object.size(store$inner),
        "environment(closed)$captured" = object.size(environment(closed)$captured),
        "holds()/inside" = object.size(inside))
    invisible(gc())
    cat(sprintf("%s\t%.0f\n", names(sizes), sizes), file = file.path(folder, "sizes"), sep = "")
    ready()
    repeat Sys.sleep(0.1)
}
holds(numbers)
