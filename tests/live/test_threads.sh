#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: bpf include engine/bpf
# engines: bpf
# timeout: 120
#
# A thread that is not R's (as BLAS and OpenMP have them) computes beside R. Its samples must never show a stack that R
# was not in: while R computes, every stack is one of R's own or marked <other-thread>; while R sleeps, the stack may be
# shown, and then it is the one R sleeps in.
. "$(dirname "$0")/../lib/live.sh"

helper=$WORK/helper.so
fixture "$helper" target_helper.c -shared -fPIC -pthread
target_start host work 4 threads "$helper"
prof_start "$WORK/threads.out" -F 997 -p "$TARGET_PID"
ok $? "the profiler starts"
target_go
wait_until 100 eval '[ -e "$TARGET_DIR/resting" ]'
thread_ticks() {
	local tid
	for tid in "/proc/$TARGET_PID/task"/*; do
		[ "$tid" = "/proc/$TARGET_PID/task/$TARGET_PID" ] || sed 's/.*) //' "$tid/stat" | awk '{ print $12 + $13 }'
	done
}
other=$(thread_ticks)
own=$(sed 's/.*) //' "/proc/$TARGET_PID/stat" | awk '{ print $12 + $13 }')
target_await_done
prof_wait
is "$PROF_STATUS" 0 "exit status 0" || diag "$(cat "$WORK/threads.out.err")"
check_stats "$WORK/threads.out.stats" "threads"
is "$(unread_of "$WORK/threads.out.stats")" 0 "unreadable 0"

# Every stack, outermost last, is one that this program can be in.
bad=$(awk 'NR > 1 {
		gsub(/^"|" $/, ""); n = split($0, f, "\" \"")
		s = ""; for (i = n; i; i--) s = s (s == "" ? "" : ";") f[i]
		if (s !~ /^(<other-thread>|\.C|both_busy(;outer_most(;\[\[|;middle(;inner)?)?)?|resting(;Sys\.sleep)?|put(;.*)?|done(;put.*)?|await(;.*)?)$/) {
			print s; if (++bad > 5) exit
		}
	}' "$WORK/threads.out")
is "$bad" "" "every stack is one that R was in, or marked"
marked=$(grep -c '"<other-thread>" $' "$WORK/threads.out")
asleep=$(grep -c '"Sys.sleep" "resting" ' "$WORK/threads.out")
busy=$(grep -c '"both_busy" $' "$WORK/threads.out")
figure "while R computed: own CPU time $own, other thread's $other (clock ticks); samples: R $busy, marked $marked; while R slept: $asleep"
[ "$busy" -gt 500 ]
ok $? "R's own samples are there"
[ "$((marked + asleep))" -gt 500 ]
ok $? "and the other thread's"
[ "$asleep" -gt 0 ]
ok $? "the stack is shown while R sleeps"
[ "$marked" -gt 0 ]
ok $? "samples of another thread are marked"
is "$(stat_of "$WORK/threads.out.stats" other_thread)" "$marked" "and counted"
done_testing
