# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# N processes that compute for ever, DEPTH R calls deep, in some dozens of different stacks. Each adds a byte to FOLDER/work for
# each piece of work that is done. Arguments: FOLDER N DEPTH

args <- commandArgs(trailingOnly = TRUE)
source(file.path(args[[1L]], "common.R"))
n <- as.integer(args[[2L]])
depth <- as.integer(args[[3L]])
done <- file.path(args[[1L]], "work")
file.create(done)

leaves <- 30L
lines <- c(sprintf("leaf%d <- function(x) for (i in 1:20000) x <- sqrt(x + i)", seq_len(leaves)),
           "piece <- function() {", sprintf("    leaf%d(1)", seq_len(leaves)), "}",
           sprintf("level%d <- function() level%d()", seq_len(depth - 3L), seq_len(depth - 3L) + 1L),
           sprintf("level%d <- function() repeat {", depth - 2L),
           "    piece()",
           "    cat('.', file = done, append = TRUE)",
           "}")
program <- file.path(args[[1L]], "hundred_program.R")
writeLines(lines, program)
source(program, keep.source = TRUE)
for (name in ls(pattern = "^(level|leaf|piece)[0-9]*$")) assign(name, compiler::cmpfun(get(name)))

for (i in seq_len(n)) if (inherits(parallel:::mcfork(), "masterProcess")) level1()
ready()
repeat Sys.sleep(3600)
