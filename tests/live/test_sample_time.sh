#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: include bpf engine/remote
# timeout: 300
#
# What a sample may take does not depend on the target. tests/fixtures/hostile_costly.c lays out all that makes
# a sample expensive: no sample reads more than it may, what was cut is counted, a process whose
# samples keep being cut gets smaller samples, but no fewer, and whole ones when they are cheap again.
# (How long samples took: tests/bench/attack. A process beside an expensive one: live:hostile.)
. "$(dirname "$0")/../lib/live.sh"

costly=$WORK/costly
check "the fixture builds" cc -std=gnu11 -O1 -rdynamic -pthread -I "$tests/../include" -I "$tests/../src" -I "$tests/unit" -o "$costly" \
	"$tests"/fixtures/hostile*.c "$BUILD/libxrprof.a" || {
	done_testing
	exit 1
}

# costly_start KIND [SECONDS]: sets COSTLY
costly_start() {
	local out=$WORK/$1.ready
	: >"$out"
	"$costly" "costly-$1" "${@:2}" >"$out" &
	COSTLY=$!
	live_pids+=("$COSTLY")
	wait_until 120 grep -qs ready "$out"
}

work_of() { # work_of MICROSECONDS: what a sample may do, and what may lie between two looks (walk.h): a call's two names
	echo $(($1 * 64 + 64 + 2 * 10240 / 64 + 32))
}

attack() { # attack NAME KIND MICROSECONDS OPTION...: profile it until it ends
	local name=$1 kind=$2 us=$3 s reads
	shift 3
	costly_start "$kind" 0.5
	ok $? "$name: it runs" || return
	prof_start_whole "$WORK/attack" -F 999 --max-sample-time "$us" -p "$COSTLY" "$@"
	kill -USR1 "$COSTLY"
	prof_wait
	s=$PROF_OUT.stats
	# names of maximal length may exceed what is written in time: that is reported and counted
	[ "$PROF_STATUS" -eq 0 ] || { [ "$PROF_STATUS" -eq 1 ] && [ "$(stat_of "$s" unwritten)" -gt 0 ]; }
	ok $? "$name: profiled" || diag "$(cat "$PROF_OUT.err")"
	check_stats "$s" "$name"
	is "$(stat_of "$s" truncated)" "$(stat_of "$s" over_budget)" "$name: what is cut took too long"
	reads=$(stat_of "$s" most_reads)
	check "$name: no sample read more than it may ($reads)" [ "$reads" -le "$(work_of "$us")" ]
}

# less NAME: the process of the last attack had smaller samples, but no fewer, and then whole ones.
less() {
	local s=$PROF_OUT.stats cheap over
	over=$(stat_of "$s" over_budget)
	check "$1: samples are cut ($over)" [ "$over" -ge 100 ] || diag "$(cat "$s")"
	is "$(stat_of "$s" throttled)" 0 "$1: no tick is left out"
	is "$(grep -c 'only the innermost frames' "$PROF_OUT.err")" 1 "$1: that is printed once" ||
		diag "$(cat "$PROF_OUT.err")"
	like "$(tail -n 1 "$PROF_OUT.err")" "[0-9]+ stacks? took too long to read" "$1: how many"
	cheap=$(grep -cv '<truncated>' "$PROF_OUT")
	check "$1: and as often as before when it is cheap again ($cheap samples)" [ "$cheap" -ge 100 ]
}

loops="default 0"
for loop in $loops; do
	if [ "$loop" = 0 ]; then export XRPROF_BPF_LOOP=0; else unset XRPROF_BPF_LOOP; fi
	without=
	[ "$loop" = default ] || without=", without bpf_loop"
	for kind in calls nameless spread names; do
		attack "$kind$without" $kind 1000 --lines
		less "$kind$without"
	done
done
unset XRPROF_BPF_LOOP
for kind in empty tables files items; do
	attack "$kind" $kind 1000 --lines --gc
	less "$kind"
done
attack "nameless, 200 us" nameless 200 --lines --filter-callframes
less "nameless, 200 us"
done_testing
