# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Computes for ever, DEPTH R calls deep, in STACKS different stacks, one after the other. Arguments: FOLDER DEPTH STACKS

args <- commandArgs(trailingOnly = TRUE)
source(file.path(args[[1L]], "common.R"))
depth <- as.integer(args[[2L]])
stacks <- as.integer(args[[3L]])

outer <- seq_len(depth - 2L)
lines <- c(sprintf("level%d <- function() level%d()", outer, outer + 1L),
           sprintf("level%d <- function() repeat {", depth - 1L),
           sprintf("    leaf%d()", seq_len(stacks)),
           "}",
           sprintf("leaf%d <- function() for (i in 1:2000) x <- sqrt(i)", seq_len(stacks)))
program <- file.path(args[[1L]], "stacks_program.R")
writeLines(lines, program)
source(program, keep.source = TRUE)
for (name in ls(pattern = "^(level|leaf)[0-9]+$")) assign(name, compiler::cmpfun(get(name)))
ready()
level1()
