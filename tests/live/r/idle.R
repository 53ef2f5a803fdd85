# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Waits for work, and works. Arguments: FOLDER httpuv|later|parallel|plain, or FOLDER rserve SOCKET
# httpuv writes its port to `port`; each request waits 0.3 s. parallel's worker and the session of Rserve at SOCKET have such a
# task from here each second; who they are is written to `worker`.

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
run_plain <- function() {
    ready()
    repeat {
        handles()
        Sys.sleep(0.7)
    }
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
run_rserve <- function(socket) {
    connection <- RSclient::RS.connect(socket, port = 0L)
    evaluate <- function(call) RSclient::RS.eval(connection, call, lazy = FALSE)
    evaluate(quote({
        handles <- function() Sys.sleep(0.3)
        request <- function() handles()
        NULL
    }))
    put("worker", as.character(evaluate(quote(Sys.getpid()))))
    ready()
    repeat {
        evaluate(quote(request()))
        Sys.sleep(0.7)
    }
}
switch(args[[2L]], httpuv = serve(), later = run_later(), parallel = run_parallel(), plain = run_plain(), rserve = run_rserve(args[[3L]]))
