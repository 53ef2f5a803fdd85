# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Writes what Rprof() writes in all its modes, as far as this R has them: FOLDER/NAME.out, and FOLDER/NAME.summary, what
# summaryRprof() makes of it: samples of each function, itself and with what it calls, and of all.
source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
options(keep.source = TRUE)

writeLines(c(
    "obj <- list(deep = function(n) if (n) obj$deep(n - 1) else sum(sqrt(abs(sin(1:2e4)))),",
    "    waste = function(n) lapply(seq_len(n), function(i) as.character(runif(500))))",
    "`odd;name` <- function(x) tryCatch(obj[[\"deep\"]](x), error = identity)",
    "work <- function() {",
    "    `odd;name`(3)",
    "    obj[[2]](20)",
    "    (function() base::Reduce(function(a, b) obj$deep(2) + b, 1:3))()",
    "    eval(quote(local(obj$waste(5))))",
    "}"), file.path(folder, "work.R"))
source(file.path(folder, "work.R"), keep.source = TRUE)

summed <- function(path) {
    s <- summaryRprof(path)
    i <- s$sample.interval
    t <- s$by.total
    name <- sub("\"$", "", sub("^\"", "", rownames(t)))
    c(sprintf("all\t%.0f", s$sampling.time / i),
      sprintf("%.0f\t%.0f\t%s", t$self.time / i, t$total.time / i, name))
}

profile <- function(name, ...) {
    path <- file.path(folder, paste0(name, ".out"))
    # summaryRprof() rounds to milliseconds: its times are whole samples
    Rprof(path, interval = 0.002, ...)
    # until it has samples enough, however busy the machine is; some versions write a full buffer only
    while (file.size(path) < 12000)
        work()
    Rprof(NULL)
    put(paste0(name, ".summary"), summed(path))
}

ready()
profile("plain")
profile("lines", line.profiling = TRUE)
profile("gc", gc.profiling = TRUE)
profile("memory", memory.profiling = TRUE)
profile("all", line.profiling = TRUE, gc.profiling = TRUE, memory.profiling = TRUE)
if ("filter.callframes" %in% names(formals(Rprof)))
    profile("filter", filter.callframes = TRUE)
if ("event" %in% names(formals(Rprof)))
    for (event in c("cpu", "elapsed")) profile(event, event = event)
done()
