# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Forks N children that end at once, in tenths; the number of tenths done is left in files tenth.1 ...
# Arguments: FOLDER HELPER N (HELPER: the shared object made from all_fork.c)

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
dyn.load(args[[2L]])
n <- as.integer(args[[3L]])

churn_parent <- function() for (tenth in 1:10) {
    .C("all_churn", n %/% 10L)
    put(paste0("tenth.", tenth))
    await(paste0("seen.", tenth))
}

ready()
await("go")
churn_parent()
done()
