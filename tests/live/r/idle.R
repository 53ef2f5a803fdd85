# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Waits for work, and works. Arguments: FOLDER httpuv|later|parallel
# httpuv writes its port to `port`; each request waits 0.3 s. later waits for `go` and parallel's worker for its master, which
# gives it three tasks of 0.3 s each.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
handles <- function() Sys.sleep(0.3)

serve <- function() {
    answer <- function(request) {
        handles()
        list(status = 200L, headers = list("Content-Type" = "text/plain"), body = "late")
    }
    port <- httpuv::randomPort()
    httpuv::startServer("127.0.0.1", port, list(call = answer))
    put("port", as.character(port))
    ready()
    repeat httpuv::service(1000)
}
run_later <- function() {
    again <- function() {
        handles()
        later::later(again, 0.7)
    }
    again()
    ready()
    repeat later::run_now(10)
}
run_parallel <- function() {
    cluster <- parallel::makeCluster(1L)
    parallel::clusterExport(cluster, "handles")
    put("worker", as.character(parallel::clusterEvalQ(cluster, Sys.getpid())[[1L]]))
    ready()
    repeat {
        parallel::clusterEvalQ(cluster, handles())
        Sys.sleep(0.7)
    }
}
switch(args[[2L]], httpuv = serve(), later = run_later(), parallel = run_parallel())
