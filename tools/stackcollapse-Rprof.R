#!/usr/bin/env Rscript
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Rprof.out to folded stacks, for flamegraph.pl and the like:
#
#	Rscript stackcollapse-Rprof.R [--lines] [Rprof.out] > folded
#
# Reads standard input when no file is named.  Takes what R's Rprof() writes, with or without
# source lines, GC marks and memory counts, appended to or not, and what xrprof-bpf writes.  The
# output is as `xrprof-bpf --format folded` writes it (src/output/folded.c): outermost first, `<GC>`
# innermost, `<toplevel>` for a sample without a function, what would break a line or act on a
# terminal escaped; equal stacks are added up and come in the order they were first seen.
#
# --lines: `fn (file:line)`, the line being executed in that frame.  Rprof() writes after a name
# where that function was called from; that place belongs to the frame outside of it.
#
# All work is done on whole vectors, and once for each different line.

CHUNK <- 20000L # different lines worked on at a time: bounds the memory
NOTHING <- "``" # a name, or a file's, that is empty

fail <- function(status, ...) {
	cat("stackcollapse-Rprof.R: ", ..., "\n", sep = "", file = stderr())
	quit("no", status = status)
}

# gsub on bytes: profiles are not always valid in the reader's encoding.
sub_all <- function(pattern, to, x) gsub(pattern, to, x, perl = TRUE, useBytes = TRUE)
sub_one <- function(pattern, to, x) sub(pattern, to, x, perl = TRUE, useBytes = TRUE)
has <- function(pattern, x) grepl(pattern, x, perl = TRUE, useBytes = TRUE)

# Text that neither breaks a line nor acts on a terminal, as escape__text() in src/base/escape.c has it.
# What is escaped already stays as it is.  Called with different strings only.
escape <- function(x, quotes = FALSE) {
	x <- gsub(";", "\\x3b", x, fixed = TRUE)
	x <- gsub("\t", "\\t", x, fixed = TRUE)
	x <- gsub("\r", "\\r", x, fixed = TRUE)
	if (quotes && any(i <- has("\"", x))) {
		# the quotes of a[["b"]] are R's own
		own <- i & has("^.+\\[\\[\".*\"\\]\\]$", x)
		x[own] <- sub_one("^(.+?\\[\\[)\"(.*)\"(\\]\\])$", "\\1\001\\2\001\\3", x[own])
		x <- gsub("\"", "\\x22", x, fixed = TRUE)
		x[own] <- gsub("\001", "\"", x[own], fixed = TRUE)
	}
	if (any(i <- has("[\\x01-\\x1f\\x7f]", x)))
		for (byte in c(1:31, 127))
			x[i] <- gsub(rawToChar(as.raw(byte)), sprintf("\\x%02x", byte), x[i], fixed = TRUE)
	if (any(i <- !validUTF8(x))) {
		y <- gsub("<", "\001", x[i], fixed = TRUE)
		y <- iconv(y, "UTF-8", "UTF-8", sub = "byte", mark = FALSE)
		y <- sub_all("<([0-9a-f]{2})>", "\\\\x\\1", y)
		x[i] <- gsub("\001", "<", y, fixed = TRUE)
	}
	if (any(i <- has("\\xc2[\\x80-\\x9f]", x)))
		for (byte in 0x80:0x9f)
			x[i] <- sub_all(sprintf("\\xc2\\x%02x", byte),
					sprintf("\\\\xc2\\\\x%02x", byte), x[i])
	# what turns the direction of writing, or ends a line (src/base/utf8.h)
	if (any(i <- has("\\xd8\\x9c|\\xe2\\x80[\\x8e\\x8f\\xa8-\\xae]|\\xe2\\x81[\\xa6-\\xa9]|\\xef\\xbb\\xbf", x)))
		for (acts in c("d89c", "e2808e", "e2808f", sprintf("e280%x", 0xa8:0xae),
			       sprintf("e281%x", 0xa6:0xa9), "efbbbf")) {
			acts <- substring(acts, seq(1, nchar(acts), 2), seq(2, nchar(acts), 2))
			x[i] <- gsub(rawToChar(as.raw(strtoi(acts, 16))),
				     paste0("\\x", acts, collapse = ""), x[i], fixed = TRUE,
				     useBytes = TRUE)
		}
	x
}

# "N#line" to " (file:line)", "" to "".
place_text <- function(place, files) {
	number <- sub_one("#.*", "", place)
	file <- unname(files[number])
	file[is.na(file)] <- paste0("#", number[is.na(file)])
	ifelse(nzchar(place), paste0(" (", file, ":", sub_one(".*#", "", place), ")"), "")
}

# The stacks of some lines, in the same order.  `files`: names by number, which is a string: it may be any.
stacks <- function(line, files) {
	gc <- startsWith(line, "\"<GC>\" ")
	line[gc] <- sub_one("^\"<GC>\" ", "", line[gc])

	# the place of the sample stands in front
	at <- has("^[0-9]+#", line)
	inner <- character(length(line))
	inner[at] <- sub_one(" .*", "", line[at])
	line[at] <- sub_one("^[^ ]* ", "", line[at])

	# a place after a name goes into its quotes, so that `" "` parts frames and nothing else
	at <- has("\" [0-9]+#", line)
	line[at] <- sub_all("\" ([0-9]+#-?[0-9]+) (?=\"|$)", "\001\\1\" ", line[at])
	line <- sub_one("^\"(.*)\" $", "\\1", line)
	frame <- strsplit(line, "\" \"", fixed = TRUE, useBytes = TRUE)
	depth <- lengths(frame)
	frame[depth == 0] <- "<toplevel>"
	depth[depth == 0] <- 1L
	frame <- unlist(frame)
	end <- cumsum(depth)
	start <- end - depth + 1L

	different <- unique(frame)
	frame <- match(frame, different)
	name <- escape(sub_one("\001[0-9]+#-?[0-9]+$", "", different), TRUE)
	name[!nzchar(name)] <- NOTHING
	# a frame was executing where the next one in was called from
	place <- character(length(frame))
	if (any(at) || any(nzchar(inner))) {
		place <- sub_one("^.*\001([0-9]+#-?[0-9]+)$|^.*$", "\\1", different)
		place <- place_text(place, files)[c(NA, frame[-length(frame)])]
		place[start] <- place_text(inner, files)
	}

	# outermost first, and all stacks of the chunk through one string
	outward <- rep(start + end, depth) - seq_along(frame)
	after <- rep(";", length(frame))
	after[end] <- "\n"
	text <- paste0(name[frame[outward]], place[outward], after, collapse = "")
	stack <- strsplit(text, "\n", fixed = TRUE, useBytes = TRUE)[[1]]
	paste0(stack, ifelse(gc, ";<GC>", ""))
}

# The stacks of one profile (a file that was appended to holds several) as a named count.
collapse <- function(line, with_lines) {
	is_file <- startsWith(line, "#File ") & has("^#File [0-9]+: ", line)
	file <- line[is_file]
	files <- escape(sub_one("^#File [0-9]+: ", "", file), TRUE)
	files[!nzchar(files)] <- NOTHING
	names(files) <- sub_one("^#File ([0-9]+):.*", "\\1", file)
	files <- files[!duplicated(names(files), fromLast = TRUE)]

	line <- line[!is_file]
	counts <- startsWith(line, ":")
	if (any(counts))
		line[counts] <- sub_one("^(:[0-9]+){4}:", "", line[counts])
	else
		line <- line[nzchar(line)]
	different <- unique(line)
	count <- tabulate(match(line, different), length(different))

	good <- has("^(\"<GC>\" )?([0-9]+#-?[0-9]+ )?(\".*\" ([0-9]+#-?[0-9]+ )?)?$", different)
	if (!all(good))
		cat("stackcollapse-Rprof.R: ", sum(count[!good]),
		    " lines are not a profile's and were left out\n", sep = "", file = stderr())
	different <- different[good]
	count <- count[good]

	if (!with_lines) {
		different <- sub_one("^(\"<GC>\" )?[0-9]+#-?[0-9]+ ", "\\1", different)
		different <- sub_all("\" [0-9]+#-?[0-9]+ (?=\"|$)", "\" ", different)
	}
	line <- unique(different)
	chunk <- (seq_along(line) - 1L) %/% CHUNK
	stack <- unlist(lapply(split(line, chunk), stacks, files), use.names = FALSE)
	list(stack = stack[match(different, line)], count = count)
}

main <- function(args) {
	usage <- "usage: Rscript stackcollapse-Rprof.R [--lines] [Rprof.out] > folded"
	with_lines <- "--lines" %in% args
	args <- args[args != "--lines"]
	if (length(args) > 1 || any(startsWith(args, "--")))
		fail(2, usage)
	# bytes are bytes: the profiled R may have had another encoding
	Sys.setlocale("LC_ALL", "C")
	path <- if (length(args) && args != "-") args else "stdin"
	input <- tryCatch(file(path, "rb"), warning = function(w) fail(1, conditionMessage(w)),
			  error = function(e) fail(1, conditionMessage(e)))
	line <- readLines(input, warn = FALSE, skipNul = TRUE)
	close(input)

	header <- Reduce(`|`, lapply(c("s", "l", "G", "m"), startsWith, x = line))
	header[header] <- has(paste0("^(memory profiling: )?(GC profiling: )?(line profiling: )?",
				     "sample\\.interval=[0-9]+$"), line[header])
	if (!length(line) || !header[1])
		fail(1, if (path == "stdin") "standard input" else path,
		     " is not a profile: its first line does not say sample.interval=")
	part <- lapply(split(line[!header], cumsum(header)[!header]), collapse, with_lines)
	stack <- unlist(lapply(part, `[[`, "stack"), use.names = FALSE)
	count <- unlist(lapply(part, `[[`, "count"), use.names = FALSE)
	if (!length(stack))
		return(invisible())
	different <- unique(stack)
	total <- rowsum(as.numeric(count), match(stack, different), reorder = TRUE)
	writeLines(paste0(different, sprintf(" %.0f", total[, 1])), useBytes = TRUE)
}

main(commandArgs(trailingOnly = TRUE))
