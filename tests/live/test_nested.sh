#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: bpf include engine/bpf
# engines: bpf
# timeout: 300
#
# Samples in the middle of samples corrupt nothing. A profiler with a sampler that also runs at each system call and each
# task switch (tests/fixtures/nested.bpf.c) profiles programs that do little but system calls, and ticks at 10 kHz come
# in the middle. Every stack must be a path of the programs' call graph, and every tick be counted once.
#
# Argument: how many lines each of the three profiles has at least; one is for some hundred samples.

. "$(dirname "$0")/../lib/live.sh"
XRPROF=$BUILD/nested/xrprof-bpf
[ -x "$XRPROF" ] || bail "$XRPROF is not there: run make unit-tests"
wanted=${1:-$(in_all_else 5000 300)}

# nested__run NAME OPTION...: one profile
nested__run() {
	local name=$1 out=$WORK/$1.out ticks nested lost
	shift
	target_start host mixed 100000 graph calls
	# whole on a busy machine, too
	prof_start "$out" -f folded -F 10000 --max-sample-time 1000000 -p "$TARGET_PID" "$@" || {
		fail "$name: the profiler starts"
		return
	}
	target_go
	check "$name: there are $wanted lines" wait_until 250 eval '[ "$(wc -l <"$out")" -ge "$wanted" ]'
	prof_stop
	is "$PROF_STATUS" 0 "$name: exit status 0" || diag "$(cat "$out.err")"
	check_stats "$out.stats" "$name"
	for field in malformed partial unnamed; do
		is "$(stat_of "$out.stats" $field)" 0 "$name: $field 0"
	done
	is "$(unread_of "$out.stats")" 0 "$name: unreadable 0"
	ticks=$(stat_of "$out.stats" ticks) nested=$(stat_of "$out.stats" nested) lost=$(stat_of "$out.stats" lost)
	figure "$name: $nested ticks in the middle of another sample; $ticks samples asked for, $lost found the ring full"
	[ "$nested" -gt 0 ]
	ok $? "$name: ticks came in the middle"
	Rscript --vanilla "$tests/live/graph.R" "$out" "$TARGET_DIR/edges.txt" >"$WORK/$name.graph" 2>&1
	ok $? "$name: every stack is one that the program can have"
	diag "$(cat "$WORK/$name.graph")"
	target_kill
	total=$((total + nested))
}

total=0
nested__run plain
nested__run lines --lines
export XRPROF_BPF_LOOP=0
nested__run bounded
unset XRPROF_BPF_LOOP
figure "$total ticks in the middle of another sample"
done_testing
