#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: engine/remote session
# timeout: 300
# engines: ptrace vmread
#
# The profiler leaves a target that is stopped by others (SIGSTOP, a debugger) as it is, and reports
# it. It does not disturb a target that waits, even for short waits. Signals reach the target.
# --clock cpu leaves out the time it waits.
. "$(dirname "$0")/../lib/live.sh"

fixture "$WORK/hold" hold.c -D_GNU_SOURCE -Wall -Wextra -Werror
state() {
	sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$TARGET_PID/status"
}
samples() {
	awk '{ n += $NF } END { print n + 0 }' "$PROF_OUT" 2>/dev/null
}
more() {
	[ "$(samples)" -gt "$had" ] || gone "$PROF_PID"
}
said() {
	grep -q "$1" "$PROF_OUT.err"
}

target_start host flip 1 compiled 5
target_go

# SIGSTOP
prof_start "$WORK/stop.folded" -F 199 -f folded -p "$TARGET_PID"
ok $? "the profiler starts"
had=0
wait_until 60 more
kill -STOP "$TARGET_PID"
check "a stopped target is reported" wait_until 60 said "is stopped"
is "$(state)" T "a stopped target stays stopped"
# what was sampled before is written by and by
settled() {
	had=$(samples)
	sleep 1.2
	[ "$(samples)" = "$had" ]
}
wait_until 60 settled
sleep 1.2
is "$(samples)" "$had" "it has no samples meanwhile"
is "$(state)" T "and is still stopped"
kill -CONT "$TARGET_PID"
wait_until 60 more
check "when it goes on it is sampled again" more
prof_stop
is "$PROF_STATUS" 0 "exit status 0"
check_stats "$PROF_OUT.stats" "SIGSTOP"
check "its stacks are of its graph" timeout 100 Rscript --vanilla "$tests/live/graph.R" "$PROF_OUT" "$TARGET_DIR/edges.txt"

# A debugger before the profiler
"$WORK/hold" "$TARGET_PID" "$WORK/held" &
live_pids+=("$!")
wait_until 30 test -e "$WORK/held"
if [ "$XRPROF_ENGINE" = ptrace ]; then
	prof -p "$TARGET_PID" -d 1 -o "$WORK/held.out" 2>"$WORK/held.err"
	is $? 1 "a debugger has the target: exit status 1"
	is "$(wc -l <"$WORK/held.err")" 1 "in one line" || diag "$(cat "$WORK/held.err")"
	like "$(cat "$WORK/held.err")" "is traced by process [0-9]+" "that says who has it"
else
	prof -p "$TARGET_PID" -d 1 -o "$WORK/held.out" 2>"$WORK/held.err"
	is $? 0 "a debugger has the target: it can be read all the same" || diag "$(cat "$WORK/held.err")"
fi
rm "$WORK/held"
wait_until 30 eval '[ "$(sed -n "s/^TracerPid:[[:space:]]*//p" "/proc/$TARGET_PID/status")" = 0 ]'

# A debugger that comes while it is profiled, and goes
prof_start "$WORK/between.folded" -F 199 -f folded -p "$TARGET_PID"
"$WORK/hold" "$TARGET_PID" "$WORK/held" &
hold=$!
live_pids+=("$hold")
check "a debugger can attach while the target is profiled" wait_until 30 test -e "$WORK/held"
had=$(samples)
sleep 1.2
check "there are samples meanwhile" wait_until 60 more
[ "$XRPROF_ENGINE" != ptrace ] ||
	check "the profiler reports a traced target" wait_until 30 said "is traced by"
rm -f "$WORK/held"
wait "$hold"
had=$(samples)
check "and when it has gone" wait_until 60 more
prof_stop
is "$PROF_STATUS" 0 "exit status 0"
check_stats "$PROF_OUT.stats" "debugger"
check "all stacks are of the graph" timeout 100 Rscript --vanilla "$tests/live/graph.R" "$PROF_OUT" "$TARGET_DIR/edges.txt"
target_kill

# System calls that wait are not interrupted, short ones that come one after another either (XRPROF_WAITS of each kind).
waits=${XRPROF_WAITS:-300}
check "the library builds" "${CC:-cc}" -Wall -Wextra -Werror -O1 -shared -fPIC -o "$WORK/short_waits.so" "$tests/fixtures/short_waits.c"
target_start host short_waits "$WORK/short_waits.so" "$waits"
prof_start "$WORK/waits.folded" -F 999 -f folded -p "$TARGET_PID"
target_go
check "it has waited" target_await_done 600
prof_stop
is "$PROF_STATUS" 0 "exit status 0"
check_stats "$PROF_OUT.stats" "short waits"
is "$(cat "$TARGET_DIR/waited")" "$(printf '%s 0 0\n' epoll_wait sigtimedwait semtimedop recv io_getevents nanosleep)" \
	"$waits waits of each kind: none failed, none ended early"
target_kill

# Waiting: wall time has it, CPU time has not. What waits is looked at without being woken up.
target_start host wait
target_rests
switches() {
	awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$TARGET_PID/status"
}
asleep() {
	[ "$(state)" = S ]
}
wait_until 30 asleep
sleep 1 # it may have slept while it still waited for its go
before=$(switches)
prof -p "$TARGET_PID" -F 99 -d 2 -f folded -o "$WORK/wall.folded" --stats "$WORK/wall.stats" 2>"$WORK/wall.err"
is $? 0 "waiting: exit status 0"
after=$(switches)
like "$(cat "$WORK/wall.err")" "wall time.*--clock cpu" \
	"the message names wall time and --clock cpu"
[ "$(stat_of "$WORK/wall.stats" written)" -gt 20 ]
ok $? "waiting: wall time has samples"
is "$(sed 's/ [0-9]*$//' "$WORK/wall.folded" | sort -u)" "resting;base::Sys.sleep" "where it waits"
[ $((after - before)) -le 5 ]
ok $? "it was not woken up" || diag "$((after - before)) context switches"
before=$(switches)
prof -p "$TARGET_PID" -F 99 -d 2 -f folded -o "$WORK/cpu.folded" --stats "$WORK/cpu.stats" --clock cpu 2>"$WORK/cpu.err"
is $? 0 "--clock cpu: exit status 0"
written=$(stat_of "$WORK/cpu.stats" written) woke=$(($(switches) - before))
# R looks whether something is to be done now and then, and may be held up by others at that
[ "$woke" -gt 0 ] || is "$written" 0 "--clock cpu: no samples of a program that waits"
[ "$woke" -eq 0 ] || { [ "$written" -le "$((2 * woke))" ]; ok $? "--clock cpu: $written samples of a program that woke up $woke times"; }
target_kill
done_testing
