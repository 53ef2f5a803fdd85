# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Computes at one line of a compiled function, which is the line 5 of the file hot.R, called from line 10. Arguments: FOLDER

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))

text <- c("hot <- function() {", "    repeat {", "        x <- 0", "        for (i in 1:1e5) {", "            x <- sqrt(x + i) * exp(-x / 1e9)",
    "        }", "    }", "}", "begin <- function() {", "    hot()", "}")
eval(parse(text = text, srcfile = srcfilecopy("hot.R", text)))
hot <- compiler::cmpfun(hot)
begin <- compiler::cmpfun(begin)

ready()
begin()
