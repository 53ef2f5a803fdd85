# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compare two profiles of one run, both in Rprof's format: what Rprof() wrote in the process, and what was written
# from outside.  Rscript compare.R ORACLE OURS KNOWN EXPECTED ROOT
#
# Only stacks that contain the function ROOT count: Rprof() was on for all of its time.
#
# - A stack on one side only: if both sides drew from the same distribution, each of its k samples fell on that side
#   with probability N/(N + M); it is a difference when the exact binomial probability of all k doing so is below
#   0.001, divided by the number of such stacks.
# - Shares: a chi-squared test of homogeneity at 0.001, after pooling the rarest stacks until every expected count is 5.
#   Samples of one run at fixed intervals vary less than independent ones, so the test errs to the safe side.
# - KNOWN: a file with all frame names there can be. EXPECTED: frame names that both sides must have.
#
# Prints one line per result: "PASS what" or "FAIL what: details".

options(warn = 1)
args <- commandArgs(trailingOnly = TRUE)
level <- 0.001

result <- function(good, what, details = NULL) {
    cat(if (good) "PASS " else "FAIL ", what, "\n", sep = "")
    if (!good) writeLines(paste("   ", head(details, 12)))
}

# Lines as they are, without the header; a name's quotes and blanks are kept.
read_stacks <- function(path) {
    lines <- readLines(path, encoding = "UTF-8", warn = FALSE)
    if (!length(lines) || !grepl("^sample\\.interval=[0-9]+$", lines[[1L]])) stop("no header in ", path)
    lines <- lines[-1L]
    whole <- grepl("^\".*\" $", lines)
    if (!all(whole)) stop("not a stack in ", path, ": ", lines[!whole][[1L]])
    lines
}

# Frames of a line, innermost first. Names may hold blanks and quotes: frames are parted by quote, blank, quote.
frames_of <- function(lines) strsplit(substr(lines, 2L, nchar(lines) - 2L), "\" \"", fixed = TRUE)

# R writes a quote within a symbol's name as it is; from outside it is written \x22, which breaks no reader. Take it
# back where the name is a known one.
unescape <- function(lines, known) {
    for (name in grep("\"", known, value = TRUE, fixed = TRUE)) {
        lines <- gsub(gsub("\"", "\\x22", name, fixed = TRUE), name, lines, fixed = TRUE)
    }
    lines
}

known <- readLines(args[[3L]], encoding = "UTF-8")
expected <- readLines(args[[4L]], encoding = "UTF-8")
root <- args[[5L]]

under_root <- function(lines) lines[vapply(frames_of(lines), function(f) root %in% f, NA)]
theirs <- under_root(read_stacks(args[[1L]]))
ours <- under_root(unescape(read_stacks(args[[2L]]), known))
n <- length(theirs)
m <- length(ours)
cat("INFO samples by Rprof ", n, ", from outside ", m, "\n", sep = "")
result(n >= 500 && m >= 500, "there are samples enough on both sides", sprintf("Rprof %d, outside %d", n, m))
if (!n || !m) quit(status = 1)

for (side in c("Rprof", "outside")) {
    frames <- frames_of(if (side == "Rprof") theirs else ours)
    names <- unique(unlist(frames))
    unknown <- setdiff(sub("^(base|compiler|methods|stats|utils):::?", "", names), known)
    result(!length(unknown), paste0(side, ": every name is one of the program's"), unknown)
    outermost <- unique(vapply(frames, function(f) f[[length(f)]], ""))
    result(identical(outermost, root), paste0(side, ": every stack is whole"), outermost)
}

stacks <- sort(unique(c(theirs, ours)))
names <- unique(unlist(frames_of(stacks)))
result(all(expected %in% names), "every form of name was seen", setdiff(expected, names))
a <- tabulate(match(theirs, stacks), length(stacks))
b <- tabulate(match(ours, stacks), length(stacks))
cat("INFO stacks on both sides ", sum(a & b), ", Rprof only ", sum(!b), ", outside only ", sum(!a), "\n", sep = "")

single <- which(!a | !b)
chance <- ifelse(b[single] == 0, (n / (n + m))^a[single], (m / (n + m))^b[single])
odd <- single[chance < level / max(1L, length(single))]
result(!length(odd), "the sets of stacks are equal", sprintf("Rprof %d, outside %d: %s", a[odd], b[odd], stacks[odd]))

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
result(ncol(cells) >= 10, "there are stacks enough to compare", ncol(cells))
test <- suppressWarnings(chisq.test(cells, correct = FALSE))
cat(sprintf("INFO chi-squared %.1f, %d degrees of freedom, p %.4f\n", test$statistic, test$parameter, test$p.value))
worst <- order(-colSums(test$residuals^2))
labels <- c(stacks[!pooled], if (any(pooled)) "(the rare ones)")
result(test$p.value >= level, "the shares of the stacks agree",
    sprintf("Rprof %d, outside %d: %s", cells[1L, worst], cells[2L, worst], labels[worst]))
