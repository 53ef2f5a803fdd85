# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The stack of another R process, now.

xrprof_dump <- function(pid, calls = FALSE, locals = FALSE, sudo = getOption("xrprof.sudo", FALSE),
                        args = character()) {
    if (!is.numeric(pid) || !length(pid) || anyNA(pid))
        stop("pid is the number of a process, or several", call. = FALSE)
    args <- c("dump", "-p", paste(format(pid, scientific = FALSE, trim = TRUE), collapse = ","),
              if (calls) "--calls", if (locals) "--locals", args)
    out <- program_run(xrprof_path(), args, sudo)
    if (attr(out, "status") != 0L)
        program_failed("no stack", said_lines(out))
    # no line of a stack begins with the name of the program
    notes <- grepl("^xrprof(-bpf)?: ", out)
    for (line in said_lines(out[notes]))
        warning(line, call. = FALSE)
    structure(out[!notes], class = "xrprof_dump")
}

print.xrprof_dump <- function(x, ...) {
    writeLines(x)
    invisible(x)
}
