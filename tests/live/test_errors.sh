#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd target session
# timeout: 200
#
# What cannot be profiled is refused with exit status 1 and one line that says what and why; what was not meant, with 2.
# else: ptrace vmread
. "$(dirname "$0")/../lib/live.sh"

# refused STATUS NAME PATTERN ARG...: run the profiler; everything it says is one line that matches.
refused() {
	local wanted=$1 name=$2 pattern=$3 status
	shift 3
	timeout -k 5 60 "${wrap[@]}" "${program:-$XRPROF}" "$@" >"$WORK/refused.out" 2>"$WORK/refused.err" </dev/null
	status=$?
	is "$status" "$wanted" "$name: exit status $wanted"
	is "$(wc -l <"$WORK/refused.err")" 1 "$name: one line" || diag "$(cat "$WORK/refused.err")"
	like "$(cat "$WORK/refused.err")" "$pattern" "$name: the reason"
	[ "$(samples_in "$WORK/refused.out")" -eq 0 ]
	ok $? "$name: no profile"
}
wrap=()
program=

# --- processes that are not R ---
engine=(-q -e "$XRPROF_ENGINE")
sleep 600 &
sleeper=$!
live_pids+=("$sleeper")
wait_until 60 grep -q sleep "/proc/$sleeper/comm"
refused 1 "not R" "$sleeper.*sleep.*not run R" "${engine[@]}" -p $sleeper
sleep 0 &
wait $!
refused 1 "no such process" "no process $!" "${engine[@]}" -p $!
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	refused 1 "a thread of the kernel" '2 .*not run R' "${engine[@]}" -p 2
else
	skip "no thread of the kernel can be seen from this PID namespace" "a thread of the kernel"
fi

target_start host work 600 exit
pid=$TARGET_PID
refused 1 "no such folder" 'nowhere' "${engine[@]}" -p "$pid" -o "$WORK/nowhere/out"

# Somebody else's process. The program must be readable by everybody for that.
chmod 755 "$WORK"
program=$WORK/xrprof-bpf
cp "$XRPROF" "$program"
chmod 755 "$program"
wrap=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
refused 1 "no permission" "not allowed.*$pid|$pid.*not (allowed|permitted)|[Pp]ermi" "${engine[@]}" -p "$pid"
wrap=(setpriv --reuid=54321 --regid=54321 --clear-groups --inh-caps=-all)
refused 1 "--all, and every R is another user's" 'no R process could be profiled' -q -e ptrace --all -f folded -d 0.5
wrap=()
program=

# R that has not started, and a 32-bit R: unit:target/linux/find

# --- more than one ---
target_go
target_one=$TARGET_PID
prof_start "$WORK/twice.out" -F 499 -d 2 -p "$pid,$pid" -p "$pid"
prof_wait
is "$PROF_STATUS" 0 "the same pid three times: exit status 0" || diag "$(cat "$WORK/twice.out.err")"
is "$(stat_of "$WORK/twice.out.stats" processes)" 1 "the same pid three times: one process"
check_rprof "$WORK/twice.out" "the same pid three times"
python3 - "$WORK/twice.out.stats" <<-'PY'
	import json, sys
	s = json.load(open(sys.argv[1]))
	# one event at its frequency, not three
	sys.exit(not s["ticks"] <= 1.5 * 499 * s["seconds"])
PY
ok $? "the same pid three times: sampled once" || diag "$(cat "$WORK/twice.out.stats")"

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
