#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: serve session engine/bpf
# timeout: 200
# engines: bpf
#
# When little happens the service sleeps: at most ten wake-ups a second, of all its processes. Told which processes to
# profile, it is woken by nothing else that the machine does; one that rests and never had a sample, and one that computes.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

# woken: how often all processes of the service went to sleep, and the second in which that was asked
woken() {
	local pid all
	all=$(pgrep -P "$SERVE_PID" | tr '\n' ' ')
	for pid in $all; do all="$all $(pgrep -P "$pid" | tr '\n' ' ')"; done
	for pid in $SERVE_PID $all; do
		cat "/proc/$pid/status"
	done 2>/dev/null | awk '$1 == "voluntary_ctxt_switches:" { n += $2 } END { getline at <"/proc/uptime"; print n + 0, at }'
}

# quiet: are there at most ten a second, over two seconds or more?
quiet() {
	local before after
	before=$(woken)
	sleep 2
	after=$(woken)
	wakeups=$(awk -v a="$before" -v b="$after" 'BEGIN { split(a, x, " "); split(b, y, " "); printf "%.1f", (y[1] - x[1]) / (y[2] - x[2]) }')
	awk -v w="$wakeups" 'BEGIN { exit !(w <= 10) }'
}

target_start host wait
target_rests
resting=$TARGET_PID
serve_start -F 19 -p "$resting" --dir "$WORK/resting"
ok $? "it starts, for an R that rests"
wait_until 60 quiet
ok $? "at most ten wake-ups a second"
figure "an R that rests: $wakeups wake-ups a second"
serve_stop
is "$SERVE_STATUS" 0 "it ends"

target_start host spin
serve_start -F 99 -p "$TARGET_PID" --dir "$WORK/busy"
ok $? "it starts, for an R that computes"
wait_until 60 quiet
ok $? "at most ten wake-ups a second at 99 Hz"
figure "an R that computes, at 99 Hz: $wakeups wake-ups a second"
serve_stop
is "$SERVE_STATUS" 0 "it ends, again"
done_testing
