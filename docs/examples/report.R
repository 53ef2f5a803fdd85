# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the API of docs/tutorial.md computes.

orders_of <- function(customer) {
    set.seed(customer)
    n <- 8000L
    data.frame(
        price = round(rlnorm(n, 3), 2),
        currency = sample(c("EUR", "GBP", "USD"), n, replace = TRUE)
    )
}

running_total <- function(x) {
    total <- numeric()
    for (value in x) total <- c(total, sum(total[length(total)], value))
    total
}

rate_of <- function(currency) {
    connection <- url(paste0(rates, "/", currency))
    on.exit(close(connection))
    as.numeric(readLines(connection))
}

latest <- function(orders) {
    last <- tail(orders, 6L)
    last$price * vapply(last$currency, rate_of, numeric(1L))
}

make_report <- function(customer) {
    orders <- orders_of(customer)
    list(
        total = running_total(orders$price),
        latest = latest(orders)
    )
}
