# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Work for the exact oracles (docs/internals/oracles.md). Arguments: FOLDER LIBRARY KIND COUNT PROGRAM...
#
# LIBRARY: tests/fixtures/spin.c, built. KIND: "spin": R's profiler makes COUNT burns; "stop": it writes a line for each of
# the COUNT times that others send SIGPROF, who write how many they have sent to the file MODE.sent, and may send up to
# the N-th when there is a file MODE.until.N. PROGRAM: what to run, of programs here: what they define before they are
# ready, and one round of their work after the other; each has the same share of COUNT. The work is done once for each MODE:
# lines, filter, and plain (neither lines nor marks). It waits for a file measure.MODE, running proof() meanwhile, and writes
# MODE.oracle (by Rprof), MODE.burns (of "spin"), MODE.labels (the labels at each SIGPROF) and MODE.done. Each round is a call
# of oracle_call(), which has its number as a label, unless the program sets others.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
library_path <- args[[2L]]
kind <- args[[3L]]
count <- as.integer(args[[4L]])
programs <- args[-(1:4)]
dyn.load(library_path)
invisible(compiler::enableJIT(0L))

# The programs are asked for one round at a time.
commandArgs <- function(trailingOnly = FALSE) c(folder, "0.001", "", "lines")
# lines.R has packages: their source is enough here.
asNamespace <- function(ns, ...) {
    if (!startsWith(ns, "xr")) return(base::asNamespace(ns, ...))
    env <- new.env()
    sys.source(file.path(folder, "lines_package.R"), env, keep.source = ns != "xrdropped")
    if (ns != "xruncompiled") for (name in ls(env)) env[[name]] <- compiler::cmpfun(env[[name]])
    env
}

# What a program defines, with source references; its own run is left out. A round of its work.
program_load <- function(name) {
    # lines.R's corpora look for what it defines in the global environment
    env <- if (name == "lines") globalenv() else new.env(parent = globalenv())
    for (expr in parse(file.path(folder, paste0(name, ".R")), keep.source = TRUE)) {
        called <- if (is.call(expr)) as.character(expr[[1L]])[[1L]] else ""
        if (called %in% c("ready", "put")) break
        if (called != "window") eval(expr, env)
    }
    round <- get0("round_of_work", env, mode = "function", inherits = FALSE)
    if (!is.null(round)) return(round)
    work <- get(if (name == "mixed") "main" else "window", env, mode = "function", inherits = FALSE)
    function() work(0.001)
}
rounds <- lapply(programs, program_load)

# Something that the profiler can prove R's hidden variables by: byte code with source lines, and the collector.
proof_compiled <- eval(parse(text = c("function(n) {", "    s <- 0", "    for (i in seq_len(n)) {",
    "        s <- s + sqrt(i)", "        x <- rep(i, 3)", "    }", "    s", "}"), srcfile = srcfilecopy("proof.R", ""))[[1L]])
proof_compiled <- compiler::cmpfun(proof_compiled)
proof <- function(until) {
    options(xrprof.labels = c(proof = "1"))
    while (!file.exists(until)) {
        for (i in 1:5) proof_compiled(20000)
        gc(FALSE)
    }
}

sent <- function(mode) {
    if (kind == "spin") return(.C("oracle_made", made = 0L)$made)
    path <- file.path(folder, paste0(mode, ".sent"))
    if (file.exists(path)) as.integer(readLines(path)) else 0L
}
made <- 0L
oracle_call <- function(round) {
    made <<- made + 1L
    options(xrprof.labels = c(round = as.character(made)))
    round()
    options(xrprof.labels = character())
}
measure <- function(mode) {
    .C("oracle_begin", file.path(folder, paste0(mode, ".samples")))
    for (i in seq_along(rounds)) {
        # the last may be within a round, which goes on to its end
        until <- as.integer(count * i / length(rounds))
        if (kind == "spin") .C("oracle_spin", until, 6, 16) else put(paste(mode, "until", until, sep = "."))
        while (sent(mode) < until) oracle_call(rounds[[i]])
    }
    .C("oracle_end", if (kind == "spin") file.path(folder, paste0(mode, ".burns")) else "",
        file.path(folder, paste0(mode, ".labels")))
}

put("version", as.character(getRversion()))
ready()
await("go")
for (mode in get0("oracle_modes", ifnotfound = c("lines", "filter", "plain"))) {
    proof(file.path(folder, paste0("measure.", mode)))
    # with memory.profiling a line is never empty, so that there is one for each SIGPROF
    Rprof(file.path(folder, paste0(mode, ".oracle")), interval = 0.9, memory.profiling = TRUE,
        line.profiling = mode != "plain", gc.profiling = mode != "plain", filter.callframes = mode == "filter", numfiles = 1000L, bufsize = 1000000L)
    measure(mode)
    Rprof(NULL)
    put(paste0(mode, ".done"))
}
done()
