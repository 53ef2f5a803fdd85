# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compare two profiles of one run, both in Rprof's format: what Rprof() wrote in the process, and what was written
# from outside.  Rscript compare.R ORACLE OURS KNOWN EXPECTED ROOT
#
# Only stacks that contain the function ROOT count: Rprof() was on for all of its time.  With source lines, files are
# compared by their names, and besides whole stacks the places are: the innermost location and function, and each
# function with where it was called from.
#
# - A stack on one side only: if both sides drew from the same distribution, each of its k samples fell on that side
#   with probability N/(N + M); it is a difference when the exact binomial probability of all k doing so is below
#   0.001, divided by the number of such stacks.
# - Shares: a chi-squared test of homogeneity at 0.001, after pooling the rarest stacks until every expected count is 5.
#   Samples of one run at fixed intervals vary less than independent ones, so the test errs to the safe side.
# - KNOWN: a file with all frame names there can be. EXPECTED: frame names that both sides must have. "-": not checked.
#
# Prints one line per result: "PASS what" or "FAIL what: details".

options(warn = 1)
args <- commandArgs(trailingOnly = TRUE)
level <- 0.001

result <- function(good, what, details = NULL) {
    cat(if (good) "PASS " else "FAIL ", what, "\n", sep = "")
    if (!good) writeLines(paste("   ", head(details, 12)))
}

# A profile: its header, and its stacks as they are; a name's quotes and blanks are kept, and for the number of a file
# there is its name.
read_stacks <- function(path) {
    lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
    if (!length(lines) || !grepl("^(GC profiling: )?(line profiling: )?sample\\.interval=[0-9]+$", lines[[1L]]))
        stop("no header in ", path)
    header <- sub("sample.*", "", lines[[1L]])
    lines <- lines[-1L]
    is_file <- grepl("^#File [0-9]+: ", lines)
    number <- as.integer(sub("^#File ([0-9]+): .*", "\\1", lines[is_file]))
    name <- sub("^#File [0-9]+: ", "", lines[is_file])
    if (!identical(number, seq_along(number))) stop("files are not numbered one by one in ", path)
    if (anyDuplicated(name)) stop("a file has two numbers in ", path)
    at <- cumsum(is_file)[!is_file]
    lines <- lines[!is_file]
    whole <- if (grepl("line", header)) grepl("^([0-9]+#-?[0-9]+ )?(\".*\" ([0-9]+#-?[0-9]+ )?)*$", lines) else
        grepl("^\".*\" $", lines)
    if (!all(whole)) stop("not a stack in ", path, ": ", lines[!whole][[1L]])
    if (any(is_file)) {
        found <- gregexpr("(?<=^|\" )[0-9]+(?=#-?[0-9]+ )", lines, perl = TRUE)
        used <- regmatches(lines, found)
        known <- mapply(function(n, limit) all(as.integer(n) <= limit), used, at)
        if (!all(known)) stop("a file is used before its line in ", path, ": ", lines[!known][[1L]])
        regmatches(lines, found) <- lapply(used, function(n) name[as.integer(n)])
    }
    structure(lines, header = header)
}

# Frames of a line, innermost first. Names may hold blanks and quotes: frames are parted by quote, blank, quote, or a
# location.
frames_of <- function(lines) {
    if (!with_lines) return(strsplit(substr(lines, 2L, nchar(lines) - 2L), "\" \"", fixed = TRUE))
    lapply(parts_of(lines), function(parts) {
        sub("^\"(.*)\"$", "\\1", grep("^\"", parts, value = TRUE))
    })
}
# Names in their quotes, and locations.
parts_of <- function(lines) strsplit(gsub("\" (?=[^\"]*#-?[0-9]+ )", "\"\001",
    gsub("(#-?[0-9]+) (?=\"|$)", "\\1\001", gsub("\" (?=\"|$)", "\"\001", lines, perl = TRUE), perl = TRUE), perl = TRUE), "\001", fixed = TRUE)

# R writes a quote within a symbol's name as it is; from outside it is written \x22, which breaks no reader. Take it
# back where the name is a known one.
unescape <- function(lines, known) {
    for (name in grep("\"", known, value = TRUE, fixed = TRUE)) {
        lines <- gsub(gsub("\"", "\\x22", name, fixed = TRUE), name, lines, fixed = TRUE)
    }
    lines
}

list_in <- function(path) if (path == "-") character() else readLines(path, encoding = "UTF-8")
known <- list_in(args[[3L]])
expected <- list_in(args[[4L]])
root <- args[[5L]]

oracle <- read_stacks(args[[1L]])
outside <- read_stacks(args[[2L]])
result(identical(attr(oracle, "header"), attr(outside, "header")), "the headers are equal",
    c(attr(oracle, "header"), attr(outside, "header")))
with_lines <- grepl("line", attr(oracle, "header"))
under_root <- function(lines) lines[vapply(frames_of(lines), function(f) root %in% f, NA)]
theirs <- under_root(oracle)
ours <- under_root(unescape(outside, known))
n <- length(theirs)
m <- length(ours)
cat("INFO samples by Rprof ", n, ", from outside ", m, "\n", sep = "")
result(n >= 500 && m >= 500, "there are samples enough on both sides", sprintf("Rprof %d, outside %d", n, m))
if (!n || !m) quit(status = 1)

for (side in c("Rprof", "outside")) {
    frames <- frames_of(if (side == "Rprof") theirs else ours)
    names <- unique(unlist(frames))
    if (length(known)) {
        unknown <- setdiff(sub("^(base|compiler|methods|stats|utils):::?", "", names), known)
        result(!length(unknown), paste0(side, ": every name is one of the program's"), unknown)
    }
    outermost <- unique(vapply(frames, function(f) f[[length(f)]], ""))
    result(identical(outermost, root), paste0(side, ": every stack is whole"), outermost)
}
names <- unique(unlist(frames_of(unique(c(theirs, ours)))))
if (length(expected))
    result(all(expected %in% names), "every form of name was seen", setdiff(expected, names))

# Compare two vectors of labels, one element a sample.
compare <- function(theirs, ours, what) {
    n <- length(theirs)
    m <- length(ours)
    labels <- sort(unique(c(theirs, ours)))
    a <- tabulate(match(theirs, labels), length(labels))
    b <- tabulate(match(ours, labels), length(labels))
    cat("INFO ", what, " on both sides ", sum(a & b), ", Rprof only ", sum(!b), ", outside only ", sum(!a), "\n", sep = "")

    single <- which(!a | !b)
    chance <- ifelse(b[single] == 0, (n / (n + m))^a[single], (m / (n + m))^b[single])
    odd <- single[chance < level / max(1L, length(single))]
    result(!length(odd), paste("the sets of", what, "are equal"),
        sprintf("Rprof %d, outside %d: %s", a[odd], b[odd], labels[odd]))

    # Pool the rarest until the smaller expected count of a cell is 5.
    share <- min(n, m) / (n + m)
    rare <- (a + b) * share < 5
    order_rare <- order(a + b)
    pooled <- rare
    while (any(pooled) && sum((a + b)[pooled]) * share < 5 && !all(pooled)) {
        pooled[order_rare[!pooled[order_rare]][[1L]]] <- TRUE
    }
    cells <- rbind(a[!pooled], b[!pooled])
    if (any(pooled)) cells <- cbind(cells, c(sum(a[pooled]), sum(b[pooled])))
    result(ncol(cells) >= 10, paste("there are", what, "enough to compare"), ncol(cells))
    test <- suppressWarnings(chisq.test(cells, correct = FALSE))
    cat(sprintf("INFO %s: chi-squared %.1f, %d degrees of freedom, p %.4f\n", what, test$statistic, test$parameter,
        test$p.value))
    worst <- order(-colSums(test$residuals^2))
    labels <- c(labels[!pooled], if (any(pooled)) "(the rare ones)")
    result(test$p.value >= level, paste("the shares of the", what, "agree"),
        sprintf("Rprof %d, outside %d: %s", cells[1L, worst], cells[2L, worst], labels[worst]))
}
compare(theirs, ours, "stacks")
if (with_lines) {
    # the innermost location, if any, and the innermost function
    innermost <- function(lines) {
        vapply(parts_of(lines), function(p) paste(p[seq_len(1L + !startsWith(p[[1L]], "\""))], collapse = " "), "")
    }
    compare(innermost(theirs), innermost(ours), "innermost places")
    # the function, where it was called from, and from which function; all of a stack depend on one another: sets only
    calls <- function(lines) {
        stacks <- unique(lines)
        found <- lapply(parts_of(stacks), function(p) {
            at <- which(startsWith(p, "\""))
            place <- ifelse(startsWith(c(p, "\"")[at + 1L], "\""), "", c(p, "")[at + 1L])
            unique(paste(p[at], place, c(p[at][-1L], "")))
        })
        table(rep(unlist(found), rep(tabulate(match(lines, stacks)), lengths(found))))
    }
    a <- calls(theirs)
    b <- calls(ours)
    single <- c(setdiff(names(a), names(b)), setdiff(names(b), names(a)))
    times <- ifelse(single %in% names(a), a[single], b[single])
    chance <- ifelse(single %in% names(a), n / (n + m), m / (n + m))^times
    odd <- single[chance < level / max(1L, length(single))]
    cat("INFO calls on both sides ", sum(names(a) %in% names(b)), ", Rprof only ", sum(!names(a) %in% names(b)),
        ", outside only ", sum(!names(b) %in% names(a)), "\n", sep = "")
    result(!length(odd), "the sets of calls are equal", odd)
}
