#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd target session
# timeout: 200
#
# What cannot be profiled is refused with exit status 1 and one line that says what and why. Two processes have two files.
# else: ptrace vmread
. "$(dirname "$0")/../lib/live.sh"

# refused NAME PATTERN COMMAND...: exit status 1; everything it says is one line that matches.
refused() {
	local name=$1 pattern=$2 status
	timeout -k 5 60 "${@:3}" >"$WORK/refused.out" 2>"$WORK/refused.err" </dev/null
	status=$?
	is "$status" 1 "$name: exit status 1"
	is "$(wc -l <"$WORK/refused.err")" 1 "$name: one line" || diag "$(cat "$WORK/refused.err")"
	like "$(cat "$WORK/refused.err")" "$pattern" "$name: the reason"
	is "$(samples_in "$WORK/refused.out")" 0 "$name: no profile"
}

# Each process that is not R, R that has not started, and a 32-bit R: unit:target/linux/find. One pid three times:
# unit:cmd/options. Other users' processes: live:rights, live:confined.
sleep 600 &
live_pids+=("$!")
wait_until 60 grep -q sleep "/proc/$!/comm"
refused "not R" "$!.*sleep.*not run R" "$XRPROF" -q -e "$XRPROF_ENGINE" -p $!

target_start host work 600 exit
target_one=$TARGET_PID
refused "no such folder" 'nowhere' "$XRPROF" -q -e "$XRPROF_ENGINE" -p "$target_one" -o "$WORK/nowhere/out"

# The program must be readable by everybody for that.
chmod 755 "$WORK"
install -m 755 "$XRPROF" "$WORK/xrprof-bpf"
refused "--all, and every R is another user's" 'no R process could be profiled' \
	setpriv --reuid=54321 --regid=54321 --clear-groups --inh-caps=-all "$WORK/xrprof-bpf" -q -e ptrace --all -f folded -d 0.5

# --- more than one ---

target_go
target_start host deep 600 calls 20
target_go
two=$TARGET_PID
mkdir "$WORK/both"
env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -F 499 -o "$WORK/both" --stats "$WORK/both.stats" -p "$target_one" -p "$two" \
	2>"$WORK/both.err" </dev/null &
PROF_PID=$! PROF_OUT=$WORK/both
live_pids+=("$PROF_PID")
both_sampled() {
	[ "$(grep -c '"middle" "outer_most" $' "$WORK/both/Rprof.$target_one.out")" -ge 100 ] &&
		[ "$(grep -c '"hold" "calls" ' "$WORK/both/Rprof.$two.out")" -ge 100 ]
}
check "two processes: each has its own functions" wait_until 60 both_sampled
prof_stop
is "$PROF_STATUS" 0 "two processes: exit status 0" || diag "$(cat "$WORK/both.err")"
is "$(stat_of "$WORK/both.stats" processes)" 2 "two processes: both are counted"
check_stats "$WORK/both.stats" "two processes"
check_rprof "$WORK/both/Rprof.$target_one.out" "two processes, the first"
check_rprof "$WORK/both/Rprof.$two.out" "two processes, the second"
is "$(grep -c '"middle"' "$WORK/both/Rprof.$two.out")" 0 "two processes: nothing of the first in the second's"
is "$(grep -c '"hold"' "$WORK/both/Rprof.$target_one.out")" 0 "two processes: nothing of the second in the first's"
done_testing
