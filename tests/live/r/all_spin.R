# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Computes below NAME_outer() and NAME_inner(), so that its stacks cannot be taken for another process's.
# Arguments: FOLDER NAME [SECONDS [wait]]; without SECONDS, or if they are Inf, it never ends.
# With `wait` it begins when the file `go` is there.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
name <- args[[2L]]
seconds <- if (length(args) > 2L) as.numeric(args[[3L]]) else Inf

assign(paste0(name, "_inner"), function(n) {
    x <- 0
    for (i in seq_len(n)) x <- x + sqrt(i)
    x
})
# The calls must carry the names, too.
assign(paste0(name, "_outer"), eval(bquote(function() {
    end <- cpu_time() + seconds
    while (cpu_time() < end) .(as.name(paste0(name, "_inner")))(20000)
})))
call <- as.call(list(as.name(paste0(name, "_outer"))))

ready()
if (length(args) > 3L) await("go")
eval(call)
done()
