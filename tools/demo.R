# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The program that tools/demo profiles: a small report over simulated orders, again and again. Most of its time goes to
# one careless function. Arguments: FOLDER, where the file `ready` is made when it has started. It runs
# until the file `stop` is there.

folder <- commandArgs(trailingOnly = TRUE)[[1L]]

simulate_orders <- function(n) {
    data.frame(
        customer = sample(500L, n, replace = TRUE),
        price = round(rlnorm(n, 3), 2),
        text = paste0("order-", sample(1e6L, n), "-", sample(letters, n, replace = TRUE))
    )
}

# The careless one: the result grows by a copy at each step.
running_total <- function(x) {
    total <- numeric()
    for (value in x) total <- c(total, sum(total[length(total)], value))
    total
}

parse_ids <- function(text) {
    parts <- strsplit(text, "-", fixed = TRUE)
    vapply(parts, function(p) as.integer(p[[2L]]), integer(1L))
}

fit_trend <- function(total) {
    step <- seq_along(total)
    coef(lm(total ~ poly(step, 3)))
}

by_customer <- function(orders) {
    aggregate(price ~ customer, data = orders, FUN = mean)
}

make_report <- function() {
    orders <- simulate_orders(5000L)
    total <- running_total(orders$price)
    list(
        ids = parse_ids(orders$text),
        trend = fit_trend(total),
        means = by_customer(orders)
    )
}

set.seed(1)
make_report() # once, so that loading and compiling is over
file.create(file.path(folder, "ready"))
while (!file.exists(file.path(folder, "stop"))) make_report()
