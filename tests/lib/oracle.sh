# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154
#
# For the tests that hold each sample against the line that R's own profiler writes of the same moment (docs/internals/oracles.md).
# Source it after live.sh.

oracle_library=$WORK/spin.so
fixture "$oracle_library" spin.c -shared -fPIC
XRPROF=$BUILD/oracle-tap
[ -x "$XRPROF" ] || bail "$XRPROF is not there: run make unit-tests first"

# oracle_profile OUT OPTION...: start the profiler. Sets PROF_STATS and XRPROF_TIMES, which has the time of each sample.
oracle_profile() {
	export XRPROF_TIMES=${1%/}.times
	PROF_STATS=$1.stats
	prof_start "$@" --max-sample-time 1000000 # on a busy machine, too
}

# oracle_proven MODE: does the profile begin, and with the labels of proof() of oracle.R? With --lines and --gc: is what they
# need known? It is when proof() has its innermost line, a mark is there, and, in mode lines, R's collections are counted.
oracle_proven() {
	local counted='.*'
	[ "$1" != lines ] || counted='[0-9]+'
	grep -qE "^$TARGET_PID [0-9]+ [0-9]+ [0-9]+ $counted proof=1;$" "$XRPROF_TIMES" || return
	[ "$1" != plain ] || { grep -q '"proof_compiled"' "$PROF_OUT" && return; }
	grep -q '^"<GC>"' "$PROF_OUT" && grep -qE '^[0-9]+#[0-9]+ "proof_compiled"|"sqrt" [0-9]+#[0-9]+ "proof_compiled"' "$PROF_OUT"
}

# oracle_r_failed NAME: did R 4.5 or later crash by R's own fault (docs/internals/oracles.md)? Then
# the
# rest of NAME is skipped.
oracle_r_failed() {
	wait_until 10 gone "$TARGET_JOB" && grep -q 'caught segfault' "$TARGET_ERR" || return 1
	case $(cat "$TARGET_DIR/version") in
	3.* | 4.[0-4].*) return 1 ;;
	esac
	skip "R $(cat "$TARGET_DIR/version") failed under its own profiler: $(grep -A 1 'caught segfault' "$TARGET_ERR" | tr -s '\n ' ' ')" "$1"
}

# oracle_packages: the program with packages as people use them, where they are installed
oracle_packages() {
	local package
	in_all || return
	for package in data.table dplyr Matrix mgcv R6 shiny; do
		[ -z "$(missing r-package $package)" ] || return
	done
	echo packages
}

# oracle_place KIND PLACE LINES PROGRAM...: the modes of oracle.R in PLACE, by KIND_mode, which returns 2 where R failed of itself.
oracle_place() {
	local kind=$1 place=$2
	target_start "$place" oracle "$oracle_library" "$kind" "${@:3}"
	"${kind}_mode" "$place" lines --lines --gc
	[ $? -eq 2 ] || "${kind}_mode" "$place" filter --lines --gc --filter-callframes
	[ $? -eq 2 ] || "${kind}_mode" "$place" plain
	target_kill
}

# oracle_compare MODE FIRST WANTED NAME: what is there of MODE, by oracle.py's compare. Adds to oracle_lines.
oracle_compare() {
	local mode=$1 first=$2 wanted=$3 name=$4 verdict status
	verdict=$(python3 "$tests/lib/oracle.py" compare "$mode" "$TARGET_DIR/$mode.oracle" "$PROF_OUT" "$XRPROF_TIMES" \
		"$TARGET_DIR/$mode.burns" "$TARGET_DIR/$mode.labels" "$TARGET_PID" "$(cat "$TARGET_DIR/version")" "$first" "$wanted" 2>&1)
	status=$?
	figure "$name: $(head -n 1 <<<"$verdict")"
	ok $status "$name: all are R's" || diag "$verdict"
}

# oracle_counts NAME: the profiler's counts are what they should be.
oracle_counts() {
	local field
	check_stats "$PROF_STATS" "$1"
	# From outside, a stack that changes while it is read is not written, and counted: engine ptrace has that for a thread that
	# gets no CPU, and so does not stop. With bpf it was seen once, of 14,007 samples of packages, whose place could not be read.
	[ "$XRPROF_ENGINE" != bpf ] || {
		by_chance "$(stat_of "$PROF_STATS" unreadable)" 0.0001 "$(stat_of "$PROF_STATS" ticks)"
		ok $? "$1: unreadable: no more than chance allows" || diag "$(cat "$PROF_STATS")"
	}
	for field in truncated malformed partial unnamed; do
		is "$(stat_of "$PROF_STATS" $field)" 0 "$1: $field 0" || diag "$(cat "$PROF_STATS")"
	done
}
