# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For the page: a program of a few functions whose source is on the disk, until it is killed.
dir <- commandArgs(TRUE)[1]
code <- file.path(dir, "page_source.R")
writeLines(c(
  "spin <- function(n) {",
  "  s <- 0",
  "  for (i in seq_len(n)) s <- s + sqrt(i)",
  "  s",
  "}",
  "",
  "outer_one <- function() tryCatch(spin(2e5), error = function(e) 0)",
  "",
  "inner_two <- function() sapply(1:3, function(i) spin(2e4))"
), code)
source(code, keep.source = TRUE)
invisible(file.create(file.path(dir, "ready")))
repeat {
  outer_one()
  inner_two()
}
