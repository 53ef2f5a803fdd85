# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Computes for ever, DEPTH R calls deep. Arguments: FOLDER DEPTH KIND
#
# KIND "different": each level is another function, called from another line, so that nothing met in one frame helps
# with the next. "bare": the same without source references. "same": one function that calls itself.

args <- commandArgs(trailingOnly = TRUE)
source(file.path(args[[1L]], "common.R"))
depth <- as.integer(args[[2L]])

different <- args[[3L]] != "same"
source_of <- function(i)
    sprintf("level%d <- function(x) {\n    x <- x + 1\n    level%d(x)\n}", i, i + 1L)
lines <- if (different) {
    c(vapply(seq_len(depth - 1L), source_of, ""),
      sprintf("level%d <- function(x) {\n    repeat x <- sqrt(x + 1)\n}", depth))
} else {
    "level1 <- function(x) {\n    if (x >= depth)\n        repeat x <- sqrt(x + 1)\n    level1(x + 1)\n}"
}
program <- file.path(args[[1L]], "levels.R")
writeLines(lines, program)
source(program, keep.source = args[[3L]] != "bare")
for (i in if (different) seq_len(depth) else 1L) {
    name <- sprintf("level%d", i)
    assign(name, compiler::cmpfun(get(name)))
}
ready()
level1(1)
