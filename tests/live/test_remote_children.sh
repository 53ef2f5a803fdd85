#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: engine/remote session
# timeout: 300
# engines: ptrace vmread
#
# Forked children are found by looking at /proc, profiled from then on, and their end and the parent's is noticed.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

target_start host children 1
prof_start "$WORK/family.folded" -v -F 499 --clock cpu -f folded -p "$TARGET_PID"
ok $? "the profiler starts"
target_go
wait_until 200 let_go
ok $? "the program comes to its end"
prof_wait
is "$PROF_STATUS" 0 "exit status 0 when the last process has ended" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "children"
is "$(wc -l <"$TARGET_DIR/pids")" 6 "six children did their work"
is "$(stat_of "$PROF_OUT.stats" processes)" 7 "the parent and six children were profiled" || diag "$(cat "$PROF_OUT.err")"
# For each period of a child's second of CPU time there is a sample, or a tick that was missed; late looks lose parts of periods.
child=$(awk '/;child_work/ { n += $NF } END { print n + 0 }' "$PROF_OUT")
other=$(($(stat_of "$PROF_OUT.stats" missed) + $(stat_of "$PROF_OUT.stats" unreadable)))
[ "$child" -gt 0 ] && [ $((child + other)) -ge $((6 * 499 * 8 / 10)) ]
ok $? "the children's work has samples" || diag "$child samples, $other missed or unreadable"
is "$(grep ';child_work' "$PROF_OUT" | grep -vc 'parent;.*parallel::mclapply;.*;child_work')" 0 \
	"each below the calls its parent forked in"
is "$(grep -c 'child_work.*parent' "$PROF_OUT")" 0 "and in the right order"
figure "$XRPROF_ENGINE: $child samples, $other missed or unreadable, of the children's six seconds of CPU time, at 499 Hz"
done_testing
