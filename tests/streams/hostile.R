# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions whose names are made to break formats and terminals, and whose file is named so. Arguments: FOLDER SECONDS

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])
invisible(compiler::enableJIT(0L))
bytes <- function(...) { x <- rawToChar(as.raw(c(...))); Encoding(x) <- "UTF-8"; x }
names <- c("new\nline", "tab\tand\rreturn", "quote\"d", "semi;colon", "back\\slash", "back\\n", "\\", "two words 7",
    "escape\033[31mred", "del\177", "<GC>", "<toplevel>", "a[[\"k\"]]", "\"", "gr\u00f6\u00dfe \u6570", "bidi\u202e\u0085",
    strrep("long", 1000L), "#File 1: x", "1#2")
file <- file.path(folder, "od;d \"file\"\n\\n.R")
writeLines("spin <- function(n) {\n    x <- 0\n    for (i in seq_len(n))\n        x <- x + sqrt(i)\n    x\n}", file)
source(file, keep.source = TRUE)
call_it <- function(f) eval(as.call(list(as.name(f), 3000L)))
for (n in names) assign(n, function(n) spin(n))
ready()
await("go")
end <- cpu_time() + seconds
while (cpu_time() < end) for (n in sample(names)) {
    call_it(n)
    a <- setNames(list(function(n) spin(n)), n)
    eval(substitute(a[[N]](3000L), list(N = n)))
    eval(substitute(a$N(3000L), list(N = as.name(n))))
}
done()
