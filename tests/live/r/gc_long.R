# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# gc_long.R FOLDER OBJECTS: collects garbage all the time, with so many objects to be looked at, and does little else.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
kept <- lapply(seq_len(as.integer(args[[2L]])), function(i) NULL)
kept <- lapply(kept, function(i) c(0, 1))
gc_all <- function() repeat {
    .Internal(gc(FALSE, FALSE, TRUE))
    for (i in 1:300000) NULL
}
ready()
gc_all()
