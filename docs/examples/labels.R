# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The program of docs/guide/labels.md: the routes /g and /h, each for three seconds, with a pause.

work <- function(seconds) {
    until <- Sys.time() + seconds
    while (Sys.time() < until) sum(as.numeric(1:1000))
}

for (route in c("/g", "/h")) {
    options(xrprof.labels = c(route = route))
    work(3)
    options(xrprof.labels = character())
    work(1)
}
