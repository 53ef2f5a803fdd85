# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Serves calls of known durations: deal() burns CPU time, sleeps, or both, and some calls fail;
# batch() makes two of them. Arguments: FOLDER MODE N [AGAIN]. MODE: where R collects garbage: none,
# between (calls), both (in them too), loop (while a call burns), torture (every 50 allocations),
# gctorture (every allocation), reuse (between calls that are all alike, until AGAIN of them had
# their environment where the call before had it; `again` is how many had, of N calls at most).
#
# Each call has a label of its function's name: its row in the log.
#
# Writes `log`: function, when the call began at the earliest and at the latest, when it ended at
# the earliest and at the latest (seconds since 1970), CPU time of it and its longest sleep (ms).

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
mode <- args[[2L]]
n <- as.integer(args[[3L]])
now <- function() as.numeric(Sys.time())
burn <- function(seconds) {
    end <- cpu_time() + seconds
    while (cpu_time() < end) if (mode == "loop") gc() else for (i in 1:200) i
}

set.seed(1)
how <- sample(c("cpu", "sleep", "both"), n, TRUE)
ms <- round(exp(stats::runif(n, log(1), log(as.numeric(Sys.getenv("CALLS_MS", "400"))))))
fails <- stats::runif(n) < 0.2
if (mode == "reuse") compiler::enableJIT(0L) # it allocates in some calls, and not in others
address <- ""
again <- 0L
calls <- matrix(NA_real_, 2L * n, 6L)
is_batch <- logical(2L * n)
rows <- 0L

deal <- function(row, how, ms, fails) {
    calls[row, 2L] <<- now()
    old <- options(xrprof.labels = c(deal = as.character(row)))
    on.exit(options(old))
    used <- cpu_time()
    if (mode == "both") gc()
    if (mode == "reuse") {
        at <- deparse(.Internal(address(environment())))
        again <<- again + (at == address)
        address <<- at
    }
    asleep <- switch(how, cpu = 0, sleep = ms, both = ms / 2)
    if (how != "sleep") burn((ms - asleep) / 1000)
    if (asleep > 0) Sys.sleep(asleep / 1000)
    calls[row, 5L] <<- 1000 * (cpu_time() - used)
    calls[row, 6L] <<- asleep
    calls[row, 3L] <<- now()
    if (fails) stop("as it should")
}

serve <- function(i) {
    rows <<- rows + 1L
    row <- rows
    calls[row, 1L] <<- now()
    try(deal(row, how[i], ms[i], fails[i]), silent = TRUE)
    calls[row, 4L] <<- now()
    if (mode %in% c("between", "both")) gc()
}

batch <- function(row, i) {
    calls[row, 2L] <<- now()
    old <- options(xrprof.labels = c(batch = as.character(row)))
    on.exit(options(old))
    used <- cpu_time()
    serve(i)
    serve(i + 1L)
    calls[row, 5L] <<- 1000 * (cpu_time() - used)
    calls[row, 6L] <<- max(calls[(rows - 1L):rows, 6L])
    calls[row, 3L] <<- now()
}

serve_batch <- function(i) {
    rows <<- rows + 1L
    row <- rows
    is_batch[row] <<- TRUE
    calls[row, 1L] <<- now()
    batch(row, i)
    calls[row, 4L] <<- now()
}

ready()
await("go")
Sys.sleep(0.3) # a wait of a period or more is a sample: there is one before the first call, which is not cut then
if (mode == "torture") gctorture2(50L)
if (mode == "gctorture") {
    compiler::enableJIT(0L) # it allocates far more than the calls
    gctorture(TRUE)
}
i <- 1L
while (mode == "reuse" && i <= n && again < as.integer(args[[4L]])) { # no closure is outside of these: its address may change
    gc()
    calls[i, 1L] <- now()
    deal(i, "sleep", 60, FALSE)
    calls[i, 4L] <- now()
    rows <- i
    i <- i + 1L
}
while (mode != "reuse" && i <= n) {
    if (i %% 5L == 0L && i < n) {
        serve_batch(i)
        i <- i + 2L
    } else {
        serve(i)
        i <- i + 1L
    }
}
gctorture(FALSE)
name <- ifelse(is_batch, "batch", "deal")
put("log", sprintf("%s %.6f %.6f %.6f %.6f %.3f %.3f", name, calls[, 1L], calls[, 2L], calls[, 3L],
                   calls[, 4L], calls[, 5L], calls[, 6L])[seq_len(rows)])
put("again", as.character(again))
done()
