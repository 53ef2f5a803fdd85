# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What requests to a server compute: byte code, for `seconds` of CPU time.  The server loads this,
# and is idle itself.

text <- "request <- function(seconds) {
    end <- sum(proc.time()[1:2]) + seconds
    while (sum(proc.time()[1:2]) < end)
        for (i in 1:500)
            sqrt(i)
}"
eval(parse(text = text, keep.source = TRUE, srcfile = srcfilecopy("served.R", strsplit(text, "\n")[[1L]])))
request <- compiler::cmpfun(request)
