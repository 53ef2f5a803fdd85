# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The service of docs/tutorial.md that the slow API asks for exchange rates. Each answer takes
# 20 ms. Argument: its port.

rates <- c(EUR = 1, GBP = 1.17, USD = 0.92)

answer <- function(request) {
    Sys.sleep(0.02)
    body <- format(rates[[sub("/", "", request$PATH_INFO)]])
    list(status = 200L, headers = list("Content-Type" = "text/plain"), body = body)
}

port <- as.integer(commandArgs(trailingOnly = TRUE)[[1L]])
httpuv::runServer("127.0.0.1", port, list(call = answer))
