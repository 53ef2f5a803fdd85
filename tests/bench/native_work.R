# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Work of one kind, until it is killed. Arguments: FOLDER KIND. Ends with status 3 where its package is not installed.
args <- commandArgs(trailingOnly = TRUE)
source(file.path(args[[1L]], "common.R"))
set.seed(1)
m <- matrix(runif(250000), 500)
x <- runif(2e5)
s <- paste0("row ", seq_len(20000), sample(letters, 20000, TRUE), " end")
needs <- function(package) if (!requireNamespace(package, quietly = TRUE)) quit(status = 3)
work <- switch(args[[2L]],
    products = function() m %*% m,
    regular = function() { gsub("[0-9]+([a-m])", "\\1", s); grepl("1.*z end$", s, perl = TRUE) },
    sorting = function() { sort(x, method = "quick"); order(x, method = "radix"); sort(s[1:2000]) },
    lm = function() lm(x[1:5000] ~ m[1:5000] + x[5001:10000] + m[5001:10000]),
    serialize = function() unserialize(serialize(list(s, x, m), NULL)),
    data.table = { needs("data.table"); d <- data.table::data.table(a = sample(1000, 2e5, TRUE), b = x, c = sample(letters, 2e5, TRUE))
        function() { d[, list(sum(b), mean(b)), by = list(a, c)]; data.table::setorder(data.table::copy(d), c, b) } },
    dplyr = { needs("dplyr"); d <- data.frame(a = sample(100, 2e4, TRUE), b = x[1:20000])
        function() dplyr::arrange(dplyr::summarise(dplyr::group_by(d, a), s = sum(b), .groups = "drop"), s) })
work()
ready()
repeat work()
