# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A profile as a page: in the viewer or browser, in profvis, in a document.

# The page, made once.
xrprof_html <- function(x, file = tempfile("xrprof-", fileext = ".html")) {
    if (x$format == "flamegraph") {
        if (!missing(file) && !file.copy(x$file, file, overwrite = TRUE))
            stop("cannot write ", file, call. = FALSE)
        return(invisible(if (missing(file)) x$file else file))
    }
    said <- program_run(xrprof_path(), c("report", "-f", "flamegraph", "-o", path.expand(file), x$file))
    if (attr(said, "status") != 0L)
        program_failed("the page was not written", sub("^xrprof(-bpf)?: ", "", said))
    invisible(file)
}

xrprof_show <- function(x, how = c("html", "profvis")) {
    how <- match.arg(how)
    if (how == "profvis") {
        if (!requireNamespace("profvis", quietly = TRUE))
            stop("the package profvis is not installed", call. = FALSE)
        print(profvis::profvis(prof_input = x$file), view = TRUE)
        return(invisible(x))
    }
    page <- xrprof_html(x)
    viewer <- getOption("viewer")
    tryCatch(if (is.function(viewer)) viewer(page) else utils::browseURL(page),
             error = function(e) message("cannot open a browser (", conditionMessage(e), "): ", page))
    invisible(x)
}

plot.xrprof <- function(x, ...) xrprof_show(x, ...)

# In a document in HTML the page itself, elsewhere a table.
knit_print.xrprof <- function(x, ..., n = 10L) {
    page <- if (knitr::is_html_output(excludes = "markdown")) tryCatch(xrprof_html(x), error = function(e) NULL)
    if (!is.null(page)) {
        text <- paste(readLines(page, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
        text <- gsub("\"", "&quot;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE)
        return(knitr::asis_output(paste0(
            "<iframe title=\"Profile\" style=\"width:100%;height:36em;border:1px solid #888\" srcdoc=\"",
            text, "\"></iframe>")))
    }
    table <- paste(knitr::kable(utils::head(as.data.frame(x), n), row.names = FALSE), collapse = "\n")
    knitr::asis_output(paste0("\n", format(x), "\n\n", table, "\n"))
}
