# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Half of the CPU time below many calls, half of it below none. Arguments: FOLDER SECONDS LEVELS. The
# CPU time that above() and below() took, in this order, is written to shares.txt; R has one thread.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])
levels <- as.integer(args[[3L]])
invisible(compiler::enableJIT(0L))
options(expressions = 500000)

# The work itself calls no function of R, so that the innermost function is the caller.
burn <- quote({
    begin <- cpu_time()
    x <- 0
    while (cpu_time() < begin + seconds) for (i in 1:20000) x <- x + i
    took <<- c(took, cpu_time() - begin)
})
took <- numeric()
above <- function() NULL
below <- function() NULL
body(above) <- body(below) <- burn
calls <- function(n) if (n > 1L) calls(n - 1L) else below()

ready()
await("go")
above()
calls(levels)
put("shares.txt", format(took, digits = 15L))
done()
