# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What this R is doing, for a profiler that reads it.

xrprof_label <- function(..., expr) {
    given <- list(...)
    keys <- names(given)
    if (length(given) && (is.null(keys) || !all(nzchar(keys))))
        stop("give each label a name: route = \"/predict\"", call. = FALSE)
    if (!all(lengths(given) == 1L))
        stop("a label is one value", call. = FALSE)
    labels <- vapply(given, as.character, "")
    old <- getOption("xrprof.labels")
    outer <- if (is.character(old) && !is.null(names(old))) old else character()
    all <- c(labels, outer[setdiff(names(outer), keys)])
    # of the option there is a cell as long as it is not NULL: that of an empty value stays
    options(xrprof.labels = if (length(all)) all else character())
    if (missing(expr))
        return(invisible(old))
    on.exit(options(xrprof.labels = if (is.null(old)) character() else old))
    expr
}
