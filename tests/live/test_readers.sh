#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: output
# timeout: 200
#
# Readers of Rprof.out read ours: summaryRprof() and profvis.
# else: ptrace vmread
. "$(dirname "$0")/../lib/live.sh"

target_start host work 600 exit
target_go
# CPU time: where a program that waits for a CPU waits says more of the machine than of the program.
prof_start "$WORK/Rprof.out" --clock cpu -F 499 -d 2 -p "$TARGET_PID"
prof_wait
is "$PROF_STATUS" 0 "exit status 0"
check_rprof "$WORK/Rprof.out" "Rprof.out"

check "summaryRprof() reads it" Rscript --vanilla - "$WORK/Rprof.out" <<-'R'
	path <- commandArgs(TRUE)
	s <- summaryRprof(path)
	n <- length(readLines(path)) - 1
	stopifnot(isTRUE(all.equal(s$sample.interval, 1 / 499, tolerance = 1e-3)),
	    isTRUE(all.equal(s$sampling.time, n * s$sample.interval, tolerance = 1e-2)),
	    c("\"inner\"", "\"middle\"", "\"outer_most\"") %in% rownames(s$by.total),
	    s$by.total["\"outer_most\"", "total.pct"] > 90,
	    # from outside, on a busy machine, a program is often found where it may lose its CPU: in its system calls
	    s$by.self["\"inner\"", "self.pct"] > 20)
R
part_needs "profvis reads it" r-package profvis && check "profvis reads it" Rscript --vanilla - "$WORK/Rprof.out" <<-'R'
	v <- profvis::profvis(prof_input = commandArgs(TRUE))
	prof <- v$x$message$prof
	stopifnot(inherits(v, "htmlwidget"), length(prof$label) > 100,
	    c("inner", "middle", "outer_most") %in% prof$label,
	    max(unlist(prof$depth)) >= 3)
R
target_start host lines_hot
prof -F 499 -d 2 -l -o "$WORK/lines.out" -p "$TARGET_PID" 2>"$WORK/lines.err"
check "summaryRprof() reads the lines" Rscript --vanilla - "$WORK/lines.out" <<-'R'
	path <- commandArgs(TRUE)
	stopifnot("hot.R#5" %in% rownames(summaryRprof(path, lines = "show")$by.line),
	    c("\"hot\"", "hot.R#10") %in% rownames(summaryRprof(path, lines = "both")$by.total))
R
done_testing
