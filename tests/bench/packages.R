# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# An R that has loaded what packages there are, and computes, until it is killed. Arguments: FOLDER.
args <- commandArgs(trailingOnly = TRUE)
source(file.path(args[[1L]], "common.R"))
wanted <- c("data.table", "dplyr", "shiny", "Matrix", "mgcv", "knitr", "rmarkdown", "profvis", "R6", "Rcpp", "stringi", "stringr", "tcltk",
    "lattice", "nlme", "splines", "stats4", "grid", "parallel", "htmlwidgets", "sass", "yaml", "digest", "jsonlite", "fs", "cli")
for (package in wanted) suppressWarnings(try(loadNamespace(package), silent = TRUE))
writeLines(as.character(length(loadedNamespaces())), file.path(args[[1L]], "loaded"))
x <- runif(1000)
work <- function() sum(sin(x))
work()
ready()
repeat work()
