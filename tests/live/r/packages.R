# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Work in packages as people use them, for oracle.R: data.table, dplyr, Matrix, mgcv, R6, and shiny's reactive graph
# without a browser.

suppressPackageStartupMessages({
    library(data.table)
    library(dplyr)
    library(Matrix)
    library(mgcv)
    library(R6)
    library(shiny)
})

people <- data.frame(id = 1:2000, group = rep(letters[1:20], 100), x = (1:2000) %% 97 / 10, y = sqrt(1:2000))
groups <- data.frame(group = letters[1:20], weight = 1:20)

table_work <- function() {
    dt <- as.data.table(people)
    dt[, z := x + y]
    sums <- dt[, .(n = .N, mean = mean(x), spread = diff(range(y))), by = group]
    joined <- sums[as.data.table(groups), on = "group"]
    wide <- dcast(dt[id < 200], group ~ x %/% 3, value.var = "y", fun.aggregate = length)
    dt[order(-z), head(.SD, 2), by = group, .SDcols = c("x", "y")]
}
frame_work <- function() {
    people %>%
        filter(x > 1) %>%
        group_by(group) %>%
        summarise(n = n(), across(c(x, y), mean), top = max(y)) %>%
        left_join(groups, by = "group") %>%
        mutate(score = case_when(weight > 10 ~ x * weight, TRUE ~ y)) %>%
        arrange(desc(score)) %>%
        slice(1:5)
}
matrix_work <- function() {
    m <- sparseMatrix(i = people$id, j = people$id %% 50 + 1, x = people$y)
    normal <- crossprod(m) + Diagonal(50)
    solve(normal, rep(1, 50))
    Cholesky(normal)
    summary(t(m)[1:5, ] %*% m)
}
model_work <- function() {
    fit <- gam(y ~ s(x, k = 5) + group, data = people[1:300, ])
    predict(fit, people[1:20, ])
    summary(fit)
}

Counter <- R6Class("Counter",
    public = list(
        total = 0,
        initialize = function(start = 0) self$total <- start,
        add = function(n) {
            for (i in seq_len(n)) self$total <- self$total + private$step(i)
            invisible(self)
        }),
    private = list(step = function(i) sqrt(i)),
    active = list(half = function() self$total / 2))
Doubler <- R6Class("Doubler", inherit = Counter, public = list(
    add = function(n) {
        super$add(n)
        super$add(n)
    }))
object_work <- function() for (i in 1:20) Doubler$new(i)$add(30)$add(2)$half

reactive_work <- function() {
    testServer(function(input, output, session) {
        filtered <- reactive(people[people$x > input$least, ])
        average <- reactive({
            rows <- filtered()
            tapply(rows$y, rows$group, mean)
        })
        seen <- reactiveVal(0)
        observe({
            average()
            isolate(seen(seen() + 1))
        })
        output$text <- renderText(paste(round(average(), 2), collapse = " "))
    }, {
        for (least in 1:3) {
            session$setInputs(least = least)
            nchar(output$text)
        }
    })
}

jobs <- list(table_work, frame_work, matrix_work, model_work, object_work, reactive_work)
for (job in jobs) invisible(job())
round_of_work <- function() for (i in sample(length(jobs))) jobs[[i]]()
