# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Three functions that allocate 1 : 2 : 4, in random order, between two collections. Arguments:
# FOLDER TIMES [children]. With "children" four children do it, a quarter each. Writes to `bytes`
# what was allocated, by R's own account of vectors and nodes.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
times <- as.integer(args[[2L]])
children <- identical(args[3L], "children")
invisible(compiler::enableJIT(0L))

small <- function(n) numeric(n)
middle <- function(n) numeric(2L * n)
large <- function(n) numeric(4L * n)
unit <- 4000L

# A vector of k doubles is 8 k bytes, and a node.
bytes_of <- function(which) sum(8 * unit * c(1, 2, 4)[which] + 56)

measured <- function(which) {
    for (k in which) switch(k, small(unit), middle(unit), large(unit))
    gc(FALSE)
}
warming <- function(file) while (!file.exists(file.path(folder, file))) for (k in 1:20) numeric(unit)

set.seed(1)
order <- sample.int(3L, times, TRUE)

ready()
await("go")
warming("warm")
gc(FALSE)
if (children) {
    parts <- split(order, rep(1:4, length.out = times))
    invisible(parallel::mclapply(parts, function(part) measured(part), mc.cores = 2, mc.preschedule = FALSE))
} else {
    invisible(measured(order))
}
put("bytes", format(bytes_of(order), scientific = FALSE))
done()
