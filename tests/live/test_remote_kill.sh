#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: engine/remote
# timeout: 600
# engines: ptrace vmread
#
# The profiler is killed at 100 random moments of its sampling, and the target runs on after each.
. "$(dirname "$0")/../lib/live.sh"

times=${XRPROF_KILLS:-100}
target_start host flip 1 plain 100
target_go

cpu_ticks() {
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$TARGET_PID/stat"
}
moved() {
	[ "$(cpu_ticks)" -gt "$before" ]
}

RANDOM=1
held=0 early=0
for ((i = 0; i < times; i++)); do
	# with time for alarms, and without
	"$XRPROF" -q -e "$XRPROF_ENGINE" -F $((i % 2 ? 999 : 1999)) -p "$TARGET_PID" -o "$WORK/kill.out" 2>"$WORK/kill.err" </dev/null &
	prof=$!
	live_pids+=("$prof")
	wait_until 30 eval '[ "$(wc -c <"$WORK/kill.out" 2>/dev/null || echo 0)" -gt 100 ] || gone "$prof"'
	alive "$prof" || { early=$((early + 1)); diag "before kill $i: $(cat "$WORK/kill.err")"; }
	sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
	kill -KILL "$prof"
	wait "$prof" 2>/dev/null
	rm -f "$WORK/kill.out"
	before=$(cpu_ticks)
	if ! wait_until 30 moved; then
		held=$((held + 1))
		diag "after kill $i: $(grep -E 'State|Tracer' "/proc/$TARGET_PID/status")"
	fi
done
is "$early" 0 "the profiler was sampling each time it was killed"
is "$held" 0 "the target ran on after each of $times kills"
is "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$TARGET_PID/status")" 0 \
	"no process traces the target"
prof -p "$TARGET_PID" -F 499 -d 2 -f folded -o "$WORK/after.folded" 2>"$WORK/after.err"
is $? 0 "and it can be profiled" || diag "$(cat "$WORK/after.err")"
check "with stacks of its graph" timeout 100 Rscript --vanilla "$tests/live/graph.R" "$WORK/after.folded" "$TARGET_DIR/edges.txt"
target_kill
done_testing
