# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The package as a script uses it. Prints checks without numbers; the caller numbers them.
# Arguments: FOLDER

library(xrprof)
folder <- commandArgs(trailingOnly = TRUE)[[1L]]

say <- function(good, ...) cat(if (isTRUE(good)) "pass" else "fail", ..., "\n")
failure <- function(expr) tryCatch({ expr; "no error" }, error = conditionMessage)
# its last warning is in `warned`
warned <- NULL
noting <- function(expr) withCallingHandlers(expr, warning = function(w) {
    warned <<- conditionMessage(w)
    invokeRestart("muffleWarning")
})

light <- function(n) sum(vapply(seq_len(n), function(i) i / 2, 0))
heavy <- function(n) {
    x <- 0
    for (i in seq_len(n)) x <- x + sqrt(i)
    x
}
# so that the compiler is not in the profile
for (i in 1:3) { light(10); heavy(10) }
work <- function() { light(1e3); for (k in 1:12) heavy(1e6) }

# --- an expression ---

p <- xrprof({ work(); "the value" })
say(inherits(p, "xrprof") && identical(p$value, "the value"), "xrprof() returns a profile, with the value")
say(p$samples >= 100, "it has samples:", p$samples)
# R's own reader has the last word
self <- summaryRprof(p$file)$by.self
say(rownames(self)[[1L]] == "\"heavy\"" && self$self.pct[[1L]] > 80, "the busy function dominates:", self$self.pct[[1L]], "% self")
say(identical(summary(p), summaryRprof(p$file, lines = "hide")), "summary() is that of summaryRprof()")
table <- as.data.frame(p)
# where all samples are in the busy function, all three have the same total
say(is.data.frame(table) && setequal(table[["function"]][1:3], c("xrprof", "work", "heavy")) &&
    table$total.time[table[["function"]] == "xrprof"] == max(table$total.time), "as.data.frame()")
printed <- capture.output(print(p))
say(any(grepl("^<xrprof> [0-9]+ samples in ", printed)) && any(grepl("heavy", printed)) && p$file %in% printed, "print()")
before <- xrprof_last()
say(identical(before$file, p$file), "xrprof_last() has it")

# --- the working directory changes, the profile is lost ---

home <- setwd(folder)
dir.create("sub")
p <- xrprof({ setwd("sub"); work(); "moved" }, file = "moved.out")
say(identical(p$value, "moved") && identical(p$file, normalizePath("../moved.out")) && p$samples >= 100,
    "a file with a relative name, and an expression that calls setwd()")
setwd(home)
p <- noting(xrprof({
    work()
    tools::pskill(xrprof:::state$running$profiler, tools::SIGKILL)
    unlink(xrprof:::state$running$file)
    "kept"
}))
say(identical(p$value, "kept") && grepl("no profile: the profiler failed", warned), "the value outlives the profile:", warned)
say(is.na(p$file) && !nrow(as.data.frame(p)) && identical(capture.output(print(p)), "<xrprof> no profile"), "which is not there")

# --- lines ---

code <- file.path(folder, "code.R")
writeLines(c("slow <- function(n) {", "    x <- 0", "    for (i in seq_len(n))", "        x <- x + sqrt(i)", "    x", "}"), code)
options(keep.source = TRUE)
source(code)
p <- xrprof(for (k in 1:12) slow(1e6), lines = TRUE)
lines <- summary(p, lines = "show")$by.self
say(startsWith(rownames(lines)[[1L]], "code.R#"), "lines = TRUE gives lines:", rownames(lines)[[1L]])

# --- an error in the expression ---

message <- failure(xrprof({ work(); stop("of my own") }))
say(identical(message, "of my own"), "an error in the expression goes on as it is")
say(!identical(xrprof_last()$file, p$file) && "heavy" %in% as.data.frame(xrprof_last())[["function"]],
    "the profile up to it is there")

# --- between two calls ---

file <- xrprof_start(file = file.path(folder, "mine.out"), freq = 499, lines = FALSE)
again <- failure(xrprof_start())
say(grepl("already being taken, into .*mine.out", again), "a second start is refused:", again)
work()
p <- xrprof_stop()
say(identical(p$file, normalizePath(file)) && rownames(summary(p)$by.self)[[1L]] == "\"heavy\"", "xrprof_start(), xrprof_stop()")
say(grepl("no profile is being taken", failure(xrprof_stop())), "a second stop is refused")

# A child of R's that lives longer holds nothing up.
xrprof_start()
system("sleep 300 & echo $! >>$XRPROF_SLEEPERS")
child <- parallel::mcparallel(Sys.sleep(300))
p <- xrprof_stop()
tools::pskill(child$pid)
say(inherits(p, "xrprof"), "children that run on hold nothing up")

# --- what is forked is in the profile ---

p <- xrprof(parallel::mclapply(1:2, function(i) for (k in 1:6) heavy(1e6), mc.cores = 2))
say("heavy" %in% as.data.frame(p)[["function"]], "what R forks is profiled with it")

# --- waiting, by the wall clock ---

p <- xrprof({ Sys.sleep(0.3); work() }, clock = "wall", engine = "vmread")
names <- as.data.frame(p)[["function"]]
say(all(c("Sys.sleep", "heavy") %in% names) && !any(grepl("xrprof_st", names)), "clock = \"wall\" samples waiting, but not for the profiler")

# --- nothing to be seen ---

p <- xrprof(NULL, engine = "bpf")
printed <- capture.output(print(p))
say(p$samples > 0 || any(grepl("No samples", printed)), "an expression that takes no time")
say(is.data.frame(as.data.frame(p)), "its table")

# --- the profiler dies ---

xrprof_start()
work()
tools::pskill(xrprof:::state$running$profiler, tools::SIGKILL)
p <- noting(xrprof_stop())
say(grepl("incomplete", warned), "a profiler that was killed:", warned)
say(inherits(p, "xrprof") && nzchar(capture.output(print(p))[[1L]]), "what it wrote can be looked at")
p <- xrprof(work())
say(p$samples >= 100, "and the next one works")

# --- another R process, now ---

waits <- function(answer) Sys.sleep(300)
ready <- file.path(folder, "child.ready")
child <- parallel::mcparallel({
    file.create(ready)
    waits(42)
})
until <- function(state) while (!state()) Sys.sleep(0.01)
until(function() file.exists(ready))
until(function() any(grepl("^    waits", xrprof_dump(child$pid))))
d <- xrprof_dump(child$pid, calls = TRUE, locals = TRUE)
say(inherits(d, "xrprof_dump") && any(grepl("^    waits\\(42\\)", d)) && any(grepl("^ +answer ", d)),
    "xrprof_dump() has calls and variables")
say(identical(capture.output(print(d)), as.vector(unclass(d))), "it prints its lines")
json <- xrprof_dump(child$pid, args = "--json")
say(any(grepl("\"waits\"", json)), "args = \"--json\"")
d <- noting(xrprof_dump(c(child$pid, 999999999)))
say(any(grepl("^    waits", d)) && grepl("999999999", warned), "a process that cannot be read is a warning:", warned)
tools::pskill(child$pid)
say(grepl("^no stack: .*999999999", failure(xrprof_dump(999999999))), "an error if it is the only one")
say(grepl("pid is the number", failure(xrprof_dump("x"))), "text in place of a pid")

# --- what cannot be ---

say(grepl("cannot write to .*no/such", failure(xrprof_start(file = file.path(folder, "no/such")))), "a file that cannot be written")
say(grepl("no such engine", failure(xrprof_start(engine = "nonsense"))), "an engine that there is not")
options(xrprof.path = file.path(folder, "nothing"))
say(grepl("no program .*/nothing: options\\(xrprof.path =\\) names it", failure(xrprof(1))), "no program where the option says")
options(xrprof.path = NULL)
program <- Sys.getenv("XRPROF_BPF")
Sys.setenv(XRPROF_BPF = file.path(folder, "nothing"))
say(grepl("no program .*/nothing: the environment variable XRPROF_BPF", failure(xrprof(1))), "nor where the variable says")
Sys.unsetenv("XRPROF_BPF")
say(grepl("xrprof-bpf was not found: install it, or set its path by options", failure(xrprof(1))), "nor on the PATH")
path <- Sys.getenv("PATH")
Sys.setenv(PATH = paste0(dirname(program), ":", path))
say(identical(xrprof_path(), normalizePath(program)), "on the PATH it is found")

# --- sudo: the first in the PATH, which does as sudo does ---

fake <- file.path(folder, "bin")
dir.create(fake)
writeLines(c("#!/bin/sh", "[ \"$1 $2\" = '-n --' ] || exit 9", "shift 2", "echo sudo >>\"$XRPROF_SUDO\"", "exec \"$@\""), file.path(fake, "sudo"))
Sys.chmod(file.path(fake, "sudo"), "0755")
Sys.setenv(PATH = paste0(fake, ":", Sys.getenv("PATH")), XRPROF_SUDO = file.path(folder, "sudo.log"))
p <- xrprof(work(), sudo = TRUE)
say(identical(readLines(file.path(folder, "sudo.log")), "sudo") && p$samples >= 100, "sudo = TRUE")
writeLines(c("#!/bin/sh", "echo 'sudo: a password is required' >&2", "exit 1"), file.path(fake, "sudo"))
say(grepl("a password is required\nsudo asks for a password: run `sudo -v`", failure(xrprof(work(), sudo = TRUE))), "sudo that asks for a password")

# --- shown ---

seen <- character()
options(viewer = function(url, ...) seen <<- c(seen, url))
# profvis asks for a browser even where there is a viewer
options(browser = function(url, ...) seen <<- c(seen, url))
p <- xrprof(work(), show = "profvis")
say(length(seen) == 1L && any(grepl("heavy", readLines(sub("^file://", "", seen), warn = FALSE))), "show = \"profvis\"")
seen <- character()
p <- xrprof(work(), show = "html")
say(length(seen) == 1L && any(grepl("heavy", readLines(seen, warn = FALSE))), "show = \"html\"")
page <- file.path(folder, "page.html")
xrprof_html(p, page)
say(any(grepl("heavy", readLines(page, warn = FALSE))), "xrprof_html()")
seen <- character()
plot(p)
say(length(seen) == 1L, "plot()")

say(nrow(showConnections()) == 0L, "no connection is left open")
left <- setdiff(list.files(tempdir(), "^xrprof-"), basename(c(p$file, list.files(tempdir(), "[.](out|html)$"))))
say(length(left) == 0L, "no file is left but profiles and pages", left)
cat("end\n")
