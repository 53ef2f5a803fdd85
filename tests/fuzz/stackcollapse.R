# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: Rscript stackcollapse.R runs=0 | runs=N | max_total_time=SECONDS
#
# tools/stackcollapse-Rprof.R on profiles that are made up: whole lines of a profiler with pieces of others in them, names full
# of what parts frames, bytes of any kind. libFuzzer knows nothing of R, so this makes the inputs itself, from a seed that it
# prints when something does not hold: each line that is a sample is counted once, and what is written is whole lines
# that act on nothing.

option <- strsplit(commandArgs(TRUE), "=", fixed = TRUE)[[1]]
runs <- if (option[1] == "runs") as.integer(option[2]) else .Machine$integer.max
if (!runs)
	runs <- 300L
end <- proc.time()[["elapsed"]] + if (option[1] == "runs") Inf else as.numeric(option[2])

# its functions, without the last line, which runs it
tool <- parse("tools/stackcollapse-Rprof.R", keep.source = FALSE)
for (e in tool[-length(tool)])
	eval(e, globalenv())
invisible(Sys.setlocale("LC_ALL", "C"))

pieces <- c("f", "a b", "x[[\"k\"]]", "[[", "s;t", "\"", "\"\"", "\" \"", " ", "1#2", "1#2 ", "#", "#File 1: a.R", "<GC>", "\"<GC>\" ",
	"99999999999#1", "1#-1", "\t", "\\", "\\x3b", "\\n", "\033[2J", "\302\233", "\342\200\256", "\377", "\303", "\001", ":1:2:3:4:",
	"(", ")", ":", "NA", "\r", "\177", "", strrep("n", 300))
any_of <- function(x, n = 1L) x[sample.int(length(x), n, replace = TRUE)]
name <- function() paste0(any_of(pieces, sample.int(3L, 1L)), collapse = "")
place <- function() any_of(c("", "", paste0(sample.int(4L, 1L), "#", sample.int(99L, 1L), " "), "7#1 "))
stack <- function() {
	frames <- vapply(seq_len(sample.int(6L, 1L) - 1L), function(i) paste0("\"", name(), "\" ", place()), "")
	paste0(any_of(c("", "", "\"<GC>\" ")), place(), paste0(frames, collapse = ""))
}
line <- function() switch(sample.int(6L, 1L), paste0("#File ", any_of(c("1", "2", "x", "0", "3000", "2000000000", "99999999999")), ": ", name()), name(),
			  paste0(":1:2:3:4:", stack()), stack(), stack(), stack())

# What the tool itself calls a sample.
samples <- function(line) {
	line <- line[!(startsWith(line, "#File ") & has("^#File [0-9]+: ", line))]
	counts <- startsWith(line, ":")
	if (any(counts))
		line[counts] <- sub_one("^(:[0-9]+){4}:", "", line[counts])
	else
		line <- line[nzchar(line)]
	sum(has("^(\"<GC>\" )?([0-9]+#-?[0-9]+ )?(\".*\" ([0-9]+#-?[0-9]+ )?)?$", line))
}

run <- function(seed) {
	set.seed(seed)
	lines <- vapply(seq_len(sample.int(30L, 1L)), function(i) gsub("\n", "", line(), fixed = TRUE), "")
	for (with_lines in c(FALSE, TRUE)) {
		got <- collapse(lines, with_lines)
		got$stack <- as.character(got$stack) # NULL: there is none
		stopifnot("each sample is counted once" = sum(got$count) == samples(lines),
			  "a stack for each count" = length(got$stack) == length(got$count) && !anyNA(got$stack),
			  "no control character" = !has("[\\x00-\\x1f\\x7f]|\\xc2[\\x80-\\x9f]", got$stack),
			  "UTF-8" = all(validUTF8(got$stack)))
	}
}

failed <- function(e) {
	cat("fuzz: seed ", seed, ": ", conditionMessage(e), "\n", sep = "")
	quit("no", status = 77)
}
base <- as.integer(Sys.time()) %% 1000000L
done <- 0L
while (done < runs && proc.time()[["elapsed"]] < end) {
	seed <- base + done
	# its messages about malformed lines do not matter here
	tryCatch(utils::capture.output(run(seed), type = "message"), error = failed, warning = failed)
	done <- done + 1L
}
cat("stat::number_of_executed_units: ", done, "\n", sep = "")
