# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A profile that was taken: the file, and what the profiler counted.

# One field of --stats, which is one JSON object; those asked for are numbers or words at its top.
stat_of <- function(text, key) {
    pattern <- paste0("\"", key, "\": *(\"[^\"]*\"|[-+0-9.eE]+)")
    found <- regmatches(text, regexec(pattern, text))[[1L]]
    if (length(found)) gsub("\"", "", found[[2L]], fixed = TRUE) else NA_character_
}

new_profile <- function(p, notes) {
    text <- if (file.exists(p$files$stats)) paste(readLines(p$files$stats, warn = FALSE), collapse = "\n") else ""
    number <- function(key, otherwise = NA_real_) {
        value <- as.numeric(stat_of(text, key))
        if (is.na(value)) otherwise else value
    }
    structure(class = "xrprof",
              list(file = normalizePath(p$file), format = p$format, lines = p$lines,
                   command = p$command, freq = number("freq", p$freq),
                   seconds = number("seconds", proc.time()[["elapsed"]] - p$began),
                   engine = stat_of(text, "engine"), event = stat_of(text, "event"),
                   samples = if (p$format == "rprof") count_samples(p$file) else number("written"),
                   ticks = number("ticks"), lost = number("lost"), notes = notes[!grepl("^[0-9]+ samples?( of [0-9]+ processes)?( = .*)? in .*; [a-z0-9]+ lost", notes)],
                   value = NULL))
}

# In place of one that could not be taken, for the value of the expression.
no_profile <- function(format, freq, lines)
    structure(class = "xrprof",
              list(file = NA_character_, format = format, lines = lines, command = NA_character_,
                   freq = freq, seconds = NA_real_, engine = NA_character_, event = NA_character_,
                   samples = NA_real_, ticks = NA_real_, lost = NA_real_, notes = character(),
                   value = NULL))

# Lines that are neither the header nor the name of a source file.
count_samples <- function(file) sum(!startsWith(readLines(file, warn = FALSE)[-1L], "#File "))

format.xrprof <- function(x, ...) {
    if (is.na(x$file))
        return("no profile")
    sprintf("%s sample%s in %.2f s, %s a second (%s)", format(x$samples), if (isTRUE(x$samples == 1)) "" else "s", x$seconds,
            format(x$freq), if (is.na(x$engine)) "killed" else paste0(x$engine, ", ", x$event))
}

# Without samples summaryRprof() stops.
has_table <- function(x) x$format == "rprof" && !is.na(x$samples) && x$samples > 0

summary.xrprof <- function(object, lines = c("hide", "show", "both"), ...) {
    if (object$format != "rprof")
        stop("a summary needs a profile in the format rprof; this one is in ", object$format,
             call. = FALSE)
    if (is.na(object$file))
        stop("no profile: it could not be taken", call. = FALSE)
    if (!has_table(object))
        stop("no samples: R used no CPU time, or too little", call. = FALSE)
    utils::summaryRprof(object$file, lines = match.arg(lines), ...)
}

as.data.frame.xrprof <- function(x, row.names = NULL, optional = FALSE, ...) {
    empty <- data.frame(`function` = character(), total.time = numeric(), total.pct = numeric(),
                        self.time = numeric(), self.pct = numeric(), check.names = FALSE,
                        stringsAsFactors = FALSE)
    if (x$format == "rprof" && !has_table(x))
        return(empty)
    table <- summary(x)$by.total
    # summaryRprof() has the names between quotes, and between others where they have some
    name <- gsub("^\"|\"$", "", rownames(table))
    out <- data.frame(`function` = name, table, check.names = FALSE, stringsAsFactors = FALSE)
    rownames(out) <- row.names
    out[names(empty)]
}

print.xrprof <- function(x, n = 10L, ...) {
    cat("<xrprof> ", format(x), "\n", sep = "")
    if (is.na(x$file))
        return(invisible(x))
    if (x$format == "rprof" && !has_table(x)) {
        cat("No samples: R used no CPU time, or too little. freq = takes more samples,",
            "clock = \"wall\" samples waiting, too.\n")
    } else if (x$format == "rprof") {
        summed <- summary(x)
        cat("\nBy self:\n")
        print(utils::head(summed$by.self, n))
        cat("\nBy total:\n")
        print(utils::head(summed$by.total, n))
    }
    cat("\n", if (length(x$notes)) paste0("xrprof-bpf: ", x$notes, "\n"), x$file, "\n", sep = "")
    invisible(x)
}
