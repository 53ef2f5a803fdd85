# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Start and stop the profiler on this process.

# The profile that is being taken, and the last one that was.
state <- new.env(parent = emptyenv())

seconds_to_start <- 60
seconds_to_end <- 30

# A child that R forked has its parent's state, but not its profiler.
running <- function() !is.null(state$running) && state$running$pid == Sys.getpid()

xrprof_start <- function(file = NULL, freq = 999, lines = TRUE, gc = .Platform$OS.type != "windows",
                         format = "rprof", engine = NULL, clock = NULL,
                         sudo = getOption("xrprof.sudo", FALSE), args = character()) {
    if (running())
        stop("a profile is already being taken, into ", state$running$file,
             ": xrprof_stop() ends it", call. = FALSE)
    program <- xrprof_path()
    base <- absolute(tempfile("xrprof-"))
    files <- list(base = base, err = paste0(base, ".err"), end = paste0(base, ".end"),
                  ready = paste0(base, ".ready"), stats = paste0(base, ".json"))
    file <- if (is.null(file)) paste0(base, ending(format)) else absolute(path.expand(file))
    args <- c("-p", Sys.getpid(), "-F", format(freq, scientific = FALSE), "-f", format,
              if (lines) "--lines", if (gc) "--gc",
              if (!is.null(engine)) c("-e", engine), if (!is.null(clock)) c("--clock", clock),
              args, "-o", file, "--stats", files$stats, "--ready", files$ready, "--until-eof")
    state$running <- list(pid = Sys.getpid(), file = file, format = format, freq = freq,
                          lines = lines, files = files,
                          command = paste(c(program, args), collapse = " "), began = proc.time()[["elapsed"]])
    state$running$input <- pipe(program_command(program, args, files, sudo), "w")
    started <- FALSE
    on.exit(if (!started) abandon())
    end <- proc.time()[["elapsed"]] + seconds_to_start
    while (!whole(files$ready)) {
        if (file.exists(files$end))
            program_failed("the profiler did not start", said(files))
        if (proc.time()[["elapsed"]] > end)
            stop("the profiler was not ready after ", seconds_to_start, " seconds", call. = FALSE)
        Sys.sleep(0.005)
    }
    state$running$profiler <- as.integer(readLines(files$ready, n = 1L))
    started <- TRUE
    invisible(file)
}

# What is profiled may call setwd().
absolute <- function(file)
    if (grepl("^(/|[A-Za-z]:|[\\\\])", file)) file else file.path(getwd(), file)

ending <- function(format)
    switch(format, flamegraph = ".html", pprof = ".pb.gz", speedscope = ".speedscope.json",
           folded = ".folded", ".out")

# Is there a line in it?
whole <- function(file) {
    size <- file.size(file)
    !is.na(size) && size > 0 && grepl("\n", readChar(file, size, useBytes = TRUE), fixed = TRUE)
}

# End the profiler, wait for that, and forget it. The exit status; NA: it did not end by itself.
end_profiler <- function(p) suspendInterrupts({
    # it may have ended before
    try({
        writeLines("", p$input)
        flush(p$input)
    }, silent = TRUE)
    end <- proc.time()[["elapsed"]] + seconds_to_end
    forced <- 0L
    while (!file.exists(p$files$end) && forced < 2L) {
        Sys.sleep(0.005)
        if (proc.time()[["elapsed"]] < end)
            next
        if (is.null(p$profiler))
            break
        tools::pskill(p$profiler, if (forced) tools::SIGKILL else tools::SIGTERM)
        forced <- forced + 1L
        end <- proc.time()[["elapsed"]] + seconds_to_end
    }
    ended <- file.exists(p$files$end)
    # close() waits for the end, too
    if (ended)
        suppressWarnings(try(close(p$input), silent = TRUE))
    if (ended) as.integer(readLines(p$files$end, n = 1L)) else NA_integer_
})

abandon <- function() {
    p <- state$running
    state$running <- NULL
    if (!is.null(p$input))
        end_profiler(p)
    unlink(unlist(p$files[-1L]))
}

xrprof_stop <- function() {
    if (!running())
        stop("no profile is being taken: xrprof_start() starts one", call. = FALSE)
    p <- state$running
    state$running <- NULL
    early <- file.exists(p$files$end)
    status <- end_profiler(p)
    notes <- said(p$files)
    on.exit(unlink(unlist(p$files[-1L])))
    size <- file.size(p$file)
    if (is.na(status) || status != 0L || is.na(size)) {
        if (is.na(size) || size == 0)
            program_failed("the profiler failed", notes)
        warning("the profile is incomplete: ",
                if (length(notes)) notes[[length(notes)]] else "the profiler was killed",
                call. = FALSE)
    } else if (early) {
        warning("the profiler ended before it was stopped: ",
                if (length(notes)) notes[[length(notes)]] else "it printed no message", call. = FALSE)
    }
    if (p$format == "rprof")
        change_lines(p$file, drop_own)
    state$last <- new_profile(p, notes)
    state$last
}

xrprof_last <- function() state$last

xrprof <- function(expr, freq = 999, lines = TRUE, show = c("html", "profvis", "none"),
                   file = NULL, ...) {
    # a script or a document shows no window
    show <- if (missing(show) && !watched()) "none" else match.arg(show)
    if (show == "profvis" && !requireNamespace("profvis", quietly = TRUE))
        stop("show = \"profvis\" needs the package profvis", call. = FALSE)
    format <- "rprof"
    if (show == "html") {
        pages <- program_pages(xrprof_path())
        # one that reads no profiles writes the page itself
        if (pages == "record")
            format <- "flamegraph"
        if (pages == "none")
            show <- "none"
    }
    xrprof_start(file = file, freq = freq, lines = lines, format = format, ...)
    stopped <- FALSE
    # the error, or Ctrl-C, goes on, whatever becomes of the profile
    on.exit(if (!stopped && running())
        tryCatch({
            change_lines(xrprof_stop()$file, cut_callers)
            message("xrprof_last() returns the profile up to here")
        }, error = function(e) message(conditionMessage(e))))
    value <- expr
    # whatever becomes of the profile, the value is not lost
    failed <- function(e) {
        warning("no profile: ", conditionMessage(e), call. = FALSE)
        no_profile(format, freq, lines)
    }
    profile <- tryCatch({
        profile <- if (running()) xrprof_stop() else xrprof_last()
        if (profile$format == "rprof")
            change_lines(profile$file, cut_callers)
        profile
    }, error = failed)
    stopped <- TRUE
    profile["value"] <- list(value)
    state$last <- profile
    if (show != "none" && !is.na(profile$file))
        tryCatch(xrprof_show(profile, show),
                 error = function(e) warning("cannot show the profile: ", conditionMessage(e), call. = FALSE))
    profile
}

watched <- function() interactive() && is.null(getOption("knitr.in.progress"))

# The lines of a profile in the format rprof, changed; for a file that was written whole.
change_lines <- function(file, change) {
    lines <- readLines(file, warn = FALSE)
    writeLines(change(lines), file, useBytes = TRUE)
}

# The profile leaves out how long xrprof_start() and xrprof_stop() waited for the profiler.
drop_own <- function(lines) lines[!grepl("\"(xrprof::)?xrprof_(start|stop)\" ", lines, useBytes = TRUE)]

# Nor is what called xrprof(): a document's or a script's runner, say. Frames stand innermost first: the last of this
# name is ours.
cut_callers <- function(lines) sub("^(.*\"(xrprof::)?xrprof\" ).*$", "\\1", lines, useBytes = TRUE)
