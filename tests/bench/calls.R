# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Calls one short function after the other, DEPTH R calls deep, and adds a byte to FOLDER/work for each thousand of them, until
# it is killed. Arguments: FOLDER DEPTH

args <- commandArgs(trailingOnly = TRUE)
source(file.path(args[[1L]], "common.R"))
depth <- as.integer(args[[2L]])
done <- file.path(args[[1L]], "work")
file.create(done)
request <- function(n) for (i in seq_len(n)) sqrt(i)
serve <- function() repeat {
    for (i in 1:1000) request(2500)
    cat(".", file = done, append = TRUE)
}
dig <- function(n) if (n <= 0L) serve() else dig(n - 1L)
ready()
dig(depth - 2L)
