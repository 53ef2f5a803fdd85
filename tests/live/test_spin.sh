#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include bpf engine/remote engine/bpf target session profile output
# also: ptrace
# timeout: 900
#
# usage: tests/live/test_spin.sh [LINES]
#
# Each sample is R's: R's own profiler is made to burn some milliseconds before each line it writes (tests/fixtures/spin.c),
# and all samples taken in that time must be equal to that line: names, source lines, the GC mark; and have the labels that
# R has then. Of all samples, those of one call have one number. With lines and marks, with filter.callframes, too, and with neither, on this machine's R (there with packages as people use them, and in a process of Rserve's, too), on an R
# without libR.so and on the R of other Debian releases. LINES of R's are made in each mode (60, of make test-all 150).
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/oracle.sh"

lines=${1:-$(in_all_else 150 60)}
places=$(all_places host rserve static bullseye trixie sid)
programs=(lines naming mixed gc limits labels)
in_all && programs+=(lines_soak)
freq=997 first=0 wanted=$((lines * 8 / 10))
if [ "$XRPROF_ENGINE" != bpf ]; then
	# a sample's time is that of its end: the first in a burn may have begun before it
	freq=499 first=1 wanted=$lines
	places=${XRPROF_PLACES-host} # of these, stop sees to the others
fi

# spin_mode PLACE MODE OPTION...: one profile of the program that runs. 2: R failed of itself.
spin_mode() {
	local place=$1 mode=$2 name="$1, $2"
	shift 2
	oracle_profile "$TARGET_DIR/$mode.ours" -F $freq --clock cpu "$@" -p "$TARGET_PID" || {
		fail "$name: the profiler starts"
		return 1
	}
	target_go
	wait_until 120 oracle_proven "$mode" || fail "$name: lines and marks are proven"
	[ "$XRPROF_ENGINE" = bpf ] || ln -s "$XRPROF_TIMES" "$TARGET_DIR/$mode.samples" # the profiler may get no CPU for a burn's time
	: >"$TARGET_DIR/measure.$mode"
	wait_until 300 eval '[ -e "$TARGET_DIR/$mode.done" ] || gone "$TARGET_JOB"'
	prof_stop
	[ -e "$TARGET_DIR/$mode.done" ] || ! oracle_r_failed "$name" || return 2
	oracle_compare "$mode" $first "$wanted" "$name"
	oracle_counts "$name"
}

# Rserve forks a process for each client, waiting in C code meanwhile. The profiler was asked for the server alone.
# On one CPU: a page that is copied after a fork is absent until each CPU that the process ran on has answered
# (ptep_clear_flush(), wp_page_copy() in mm/memory.c), and that of a virtual machine may not run for 100 ms.
spin_rserve() {
	local server ours=$WORK/rserve socket TARGET_WRAP=(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')")
	part_needs Rserve r-package Rserve && part_needs Rserve r-package RSclient || return
	target_start host rserve
	server=$TARGET_PID
	socket=$TARGET_DIR/socket
	check "Rserve: it listens" wait_until 60 test -S "$socket" || return
	mkdir "$ours"
	oracle_profile "$ours/" -F $freq --clock cpu --lines --gc -s -p "$server" || {
		fail "Rserve: the profiler starts"
		return
	}
	target_launch host rserve_client "$socket" "${oracle_library:?}" spin "$lines" naming mixed gc labels
	target_go
	wait_until 120 eval '[ -s "$TARGET_DIR/ready" ] || gone "$TARGET_JOB"'
	TARGET_PID=$(cat "$TARGET_DIR/ready")
	check "Rserve: the client has a separate process" grep -q "^PPid:[[:space:]]*$server$" \
		"/proc/$TARGET_PID/status" ||
		diag "$(cat "$TARGET_ERR")"
	PROF_OUT=$ours/Rprof.$TARGET_PID.out
	wait_until 120 oracle_proven lines || fail "Rserve: lines and marks are proven"
	: >"$TARGET_DIR/measure.lines"
	wait_until 300 eval '[ -e "$TARGET_DIR/lines.done" ] || gone "$TARGET_JOB"'
	prof_stop
	oracle_compare lines $first "$wanted" Rserve
	oracle_counts Rserve
	kill -KILL "$server"
}

for place in $places; do
	# shellcheck disable=SC2046 # one word or none
	case $place in
	rserve) spin_rserve ;;
	host) oracle_place spin "$place" "$lines" "${programs[@]}" $(oracle_packages) ;;
	*) part_needs "$place" image "$place" && oracle_place spin "$place" "$lines" "${programs[@]}" ;;
	esac
done
done_testing
