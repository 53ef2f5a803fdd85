#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf session os
# timeout: 900
# engines: bpf
# alone: live
#
# An hour of process churn in small: tens of thousands of processes come and go, and neither the profiler nor its maps
# grow.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

helper=$WORK/all_fork.so
fixture "$helper" all_fork.c -shared -fPIC
total=20000
target_start host all_churn "$helper" $total
all_start "$WORK/out" -a
ok $? "the profiler starts" || { done_testing; exit 1; }
target_go
for tenth in 1 2 3 4 5 6 7 8 9 10; do
	wait_until 300 test -e "$TARGET_DIR/tenth.$tenth" || break
	rows[tenth]=$(wait_until 60 no_stale_rows "$PROF_PID" && echo none)
	rss[tenth]=$(rss_kb "$PROF_PID")
	fds[tenth]=$(find "/proc/$PROF_PID/fd" -mindepth 1 | wc -l)
	: >"$TARGET_DIR/seen.$tenth"
done
target_await_done
ok $? "$total processes came and went"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$WORK/out.stats" "churn"
forked=$(grep -cE "forked by $TARGET_PID(\$|,)" "$WORK/out.err")
[ "$forked" -ge $((total * 99 / 100)) ]
ok $? "the profiler saw their forks ($forked of $total)"
figure "churn: $total processes; the profiler's memory after each tenth: ${rss[*]} KiB; its descriptors: ${fds[*]}"
is "${rows[*]}" "none none none none none none none none none none" "no row is left of any"
# What each process left behind would add up in both halves; a busy moment, of which malloc() keeps a part, is in one.
[ $((rss[6] - rss[2])) -le 512 ] || [ $((rss[10] - rss[6])) -le 512 ]
ok $? "the profiler's memory is flat (after two tenths ${rss[2]}, six ${rss[6]}, all ${rss[10]} KiB)"
[ $((rss[10] - rss[2])) -le 4096 ]
ok $? "and nowhere near what 16,000 processes would need"
[ $((fds[10] - fds[2])) -le 8 ]
ok $? "so are its descriptors (${fds[2]} and ${fds[10]})"
done_testing
