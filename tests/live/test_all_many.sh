#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf session
# timeout: 900
# engines: bpf
# alone: yes
#
# 100 R processes, all computing, at 99 Hz for 30 seconds (XRPROF_SECONDS: another time): nothing is lost, and what the profiler itself takes.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

total=100
seconds=${XRPROF_SECONDS:-30}
mkdir "$WORK/many"
cp "$tests"/live/r/*.R "$WORK/many"
for ((i = 0; i < total; i++)); do
	R --vanilla --no-echo -f "$WORK/many/all_spin.R" --args "$WORK/many" "many" Inf wait </dev/null >/dev/null 2>>"$WORK/errors" &
	pids[i]=$!
	live_pids+=($!)
	# some at a time, or the machine is busy with nothing else
	if [ $((i % 10)) -eq 9 ]; then
		wait_until 300 eval '[ "$(cat /proc/'"${pids[$i]}"'/comm)" = R ]'
	fi
done
all_start "$WORK/out" -a -F 99
ok $? "the profiler starts" || { done_testing; exit 1; }
known() {
	local pid
	for pid in "${pids[@]}"; do
		all_knows "$pid" || return 1
	done
}
wait_until 300 known
ok $? "it knows all $total" || diag "$(cat "$WORK/errors")"
: >"$WORK/many/go"
sleep 2

begin=$(cpu_ticks "$PROF_PID") began=$(date +%s%N)
sleep "$seconds"
end=$(cpu_ticks "$PROF_PID") ended=$(date +%s%N) rss=$(rss_kb "$PROF_PID")
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$WORK/out.stats" "many"
is "$(lost_of "$WORK/out.stats")" 0 "nothing was lost"
is "$(unread_of "$WORK/out.stats")" 0 "nothing was unreadable"
folded_roots "$WORK/out" | sort >"$WORK/roots"
seen=$(printf '%s\n' "${pids[@]}" | sort | join - "$WORK/roots" | wc -l)
is "$seen" "$total" "all processes were sampled"
share=$(python3 -c 'import os, sys; b, e, t0, t1 = map(float, sys.argv[1:])
print("%.2f" % (100 * (e - b) / os.sysconf("SC_CLK_TCK") / ((t1 - t0) / 1e9)))' "$begin" "$end" "$began" "$ended")
figure "100 busy R processes, 99 Hz, $seconds s: $(stat_of "$WORK/out.stats" written) samples, 0 lost; the profiler took" \
	"$share % of one core and $rss KiB of memory"
# The aim is 1 % and 24 MiB; what is asserted leaves room for sanitizers and slow machines.
check "the profiler took little ($share %, $rss KiB)" python3 -c 'import sys; s, r = map(float, sys.argv[1:])
sys.exit(not (s < 5 and r < 65536))' "$share" "$rss"
done_testing
