# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Are all stacks paths of the known call graph?  Rscript graph.R PROFILE EDGES
# PROFILE is folded (outermost first, joined by ";", then the count) with a process in front, or in Rprof's format.
# EDGES: "caller<TAB>callee" per line, the outermost frames with an empty caller. Every stack must begin at a root and
# follow edges to its innermost frame.
#
# Prints "samples N stacks M malformed K" and the malformed stacks, exit status 1 when there is one. Then what the
# check is worth: of stacks with one frame taken out, and with two neighbours swapped, how many it would refuse.

args <- commandArgs(trailingOnly = TRUE)
lines <- readLines(args[[1L]], encoding = "UTF-8")
edges <- readLines(args[[2L]], encoding = "UTF-8")
if (grepl("sample.interval=", lines[[1L]], fixed = TRUE)) {
    table <- table(lines[-1L])
    count <- as.numeric(table)
    stacks <- lapply(strsplit(gsub("^\"|\" $", "", names(table)), "\" \"", fixed = TRUE), rev)
} else {
    count <- as.numeric(sub(".* ", "", lines))
    stacks <- strsplit(sub(" [0-9]+$", "", lines), ";", fixed = TRUE)
    # several processes in one profile: "R-123;"
    stacks <- lapply(stacks, function(s) if (grepl("^R-[0-9]+$", s[[1L]])) s[-1L] else s)
    # the mark of the collector is not a function
    stacks <- lapply(stacks, function(s) if (s[[length(s)]] == "<GC>") s[-length(s)] else s)
    # the graph is of names: without the package, and the place of a definition
    nodes <- unique(sub(".*\t", "", edges))
    stacks <- lapply(stacks, function(s) {
        told <- !s %in% nodes
        s[told] <- sub(" \\{[^{}]*\\}$", "", sub("^[A-Za-z0-9.]+::", "", s[told]))
        s
    })
    empty <- vapply(stacks, function(s) length(s) == 0L || identical(s, "<toplevel>"), NA)
    stacks <- stacks[!empty]
    count <- count[!empty]
}

# a writer may write a stack more than once
keys <- vapply(stacks, paste, "", collapse = ";")
count <- as.vector(tapply(count, factor(keys, unique(keys)), sum))
stacks <- stacks[!duplicated(keys)]
keys <- unique(keys)

valid <- function(stacks) {
    pairs <- lapply(stacks, function(s) paste0(c("", s[-length(s)]), "\t", s))
    good <- unlist(pairs) %in% edges
    tapply(good, rep(seq_along(pairs), lengths(pairs)), all)
}
good <- valid(stacks)
cat("samples", sum(count), "stacks", length(stacks), "malformed", sum(count[!good]), "\n")
for (i in utils::head(which(!good)[order(-count[!good])], 10L)) cat("malformed:", count[[i]], keys[[i]], "\n")

set.seed(1)
long <- stacks[good & lengths(stacks) > 3L]
without <- lapply(long, function(s) s[-sample(length(s) - 1L, 1L)])
swapped <- lapply(long, function(s) {
    i <- sample(length(s) - 1L, 1L)
    s[c(i, i + 1L)] <- s[c(i + 1L, i)]
    s
})
# only what is no longer the same stack, or another real one
refused <- function(changed) {
    changed <- changed[!vapply(changed, paste, "", collapse = ";") %in% keys]
    if (!length(changed)) return(NA)
    100 * mean(!valid(changed))
}
cat(sprintf("refused of stacks with a frame missing %.0f %%, with two frames swapped %.0f %%\n", refused(without),
    refused(swapped)))
if (!all(good) || !length(stacks)) quit(status = 1)
