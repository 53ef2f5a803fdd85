# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Computes and waits, each for times that it measures itself. Arguments: FOLDER URL DATABASE LIBRARY SOCKETS ROUNDS
# Writes `measured`: FUNCTION, seconds that passed in it, and seconds of CPU time.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
url <- args[[2L]]
database <- args[[3L]]
invisible(dyn.load(args[[4L]]))
sockets <- args[[5L]]
rounds <- as.integer(args[[6L]])

computes <- function() {
    until <- cpu_time() + 0.3
    while (cpu_time() < until) sum(sqrt(1:1000))
}
sleeps <- function(seconds) Sys.sleep(seconds)
dozes <- function(times) for (i in seq_len(times)) Sys.sleep(0.0004)
reads <- function() {
    con <- pipe("sleep 0.25; echo one; sleep 0.15; echo two")
    lines <- readLines(con)
    close(con)
    stopifnot(identical(lines, c("one", "two")))
}
downloads <- function() {
    con <- url(paste0(url, "/slow"))
    text <- readLines(con)
    close(con)
    stopifnot(identical(text, "late"))
}
waits_for_child <- function() {
    job <- parallel::mcparallel(Sys.sleep(0.3))
    invisible(parallel::mccollect(job))
}
waits_for_lock <- function() .C("locked", 300L)

connection <- DBI::dbConnect(RSQLite::SQLite(), database)
invisible(DBI::dbExecute(connection, "PRAGMA synchronous = FULL"))
invisible(DBI::dbExecute(connection, "PRAGMA cache_size = 1"))
invisible(DBI::dbExecute(connection, "CREATE TABLE t (a INTEGER, b TEXT)"))
queries <- function() {
    DBI::dbExecute(connection, "INSERT INTO t VALUES (1, 'x')")
    stopifnot(DBI::dbGetQuery(connection, "SELECT count(*) AS n FROM t")$n > 0)
}

server <- DBI::dbConnect(RPostgreSQL::PostgreSQL(), host = sockets, user = "postgres", dbname = "postgres")
asks_server <- function() {
    for (i in 1:3) stopifnot(DBI::dbGetQuery(server, "SELECT 1 AS n FROM pg_sleep(0.3)")$n == 1)
    many <- "SELECT count(DISTINCT md5(a::text)) AS n FROM generate_series(1, 50000) AS a"
    stopifnot(DBI::dbGetQuery(server, many)$n == 50000)
}

names <- c("computes", "sleeps", "dozes", "reads", "downloads", "queries", "asks_server", "waits_for_child", "waits_for_lock")
measured <- matrix(0, length(names) + 1L, 2L, dimnames = list(c(names, "all_of_it"), c("elapsed", "cpu")))
now <- function() c(as.numeric(Sys.time()), cpu_time())
measure <- function(name, expression) {
    before <- now()
    expression
    measured[name, ] <<- measured[name, ] + (now() - before)
}

all_of_it <- function() {
    for (i in seq_len(rounds)) {
        measure("computes", computes())
        measure("sleeps", sleeps(runif(1L, 0.1, 0.5)))
        measure("dozes", dozes(100L))
        measure("reads", reads())
        measure("downloads", downloads())
        measure("queries", queries())
        measure("asks_server", asks_server())
        measure("waits_for_child", waits_for_child())
        measure("waits_for_lock", waits_for_lock())
    }
}

# A first round loads what is loaded once.
all_of_it()
measured[] <- 0
ready()
await("go")
measure("all_of_it", all_of_it())
put("measured", sprintf("%s %.6f %.6f", rownames(measured), measured[, "elapsed"], measured[, "cpu"]))
done()
Sys.sleep(1000)
