# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Stands in calls of many kinds, and in a function with variables of every type, and writes what R has of them: `calls`, the code
# of each call of sys.calls(), the innermost first, in one line; `locals`, NAME TYPE LENGTH and the line that str() shows,
# with tabs between them. Arguments: FOLDER.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))

# What deparse() writes, in one line: a line that R breaks ends with a space, others are statements of a block.
one_line <- function(call) {
    lines <- deparse(call, width.cutoff = 500L)
    out <- trimws(lines[[1L]], "left")
    for (line in trimws(lines[-1L], "left")) {
        between <- if (grepl(" $", out)) "" else if (grepl("[{]$", out) || grepl("^([}]|else)", line)) " " else "; "
        out <- paste0(out, between, line)
    }
    sub(" $", "", out)
}

# --- code: none of it is evaluated, for no argument of probe() is ---

texts <- c("a + b * c", "(a + b) * c", "a - (b - c)", "-a^2", "(-a)^2", "!a && b || c", "!(a && b)", "a %in% b", "a %o% b %o% c",
    "a %% b", "a %/% b", "a %*% b", "x[1]", "x[[\"k\"]]", "x[, 1, drop = FALSE]", "x[[1]][[2]]", "x$a$b", "x$`odd name`", "x@slot",
    "x[[i]] <- v", "names(x)[2] <- \"b\"", "x$a <- 1", "a <<- b", "`my var` + 1", "`if`(a, b)", "y ~ x + z", "~x", "y ~ .",
    "function(x) x + 1", "function(x, y = 2, ...) { x; y }", "\\(x) x^2", "if (a) b", "if (a) b else c", "if (a) { b } else { c }",
    "for (i in 1:10) print(i)", "while (TRUE) break", "repeat { next }", "{ }", "{ a; b }", "f()", "f(,)", "f(x = , y)",
    "stats::sd(x)", "stats:::sd(x)", "f(g)(h)", "(function(x) x)(1)", "(a + b)(c)", "x$f(1)", "x[[1]](2)", "\"a\\nb\\t\\\"c\\\\\"",
    "'single'", "\"\u00e9\u4e2d\U1F600\"", "1L", "1e5", "100000L", "1e-10", "0.1", "123456789", "1e15", "123456.789", "1i", "TRUE", "NULL",
    "NA", "NA_character_", "NA_integer_", "NA_real_", "Inf", "-Inf", "NaN", "0x10", "1e300", "3.14159265358979", "5 -> a", "a = 5",
    "f((a = 5))", "a == b", "(a == b) == c", "a:b", "(a:b):c", "a:(b + 1)", "2^3^4", "(2^3)^4", "a / b / c", "a / (b / c)", "-1", "+a",
    "- -a", "a - -b", "quote(f(x))", "f(a, b, \"c\", d = e)", "f(...)", "..1", "x |> f()", "if (a) if (b) c else d",
    "function() NULL", "f(`a b` = 1)", "f(\"a b\" = 1)", "x[-1]", "x[!y]", "!x[1]", "-x$a", "(if (a) b else c) + 1", "?help",
    "a := b", "`%x%`(1)", "`[`(x, 1)", "`[[<-`(x, 1, value = 2)", "`+`(a)", "`+`(a, b, c)", "`-`(1)", "f(function(x) { x }, 2)",
    "switch(a, b = , c = 1, 2)", "tryCatch(f(), error = function(e) NULL, finally = g())", "x[a < b & c > d, ]", "a & (b | c)",
    "{ if (a) b else c; d }", "{ if (a) b; d }", "{ for (i in x) { y } }", "{ x <- function(a) { a }; x }", "return(x)", "f(NULL)",
    "\"\\u00e9\"", "\"\\001\"", "list(a = 1, b = list(c = 2))", "a$b[[\"c\"]]$d", "(a)", "((a))", "f(-1)", "-f(1)", "!f(1)", "a && !b")
exprs <- lapply(texts, function(text) tryCatch(parse(text = text, keep.source = FALSE)[[1L]], error = function(e) NULL))
exprs <- Filter(function(e) !is.null(e), exprs)

# And the code of R's own functions: every statement that is not too long.
statements <- function(e, found = list()) {
    if (is.call(e)) {
        if (identical(e[[1L]], quote(`{`))) for (s in as.list(e)[-1L]) found[[length(found) + 1L]] <- s
        for (part in as.list(e)) if (!missing(part) && is.call(part)) found <- statements(part, found)
    }
    found
}
for (name in c("lm", "aggregate.data.frame", "optim", "model.frame.default", "glm.fit", "nls", "reshape", "ave", "loess"))
    exprs <- c(exprs, Filter(is.call, statements(body(get(name, asNamespace("stats"))))))
for (name in c("merge.data.frame", "format.Date", "strsplit", "library", "apply", "sapply", "Reduce", "seq.default", "data.frame"))
    exprs <- c(exprs, Filter(is.call, statements(body(get(name, baseenv())))))
# R breaks a line after 500 characters and begins another where no statement ends
short <- function(e) all(nchar(deparse(e, width.cutoff = 500L)) < 400)
exprs <- exprs[vapply(exprs, short, NA)]
exprs <- exprs[seq_len(min(length(exprs), 600L))]

# Calls that no parser makes: without the parentheses that they need.  R 4.0 forgets some of these where it writes code.
operators <- c("+", "-", "*", "/", "^", "%%", "%/%", "%in%", "==", "<", "&", "||", ":", "~", "<-", "=", "$", "@", "::", "[", "[[", "f")
pairs <- list()
for (outer in operators) for (inner in operators) {
    call <- call(inner, quote(a), quote(b))
    pairs <- c(pairs, call(outer, call, quote(c)), call(outer, quote(c), call))
}
for (inner in operators) for (outer in c("-", "+", "!", "(", "f"))
    pairs <- c(pairs, call(outer, call(inner, quote(a), quote(b))), call(inner, call(outer, quote(a)), quote(b)), as.call(list(call(inner, quote(a), quote(b)), quote(c))))
pairs <- c(pairs, call("-", call("-", 1)), call("^", -1, 2), call("-", quote(if (a) b), 1), call("+", 1, quote(if (a) b)), call("!", quote(if (a) b)))
if (getRversion() < "4.1.0") pairs <- list()
pairs <- split(pairs, seq_along(pairs) %/% 12L)

values <- list(1:10, c(1, 2.5, NA), c(a = 1, b = 2), "text", c("a", NA), TRUE, c(TRUE, NA), list(1, "b"), list(a = 1L, b = list()), NULL,
    3+2i, as.raw(1:3), quote(x + y), as.name("odd name"), factor(c("u", "v")), as.Date("2026-01-02"), matrix(1:4, 2), 5L, c(3L, 5L),
    NA_integer_, NA_real_, NA_character_, numeric(0), character(0), c(NA, 1L), 1e-300, 1/3, 100, 1e5, 123456L, -1.5, c(1.123456789, 2),
    sum, "q\"\\\n", (1:400) / 7, rep(c("a b", "\u00e9"), 150L), strrep("long ", 300L), c(a = "b", `c d` = NA), seq(2L, 1000L, 3L),
    as.list(1:200), factor(rep(c("u", "v"), 200L)), list(quote(expr = ), quote(...)))

probe <- function(...) go_on()
`%probe%` <- function(a, b) go_on()
`odd probe` <- function(...) go_on()
holder <- list(probe = probe)
todo <- c(lapply(exprs, function(e) as.call(list(quote(probe), e))), lapply(values, function(v) as.call(list(quote(probe), v))),
    lapply(unname(pairs), function(some) as.call(c(quote(probe), some))),
    list(quote(a %probe% (b + c)), quote(`odd probe`(1, x = 2)), quote(holder$probe(3)), quote(holder[["probe"]](4)),
         quote((function(z) go_on())(5)), as.call(list(probe, 6))))
at <- 0L
go_on <- function() {
    at <<- at + 1L
    if (at <= length(todo)) eval(todo[[at]], globalenv()) else with_locals(41.5, second = c(1, 2, NA), "third"[[1L]])
}

# --- variables ---

setClass("Point", representation(x = "numeric"))
with_locals <- function(first, second, ..., never) {
    integer <- 5L; logical <- c(TRUE, NA, FALSE); real <- c(1.5, 100.25, NA, Inf); text <- c("a", NA, "q\"x"); none <- NULL
    complex <- 1+2i; raw <- as.raw(1:3); range <- 1:1000; reals <- as.numeric(2:9); big <- numeric(1e5); huge <- strrep("x", 1e6)
    matrix <- matrix(1:6, 2); factor <- factor(c("u", "v", "u")); frame <- data.frame(a = 1:3, b = letters[1:3]); list <- list(p = 1, 2)
    date <- as.Date("2026-01-02"); s4 <- new("Point", x = 1); code <- quote(x + y); name <- as.name("nm"); formula <- y ~ x
    latin <- "caf\xe9"; Encoding(latin) <- "latin1"; utf8 <- "caf\u00e9 \u4e2d"; empty <- character(0); fun <- function(p, q = 2) p
    builtin <- sum; environment <- new.env(); exprs <- expression(a, b + 1); sorted <- sort(c(3L, 1L, 2L)); strings <- as.character(1:20)
    pairs <- as.pairlist(list(a = 1)); scalar <- 0; for (scalar in 1:3) NULL; pointer <- methods::new("externalptr"); byte_code <- compiler::compile(quote(1 + 1))
    array <- array(1:24, 2:4); table <- table(c("u", "v")); time <- as.POSIXct("2026-01-02", tz = "UTC"); ordered <- factor("u", ordered = TRUE)
    special <- c(-0, 1e-300, NaN, -Inf); control <- "\u001b[31m\t\n\u202e"; emoji <- c("\U1F600", NA, ""); named <- c(a = 1L, b = 2L)
    nested <- list(list(1), NULL, function() 1); no_list <- list(); span <- 1:1e6; many <- rep(c("a b", "c"), 500L); keyword <- `if`
    logicals <- rep(NA, 100L); tiny <- c(123456789, 0.000012345, 1e5, 100000.5); ints <- c(NA, -1L, .Machine$integer.max)
    complexes <- c(NA, 1.5-2i); raws <- as.raw(0:255); bytes <- "caf\xe9"; Encoding(bytes) <- "bytes"; mat <- matrix(c("a", "b"), 1)
    delayedAssign("lazy", stop("forced"))
    makeActiveBinding("active", function() stop("run"), environment())
    first
    names <- setdiff(ls(), c("lazy", "active", "second", "never", "environment"))
    lines <- vapply(names, function(n) {
        x <- get(n)
        paste(n, typeof(x), length(x), trimws(utils::capture.output(utils::str(x, give.attr = FALSE))[[1L]]), sep = "\t")
    }, "")
    con <- file(file.path(folder, "locals"), "w", encoding = "UTF-8")
    writeLines(enc2utf8(lines), con, useBytes = TRUE)
    close(con)
    rm(names, lines, con)
    # rev: the innermost first, which is the call of this function
    calls <- vapply(rev(sys.calls()), function(call) enc2utf8(one_line(call)), "")
    con <- file(file.path(folder, "calls"), "w")
    writeLines(gsub("\n", "\\\\n", calls), con, useBytes = TRUE)
    close(con)
    rm(calls, con)
    ready()
    Sys.sleep(1000)
}
options(expressions = 50000)
go_on()
