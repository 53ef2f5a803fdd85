#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include bpf
# engines: bpf
# images: bullseye trixie sid
# timeout: 300
#
# R's part of a stack is what it is without native frames: the sampler walks each stack twice in the same interrupt, with native
# frames and without, and counts those that differ (tests/fixtures/oracle_tap.c). Of C and C++ functions that R calls and that
# call R, with signal handlers on top, and of builtins, in four releases of R. SAMPLES: the least
# number, of each (10,000).
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/nested.sh"

XRPROF=$BUILD/oracle-tap
[ -x "$XRPROF" ] || bail "$XRPROF is not there: run make unit-tests first"
samples=${SAMPLES:-10000}
all=0

# Stacks are walked twice from when the tables of R's files are there, which may take seconds on a busy machine.
twice_enough() {
	local twice=0
	[ ! -s "$XRPROF_TWICE" ] || read -r _ twice _ <"$XRPROF_TWICE"
	[ "${twice:-0}" -ge "$samples" ]
}

# twice_run NAME PLACE PROGRAM ARG...
twice_run() {
	local name=$1 twice differ descended dead
	target_start "${@:2}"
	export XRPROF_TWICE=$TARGET_DIR/twice
	prof_start "$TARGET_DIR/ours" -f folded -F 9999 --native=full -p "$TARGET_PID"
	check "$name: the wanted number of stacks is walked twice" wait_until 240 twice_enough ||
		diag "$(cat "$PROF_OUT.err")"
	prof_stop
	is "$PROF_STATUS" 0 "$name: the profiler ends" || diag "$(cat "$PROF_OUT.err")"
	target_kill
	check_stats "$PROF_OUT.stats" "$name"
	read -r _ twice _ differ _ descended _ dead <"$XRPROF_TWICE"
	figure "$name: $twice stacks walked twice, $differ differ; contexts out of order $descended, without an owner $dead"
	is "$differ" 0 "$name: R's part is the same with native frames"
	is "$descended" 0 "$name: contexts come in the order of their frames"
	is "$dead" 0 "$name: each has a frame that owns it"
	all=$((all + twice))
}

for place in $(all_places host bullseye trixie sid); do
	check "$place: the library is built" nested_library "$place"
	twice_run "$place" "$place" nested_calls "$WORK/nested-$place.so" nothing
	[ "$place" != host ] || twice_run "host, signals" host nested_calls "$WORK/nested-host.so" signals
	[ "$place" = bullseye ] || twice_run "$place, builtins" "$place" native_builtins
done
figure "in all $all"
done_testing
