# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Two workers of parallel, whose pids are in `workers`; they run six tasks, each of which waits for 60 ms.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
cluster <- parallel::makeCluster(2L)
put("workers", paste(unlist(parallel::clusterEvalQ(cluster, Sys.getpid())), collapse = ","))
ready()
await("go")
invisible(parallel::clusterApply(cluster, rep(0.06, 6L), function(seconds) do.call("Sys.sleep", list(seconds))))
done()
await("end")
