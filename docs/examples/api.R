# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The slow API of docs/tutorial.md: GET /report?customer=7 returns the total of that customer.
# Arguments: its port, and the address of the service that knows exchange rates (rates.R).

arguments <- commandArgs(trailingOnly = TRUE)
rates <- arguments[[2L]]

source("report.R", keep.source = TRUE) # Rscript keeps no source references by itself

answer <- function(request) {
    customer <- as.integer(sub(".*=", "", request$QUERY_STRING))
    report <- make_report(customer)
    body <- sprintf("customer %d: total %.2f\n", customer, tail(report$total, 1L))
    list(status = 200L, headers = list("Content-Type" = "text/plain"), body = body)
}

httpuv::runServer("127.0.0.1", as.integer(arguments[[1L]]), list(call = answer))
