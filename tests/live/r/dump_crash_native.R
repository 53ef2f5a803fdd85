# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Crashes in a C function that R code calls. Arguments: FOLDER FILE FUNCTION.

args <- commandArgs(trailingOnly = TRUE)
setwd(args[[1L]]) # the kernel writes the core file there
dyn.load(args[[2L]])
parse_one <- function(how) .Call(how)
work <- function(all) lapply(all, function(how) parse_one(how))
work(args[[3L]])
