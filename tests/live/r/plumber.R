# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# An API of plumber with a fast, a slow and a sleeping endpoint. The port is in `port`.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
computes <- function(seconds) {
    until <- cpu_time() + seconds
    while (cpu_time() < until) for (i in 1:100) i
}
naps <- function(seconds) Sys.sleep(seconds)
api <- plumber::pr(envir = globalenv())
api <- plumber::pr_get(api, "/fast", function() "fast")
api <- plumber::pr_get(api, "/slow/<id>", function(id) {
    computes(0.5)
    id
})
api <- plumber::pr_get(api, "/sleeping", function() {
    naps(0.05)
    "sleeping"
})
port <- httpuv::randomPort()
later::later(function() {
    put("port", as.character(port))
    ready()
})
plumber::pr_run(api, "127.0.0.1", port, docs = FALSE, quiet = TRUE)
