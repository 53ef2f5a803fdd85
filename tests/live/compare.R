# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compare two profiles of one run, both in Rprof's format without source lines: what Rprof() wrote in
# the process, and what was written from outside.  Rscript compare.R ORACLE OURS KNOWN EXPECTED ROOT
#
# Only stacks that contain the function ROOT count: Rprof() was on for all of its time.
#
# A stack may be on one side only by chance: if both sides drew from the same distribution, each of its
# k samples fell on that side with probability N/(N + M). It is a difference if the probability of all k
# doing so is below 10^-6, divided by the number of such stacks. (Single samples are compared exactly by
# live:spin and live:stop.)
#
# KNOWN: a file with all frame names there can be. EXPECTED: frame names that must have
# been seen.
#
# Prints one line per result: "PASS what" or "FAIL what: details".

options(warn = 1)
args <- commandArgs(trailingOnly = TRUE)
level <- 1e-6

result <- function(good, what, details = NULL) {
    cat(if (good) "PASS " else "FAIL ", what, "\n", sep = "")
    if (!good) writeLines(paste("   ", utils::head(details, 12)))
}

read_stacks <- function(path) {
    lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
    if (!length(lines) || !grepl("^sample\\.interval=[0-9]+$", lines[[1L]])) stop("no header in ", path)
    lines <- lines[-1L]
    whole <- grepl("^\".*\" $", lines)
    if (!all(whole)) stop("not a stack in ", path, ": ", lines[!whole][[1L]])
    lines
}

# Frames of a line, innermost first. Names may hold blanks and quotes.
frames_of <- function(lines) strsplit(substr(lines, 2L, nchar(lines) - 2L), "\" \"", fixed = TRUE)

# R writes a quote within a symbol's name as it is; from outside it is written \x22, which breaks no
# reader. Take it back where the name is a known one.
unescape <- function(lines, known) {
    for (name in grep("\"", known, value = TRUE, fixed = TRUE))
        lines <- gsub(gsub("\"", "\\x22", name, fixed = TRUE), name, lines, fixed = TRUE)
    lines
}

known <- readLines(args[[3L]], encoding = "UTF-8")
expected <- readLines(args[[4L]], encoding = "UTF-8")
root <- args[[5L]]
under_root <- function(lines) lines[vapply(frames_of(lines), function(f) root %in% f, NA)]
sides <- list(Rprof = under_root(read_stacks(args[[1L]])), outside = under_root(unescape(read_stacks(args[[2L]]), known)))
total <- lengths(sides)
cat("INFO samples by Rprof ", total[[1L]], ", from outside ", total[[2L]], "\n", sep = "")
result(all(total >= 500), "there are samples enough on both sides", total)
if (!all(total)) quit(status = 1)

for (side in names(sides)) {
    frames <- frames_of(unique(sides[[side]]))
    names <- unique(unlist(frames))
    unknown <- setdiff(sub("^(base|compiler|methods|stats|utils):::?", "", names), known)
    result(!length(unknown), paste0(side, ": every name is one of the program's"), unknown)
    outermost <- unique(vapply(frames, function(f) f[[length(f)]], ""))
    result(identical(outermost, root), paste0(side, ": every stack is whole"), outermost)
}
names <- unique(unlist(frames_of(unique(unlist(sides)))))
result(all(expected %in% names), "every form of name was seen", setdiff(expected, names))

stacks <- sort(unique(unlist(sides)))
count <- vapply(sides, function(lines) tabulate(match(lines, stacks), length(stacks)), integer(length(stacks)))
single <- which(!count[, 1L] | !count[, 2L])
on <- ifelse(count[single, 1L] > 0L, 1L, 2L)
odd <- single[(total[on] / sum(total))^rowSums(count[single, , drop = FALSE]) < level / max(1L, length(single))]
cat("INFO stacks ", length(stacks), ", on one side only ", length(single), "\n", sep = "")
result(!length(odd), "the sets of stacks are equal",
    sprintf("Rprof %d, outside %d: %s", count[odd, 1L], count[odd, 2L], stacks[odd]))
