# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A stack that changes as fast as R can change it: calls that do nothing but call. The names of the functions carry the
# way they are called by, and there are several such ways through the same shape of stack, so that frames
# of two moments never make a path of the graph, which is written to edges.txt as mixed.R does.
#
# Arguments: FOLDER SECONDS HOW DEPTH. HOW: compiled, plain (not compiled), built (calls made again
# by do.call(), and collections of garbage), foreign (routines in C). DEPTH: calls below all that.
# Works until the folder has a file `stop`, and SECONDS at least. With a fifth argument it works for
# ever, and units.txt gets a line per unit of work: when it ended (seconds since 1970) and how long
# it took.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])
how <- args[[3L]]
depth <- as.integer(args[[4L]])
invisible(compiler::enableJIT(0L))
options(expressions = 50000L)

edges <- character()
edge <- function(from, to) edges <<- c(edges, paste0(from, "\t", to))
ways <- 5L
call_of <- function(name) if (how == "built") bquote(do.call(.(name), list())) else as.call(list(as.name(name)))

# top_k > upper_k > one_k, two_k, three_k > leaf_k_1 ... and below them nothing; wide_k has calls of other depths.
for (k in seq_len(ways)) {
    name <- function(what) if (length(what)) paste0(what, "_", k)
    make <- function(what, callees) {
        assign(name(what), eval(call("function", NULL, as.call(c(as.name("{"), lapply(name(callees), call_of), list(NULL))))),
            envir = globalenv())
        for (callee in callees) if (how == "built") {
            edge(name(what), "do.call")
            edge("do.call", name(callee))
        } else edge(name(what), name(callee))
    }
    make("leafa", character())
    make("leafb", character())
    make("leafc", character())
    make("leafd", character())
    make("leafe", character())
    make("one", c("leafa", "leafb"))
    make("other", "leafb")
    make("two", c("leafc", "other", "leafc"))
    make("upper", c("one", "two", "leafd"))
    make("top", c("upper", "leafe"))
}
# Foreign calls that are not compiled have contexts of a different kind, which name no environment.
merge <- matrix(c(-1L, -2L), 1L)
routine <- stats:::C_cutree
foreign <- function() { .Call(routine, merge, 2L); inner(); .Call(routine, merge, 2L); inner() }
inner <- function() for (i in 1:3) .Call(routine, merge, 2L)

flip <- function() for (i in 1:50) {
    if (how == "foreign") foreign() else { top_1(); top_2(); top_3(); top_4(); top_5() }
    if (how == "built" && i == 50L) gc(FALSE, full = FALSE)
}
for (k in seq_len(ways)) edge("flip", paste0("top_", k))
edge("flip", "gc"); edge("gc", "matrix")
edge("do.call", "parent.frame")
edge("flip", "foreign"); edge("foreign", "inner"); edge("foreign", ".Call"); edge("inner", ".Call")

down <- function(n) if (n > 0L) down(n - 1L) else work()
work <- function() {
    end <- cpu_time() + seconds
    while (cpu_time() < end || !file.exists(file.path(folder, "stop"))) for (i in 1:20) flip()
}
measure <- function() {
    out <- file(file.path(folder, "units.txt"), "w")
    repeat {
        begin <- as.numeric(Sys.time())
        for (i in 1:4) flip()
        end <- as.numeric(Sys.time())
        line <- sprintf("%.6f %.6f\n", end, end - begin)
        cat(line, file = out)
        flush(out)
    }
}
if (length(args) > 4L) work <- measure
# before its work: by the wall clock that is sampled, too
edge("", "await"); for (callee in c("Sys.sleep", "file.exists", "file.path")) edge("await", callee)
edge("", "down"); edge("down", "down"); edge("down", "work")
for (callee in c("flip", "cpu_time", "file.exists", "file.path")) edge("work", callee)
edge("file.exists", "file.path")
for (callee in c("sum", "proc.time", "[")) edge("cpu_time", callee)

if (how == "compiled") {
    for (name in grep("_[0-9]$", ls(), value = TRUE)) assign(name, compiler::cmpfun(get(name)))
    flip <- compiler::cmpfun(flip)
}
writeLines(unique(edges), file.path(folder, "edges.txt"))
ready()
await("go")
down(depth)
done()
