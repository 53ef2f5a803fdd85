# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Waits with memory that does not respond, from `go` to `release`. Arguments: FOLDER LIBRARY

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
invisible(dyn.load(args[[2L]]))
hangs <- function() .C("hang", file.path(folder, "hung"), file.path(folder, "release"), 0L)[[3L]]
ready()
await("go")
put("result", as.character(hangs()))
done()
Sys.sleep(1000)
