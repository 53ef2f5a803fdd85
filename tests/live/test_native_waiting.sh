#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: engine/remote include
# engines: ptrace
# timeout: 200
#
# A thread that waits in a system call is not stopped for its native frames: the kernel says where it waits. What it waits in is
# the innermost frame, libc's function, inside of the R function.
. "$(dirname "$0")/../lib/live.sh"

target_start host native_waiting
waits='^"(__)?(select|pselect|poll|ppoll|clock_nanosleep|nanosleep)[^"]*" "Sys.sleep" "waits"'
shows() {
	[ "$(grep -cE "$waits" "$PROF_OUT" 2>/dev/null)" -ge 200 ]
}
interrupted() { # switches of the target that it did not ask for, and those it did
	awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$TARGET_PID/status"
}

prof_start "$TARGET_DIR/ours" -F 499 --native=full -p "$TARGET_PID" || bail "the profiler does not start: $(cat "$PROF_OUT.err")"
check "what it waits in is shown" wait_until 60 shows
before=$(interrupted) lines=$(grep -c '^"' "$PROF_OUT")
more() {
	[ "$(grep -c '^"' "$PROF_OUT")" -ge $((lines + 500)) ]
}
check "it is sampled on" wait_until 60 more
woken=$(($(interrupted) - before))
prof_stop
is "$PROF_STATUS" 0 "waiting: the profiler ends" || diag "$(cat "$PROF_OUT.err")"
target_kill
[ $((2 * woken)) -le 500 ]
ok $? "and not woken for it: $woken switches in 500 samples"
figure "$(grep -cE "$waits" "$PROF_OUT") of $(grep -c '^"' "$PROF_OUT") samples have the system call's function"
check_stats "$PROF_OUT.stats" "waiting"
done_testing
