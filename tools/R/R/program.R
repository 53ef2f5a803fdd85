# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The program: where it is, what it can do, and what it said when it did not.

is_windows <- function() .Platform$OS.type == "windows"

program_name <- function() if (is_windows()) "xrprof.exe" else "xrprof-bpf"

xrprof_path <- function() {
    named <- c(getOption("xrprof.path", ""), Sys.getenv("XRPROF_BPF"))
    from <- c("options(xrprof.path =)", "the environment variable XRPROF_BPF")
    for (i in which(nzchar(named))) {
        if (!file.exists(named[[i]]) || dir.exists(named[[i]]))
            stop("no program ", named[[i]], ": ", from[[i]], " names it", call. = FALSE)
        return(normalizePath(named[[i]]))
    }
    found <- Sys.which(program_name())
    if (!nzchar(found))
        stop(program_name(), " was not found: install it, or set its path by ",
             "options(xrprof.path = \"/path/to/", program_name(), "\") or by the environment ",
             "variable XRPROF_BPF", call. = FALSE)
    normalizePath(found)
}

# Run the program to its end: what it printed, with its exit status as an attribute.
program_run <- function(program, args, sudo = FALSE) {
    words <- c(if (sudo) c("sudo", "-n", "--"), program, args)
    out <- suppressWarnings(system2(words[[1L]], shQuote(words[-1L]), stdout = TRUE, stderr = TRUE))
    if (is.null(attr(out, "status")))
        attr(out, "status") <- 0L
    out
}

# How it comes to a page: "report", from a profile that gives tables, too; "record", as it samples; "none".
program_pages <- function(program) {
    if (attr(program_run(program, c("report", "--help")), "status") == 0L)
        return("report")
    if (any(grepl("flamegraph", program_run(program, "--help"))))
        return("record")
    message(program, " does not write pages: it is older than this package")
    "none"
}

# The command line, for pipe(): its standard input ends the profile. What it says goes to FILES$err, and FILES$end is
# there when it has ended.
program_command <- function(program, args, files, sudo) {
    if (is_windows()) {
        quoted <- ifelse(grepl("[^-A-Za-z0-9_.:\\\\/]", args), shQuote(args, "cmd"), args)
        return(paste(utils::shortPathName(program), paste(quoted, collapse = " "), ">NUL 2>",
                     shQuote(files$err, "cmd"), "& echo 0 >", shQuote(files$end, "cmd")))
    }
    # With its own session, so that Ctrl-C in the console ends R's call alone.
    script <- "exec 2>/dev/null; \"$@\" >/dev/null 2>\"$0.err\"; echo $? >\"$0.end.new\"; mv \"$0.end.new\" \"$0.end\""
    words <- c("sh", "-c", script, files$base, if (sudo) c("sudo", "-n", "--"), program, args)
    paste(c("exec", if (nzchar(Sys.which("setsid"))) "setsid", shQuote(words)), collapse = " ")
}

# What the program said, without its name in front.
said <- function(files) {
    if (!file.exists(files$err))
        return(character())
    said_lines(readLines(files$err, warn = FALSE))
}

said_lines <- function(lines)
    sub(" \\(try xrprof.* --help\\)$", "", sub("^xrprof(-bpf)?: ", "", lines[nzchar(lines)]))

# What helps against a lack of rights, as far as this machine tells.
advice <- function(reason) {
    if (any(grepl("^sudo: ", reason)))
        return("sudo asks for a password: run `sudo -v` in a terminal first, or run R with sudo")
    if (!any(grepl("permission|not permitted|not allowed|denied|CAP_|setcap", reason)))
        return(NULL)
    scope <- "/proc/sys/kernel/yama/ptrace_scope"
    scope <- if (file.exists(scope)) readLines(scope, n = 1L, warn = FALSE) else "0"
    c("what helps: sudo = TRUE, where sudo needs no password; or once, where xrprof-bpf was built, ",
      "`sudo make install-caps`, after which everybody profiles his own R",
      if (scope != "0")
          c("; or `sudo sysctl kernel.yama.ptrace_scope=0` for the engines that need no rights: it is ",
            scope, ", so a child, such as the profiler, may not read its parent"))
}

# Stop with what the program said and what to do about it.
program_failed <- function(what, lines) {
    reason <- if (length(lines)) lines[[length(lines)]] else "it printed no message"
    help <- paste(advice(lines), collapse = "")
    message <- paste0(what, ": ", reason, if (nzchar(help)) paste0("\n", help))
    stop(structure(class = c("xrprof_error", "error", "condition"),
                   list(message = message, call = NULL, said = lines)))
}
