#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: engine/remote os
# timeout: 600
# engines: ptrace
#
# R runs on if the profiler is stopped by Ctrl-Z or by SIGSTOP, or is killed: at N random moments
# each (argument 1: N, default 20), at a rate at which it stops R a large part of the time.
XRPROF_ENGINE=ptrace # it has no other
. "$(dirname "$0")/../lib/live.sh"

times=${1:-20}
target_start host flip 1 plain 100
target_go

moved() {
	[ "$(cpu_ticks "$TARGET_PID")" -gt "$before" ]
}
watchdogs() {
	pgrep -P "$1" -x xrprof-watchdog
}

for round in tstp:4999 stop:4999 kill:4999 kill:999; do
	how=${round%:*} rate=${round#*:} out=$WORK/${round/:/-}
	figures=$(timeout 250 env --default-signal python3 "$tests/live/moments.py" "$how" "$times" \
		"$TARGET_PID" "$XRPROF" -q -e ptrace -F "$rate" -p "$TARGET_PID" -o "$out.out" \
		--stats "$out.stats" 2>"$out.err" </dev/null)
	ok $? "$round: at $times moments" || diag "$(cat "$out.err")"
	is "${figures% *}" "$times" "$round: the profiler stopped or ended each time"
	longest=${figures#* }
	[ "${longest:-999}" -le 50 ]
	ok $? "$round: R was never stopped for long" || diag "for $longest ms"
	diag "$round: R was stopped for $longest ms at most"
	[ "$how" = kill ] || check_stats "$out.stats" "$round"
	before=$(cpu_ticks "$TARGET_PID")
	check "$round: R runs on" wait_until 60 moved
done
is "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$TARGET_PID/status")" 0 \
	"no process traces the target"
check "R was not harmed" alive "$TARGET_PID"

# What the watchdog costs: it sleeps unless a stop lasts long.
prof_start "$WORK/cost.out" -F 999 -p "$TARGET_PID"
switches() {
	awk '/ctxt_switches/ { n += $2 } END { print n + 0 }' "/proc/$1/status"
}
dog=
wait_until 30 eval 'dog=$(watchdogs "$PROF_PID"); [ -n "$dog" ]'
ok $? "a watchdog is there"
first=$(switches "$dog")
sleep 2
second=$(switches "$dog")
diag "the watchdog woke up $((second - first)) times in two seconds, of 2000 samples"
# each sample would be 2000; on a busy machine stops are often late, and one is looked at every 5 ms
[ $((second - first)) -le 800 ]
ok $? "it wakes up seldom"
# its socket, two for the tracer, and standard error; 0 and 1 are /dev/null
is "$(ls "/proc/$dog/fd" | wc -l)" 6 "it has only the descriptors open that it needs"
like "$(grep CapEff "/proc/$dog/status")" '0000000000000000$' "and has no capability"
prof_stop
is "$PROF_STATUS" 0 "exit status 0"
is "$(grep -c "without being stopped" "$PROF_OUT.err")" 0 "R is stopped at all, or else there was nothing to see"
check "it ends with the profiler" wait_until 30 gone "$dog"

# It is there again after somebody killed it, and the profile says nothing of it.
prof_start "$WORK/again.out" -F 199 -p "$TARGET_PID"
wait_until 30 eval 'dog=$(watchdogs "$PROF_PID"); [ -n "$dog" ]'
kill -KILL "$dog"
another() {
	local now
	now=$(watchdogs "$PROF_PID")
	[ -n "$now" ] && [ "$now" != "$dog" ]
}
check "a watchdog that was killed is replaced" wait_until 30 another
prof_stop
is "$PROF_STATUS" 0 "exit status 0"
check_stats "$WORK/again.out.stats" "without its watchdog"
target_kill
done_testing
