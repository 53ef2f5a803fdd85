#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf include engine/bpf profile
# timeout: 900
#
# A million samples of mixed work: none unreadable, none malformed (each is a path of the program's known call graph),
# ticks conserved. Several R processes at once, 9,999 samples per second of CPU time from each.
# XRPROF_SAMPLES: another number.
. "$(dirname "$0")/../lib/live.sh"

if [ "$XRPROF_ENGINE" = bpf ]; then
	wanted=${XRPROF_SAMPLES:-1000000}
	freq=9999
else
	# These engines look at the clock on the wall, from outside: as many as go into the time.
	wanted=${XRPROF_SAMPLES:-20000}
	freq=499
fi
targets=3
pids=
stat_files=()
dirs=()
for ((i = 0; i < targets; i++)); do
	# One of them works out the graph; the others work for as long as it takes.
	target_launch host mixed 100000 "$([ $i -eq 0 ] && echo graph)"
	dirs+=("$TARGET_DIR")
	jobs[i]=$TARGET_JOB
done
for ((i = 0; i < targets; i++)); do
	TARGET_DIR=${dirs[i]} TARGET_JOB=${jobs[i]} TARGET_ERR=${dirs[i]}/stderr
	target_await_ready
	ok $? "R program $i starts" || { done_testing; exit 1; }
	pids="$pids${pids:+,}$TARGET_PID"
	stat_files+=("/proc/$TARGET_PID/stat")
done
out=$WORK/million.folded
env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -F $freq --max-sample-time 1000000 -f folded -o "$out" --stats "$out.stats" \
	-p "$pids" >"$out.stdout" 2>"$out.err" </dev/null &
prof=$!
live_pids+=("$prof")
for dir in "${dirs[@]}"; do : >"$dir/go"; done

cpu_ms() {
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); t += $12 + $13 } END { printf "%d\n", t * 1000 / hz }' \
		"${stat_files[@]}" 2>/dev/null
}
before=$(cpu_ms)
# Until the targets have used the CPU time for that many ticks, at the rate that the kernel allows, and some more.
computed() {
	local allowed
	allowed=$(cat "$live_limit" 2>/dev/null || echo $freq)
	[ $(($(cpu_ms) - before)) -gt $((wanted * 1080 / (allowed < freq ? allowed : freq))) ] || gone $prof
}
wait_until 800 computed
alive $prof
ok $? "the profiler runs to the end" || diag "$(cat "$out.err")"
# The targets end first, so that the end of processes is part of it.
for pid in ${pids//,/ }; do kill -KILL "$pid"; done
wait_until 60 gone $prof || kill -INT $prof
wait $prof
is $? 0 "exit status 0"
check_stats "$out.stats" "million"
written=$(stat_of "$out.stats" written)
[ "$written" -ge "$wanted" ]
ok $? "at least $wanted samples" || diag "$(cat "$out.err" "$out.stats")"
is "$(unread_of "$out.stats")" 0 "unreadable 0" || diag "$(cat "$out.err" "$out.stats")"
is "$(stat_of "$out.stats" truncated)" 0 "truncated 0"
verdict=$(timeout 200 Rscript --vanilla "$tests/live/graph.R" "$out" "${dirs[0]}/edges.txt" 2>&1)
ok $? "every stack is a path of the call graph" || diag "$verdict"
is "$(awk '{ n += $NF } END { printf "%d\n", n }' "$out")" \
	"$((written + $(stat_of "$out.stats" no_r_frames)))" "the file holds every sample counted"
figure "$(echo "$verdict" | head -n 1); $(stat_of "$out.stats" exiting) exiting, $(stat_of "$out.stats" lost) lost"
figure "the check: $(echo "$verdict" | tail -n 1)"
done_testing
