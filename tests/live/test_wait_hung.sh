#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: engine/bpf os
# engines: bpf
# timeout: 120
#
# At the end of a profile a program waits whose memory does not respond: the profiler does not wait
# for it, reports that this wait was not read, and has that of the other program. No helper process
# is left.
. "$(dirname "$0")/../lib/live.sh"

fixture "$WORK/hang.so" hang.c -shared -fPIC
target_start host wait
target_rests
other=$TARGET_PID
target_start host hangs "$WORK/hang.so"
mkfifo "$TARGET_DIR/release"
prof_start_whole "$WORK/out" --clock wall -F 100 -f folded -p "$TARGET_PID,$other"
target_go
if ! wait_until 60 test -e "$TARGET_DIR/hung"; then
	skip "no userfaultfd here: $(cat "$TARGET_DIR/result" 2>/dev/null)" "memory that does not respond"
	prof_stop
	done_testing
	exit
fi
# It has waited for longer than a period: it was not on a CPU since the last look.
switches=
sleeps() {
	local before=$switches
	switches=$(grep _ctxt_switches "/proc/$TARGET_PID/status")
	[ "$switches" = "$before" ] && grep -q "^State:.*sleeping" "/proc/$TARGET_PID/status"
}
wait_until 60 sleeps
began=$(date +%s%N)
prof_stop
figure "it ended $((($(date +%s%N) - began) / 1000000)) ms after the signal"
is "$PROF_STATUS" 0 "exit status 0" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "hung"
is "$(stat_of "$PROF_OUT.stats" unread waits)" 1 "one wait was not read"
like "$(tail -n 1 "$PROF_OUT.err")" "1 wait at the end not read" "the last line reports it"
check "the other's is there" grep -q 'resting;base::Sys.sleep' "$WORK/out" || diag "$(cat "$WORK/out")"
is "$(pgrep -P "$PROF_PID" -c)" 0 "no helper process is left"
: >"$TARGET_DIR/release"
check "the program goes on" target_await_done
is "$(cat "$TARGET_DIR/result")" 0 "unharmed"
kill -KILL "$other"
target_kill
done_testing
