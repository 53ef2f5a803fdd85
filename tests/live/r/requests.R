# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A server of httpuv with the endpoints /fast, /sleeping and /slow/ID. /held waits until the test makes the file `release`,
# and computes then: long enough for some samples. The port is in `port`.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
computes <- function(seconds) {
    until <- cpu_time() + seconds
    while (cpu_time() < until) for (i in 1:100) i
}
naps <- function(seconds) Sys.sleep(seconds)
held <- function() {
    await("release")
    computes(0.2)
}
answer <- function(request) {
    path <- request$PATH_INFO
    if (path == "/held") held()
    if (path == "/sleeping") naps(0.05)
    if (startsWith(path, "/slow/")) computes(0.5)
    list(status = 200L, headers = list("Content-Type" = "text/plain"), body = path)
}
port <- httpuv::randomPort()
httpuv::startServer("127.0.0.1", port, list(call = answer))
put("port", as.character(port))
ready()
repeat httpuv::service(100)
