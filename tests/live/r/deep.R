# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# One deep stack, held for a while. Arguments: FOLDER SECONDS KIND LEVELS; KIND is
#   calls      a function that calls itself: one context a level
#   mixed      a function, a loop, a promise and a tryCatch() at each level: several contexts a level
# The stack as R itself sees it at the innermost call is written to expected.txt, innermost first, before `ready`; then
# the program computes at the bottom of it for SECONDS (of CPU time).

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])
levels <- as.integer(args[[4L]])
invisible(compiler::enableJIT(0L))
options(expressions = 500000)

# Frames as Rprof() names them: here they are all called by symbols.
frames <- function() vapply(sys.calls(), function(call) as.character(call[[1L]]), "")

hold <- function() {
    # sys.calls() takes time as the square of the depth
    stack <- if (levels > 20000L) c(rep("calls", levels + 1L), "hold", "frames") else frames()
    put("expected.txt", rev(stack[-length(stack)]))
    ready()
    await("go")
    put("holding")
    work(seconds)
}
work <- function(seconds) {
    end <- proc.time()[[1L]] + seconds
    x <- 0
    while (proc.time()[[1L]] < end) for (i in 1:20000) x <- x + i
    done()
    x
}
calls <- function(n) if (n > 0L) calls(n - 1L) else hold()
# R's own tryCatch(), but not compiled: the stack of the byte code interpreter has a fixed size.
tryCatch <- base::tryCatch
body(tryCatch) <- body(tryCatch)
mixed <- function(n) {
    for (i in 1L) {
        value <- tryCatch(if (n > 0L) mixed(n - 1L) else hold(), error = function(e) stop(e))
    }
    value
}
invisible(switch(args[[3L]], calls = calls(levels), mixed = mixed(levels)))
