#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: engine/remote session
# timeout: 300
# engines: ptrace vmread
# anybody: yes
#
# The profiler does not disturb a target that waits, even for short waits. --clock cpu leaves out the
# time it waits. (Targets that others stop or trace are in unit:engine/remote/linux/loop.)
. "$(dirname "$0")/../lib/live.sh"

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
sleep 1 # it may have slept while it still waited for its go
before=$(switches)
prof -p "$TARGET_PID" -F 99 -d 2 -f folded -o "$WORK/wall.folded" --stats "$WORK/wall.stats" 2>"$WORK/wall.err"
is $? 0 "waiting: exit status 0"
after=$(switches)
like "$(cat "$WORK/wall.err")" "wall time.*--clock cpu" \
	"the message names wall time and --clock cpu"
check "waiting: wall time has samples" [ "$(stat_of "$WORK/wall.stats" written)" -gt 20 ]
is "$(sed 's/ [0-9]*$//' "$WORK/wall.folded" | sort -u)" "resting;base::Sys.sleep" "where it waits"
check "it was not woken up" [ $((after - before)) -le 5 ] || diag "$((after - before)) context switches"
before=$(switches)
prof -p "$TARGET_PID" -F 99 -d 2 -f folded -o "$WORK/cpu.folded" --stats "$WORK/cpu.stats" --clock cpu 2>"$WORK/cpu.err"
is $? 0 "--clock cpu: exit status 0" || diag "$(cat "$WORK/cpu.err")"
written=$(stat_of "$WORK/cpu.stats" written) woke=$(($(switches) - before))
# R looks whether something is to be done now and then, and may be held up by others at that
[ "$woke" -gt 0 ] || is "$written" 0 "--clock cpu: no samples of a program that waits"
[ "$woke" -eq 0 ] || { [ "$written" -le "$((2 * woke))" ]; ok $? "--clock cpu: $written samples of a program that woke up $woke times"; }
target_kill
done_testing
