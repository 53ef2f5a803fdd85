#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include bpf engine/remote target session
# also: ptrace
# images: static bullseye trixie sid
# timeout: 1800
#
# Source lines are those of R's own profiler: nearly a hundred snippets, each as it is and byte-compiled, with source
# references and without, run Rprof(line.profiling = TRUE) on themselves while they are profiled with --lines; both must
# have the same stacks with the same lines in the same shares. Then the same with filter.callframes. On this machine's
# R, on an R without libR.so, and on the R of other Debian releases.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/agree.sh"
. "$tests/lib/r_packages.sh"

places=${XRPROF_PLACES:-host static bullseye trixie sid}
seconds=${XRPROF_SECONDS:-12} # of the R program's CPU time; with filtered call frames two thirds of it

# packages_install PLACE: the packages of lines_package.R into $WORK/PLACE.
packages_install() {
	local exports='export(work, values)'
	package_install "$1" xrkept lines_package.R "$exports" --with-keep.source &&
		package_install "$1" xrdropped lines_package.R "$exports" --without-keep.source &&
		package_install "$1" xruncompiled lines_package.R "$exports" --with-keep.source --no-byte-compile
}

# lines_run PLACE MODE OPTION...: one run, which leaves TARGET_DIR/verdict.
lines_run() {
	local place=$1 mode=$2 time=$seconds
	shift 2
	[ "$mode" = lines ] || time=$((seconds * 2 / 3))
	target_start "$place" lines "$time" "$WORK/$place" "$mode"
	prof_start "$TARGET_DIR/ours.out" --max-sample-time 1000000 -F 997 --clock cpu "$@" -p "$TARGET_PID" || return 1
	target_go
	target_await_done 600 || return 1
	prof_wait
	timeout 120 Rscript --vanilla "$tests/live/compare.R" "$TARGET_DIR/oracle.out" "$PROF_OUT" - - window \
		>"$TARGET_DIR/verdict" 2>&1
}

summary_reads() {
	Rscript --vanilla - "$1" <<-'R'
		file <- commandArgs(TRUE)
		by_line <- summaryRprof(file, lines = "show")$by.line
		stopifnot(sum(grepl("^lines_corpus.R#[0-9]+$", rownames(by_line))) >= 20)
		both <- summaryRprof(file, lines = "both")$by.total
		stopifnot("\"spin\"" %in% rownames(both), any(grepl("lines_corpus.R#", rownames(both))))
	R
}

for place in $places; do
	check "$place: the packages are installed" packages_install "$place" || diag "$(tail -n 20 "$WORK/$place/log")"
	agree "$place" lines_run "$place" lines --lines
	[ "$place" != host ] || check "summaryRprof() reads the lines" summary_reads "$PROF_OUT"
	# spin() is an argument of tryCatch(): it is not called from there
	[ "$(grep -c '"spin" .*"doTryCatch"' "$PROF_OUT")" -ge 10 ]
	ok $? "$place: frames of lazy evaluation are there"
	agree "$place, filtered" lines_run "$place" filter --lines --filter-callframes
	is "$(grep -c '"spin" .*"doTryCatch"' "$PROF_OUT")" 0 "$place, filtered: and are left out"
done
done_testing
