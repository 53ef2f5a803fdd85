# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# R -f whose.R --args FOLDER LOOP THREADS LIBRARY WHEN ROUNDS: some work and some waiting, in turns, in a loop of the kind
# LOOP (top and embedded: at top level; function; events: as servers have it). It is ready before the
# loop, or (WHEN is `middle`) during it. From `go` on it makes ROUNDS rounds. THREADS is the number of
# threads of the process; LIBRARY starts them, except for the loop embedded.
source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
kind <- args[[2L]]
middle <- args[[5L]] == "middle"
rounds <- as.integer(args[[6L]])
going <- file.path(folder, "go")

work <- function(n) {
    x <- 0
    for (i in seq_len(n)) x <- x + sqrt(i)
    x
}

# Less often before `go`, as each of many programs does.
pause <- function() Sys.sleep(if (is.na(last)) 0.2 else 0.02)

if (!middle) {
    ready()
    await("go")
}
if (kind != "embedded" && args[[3L]] != "1") {
    dyn.load(args[[4L]])
    invisible(.C("whose_threads", as.integer(args[[3L]]) - 1L))
}

n <- 0L
last <- if (middle) NA else rounds
# Is a round the last?
over <- function() {
    n <<- n + 1L
    if (middle && n == 5L) ready()
    if (is.na(last) && file.exists(going)) last <<- n + rounds
    !is.na(last) && n >= last
}

run <- function() {
    repeat {
        work(400000)
        pause()
        if (over()) break
    }
}

# A handler is called as httpuv's are: from a loop in C (lapply), with conditions caught.
handler <- function() {
    work(400000)
    pause()
}

serve <- function() {
    while (TRUE) {
        tryCatch(withCallingHandlers(lapply(list(handler), function(h) h()), warning = function(w) NULL),
            error = function(e) quit(status = 1L))
        if (over()) break
    }
}

if (kind == "function") run()
if (kind == "events") serve()
if (kind %in% c("top", "embedded")) while (TRUE) {
    work(400000)
    pause()
    if (over()) break
}
done()
