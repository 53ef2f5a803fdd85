#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf
# timeout: 300
# engines: bpf
# alone: yes
#
# What samples took, as the sampler counts it (`sample_seconds`), held against what the kernel says its program took
# (run_time_ns, with kernel.bpf_stats_enabled). Ours begins when the process was found to be one that is profiled: what is not
# in it is that question, the kernel's own clock around the program, and perf's interrupt, which is in neither.
. "$(dirname "$0")/../lib/live.sh"

program_stats_on || bail "no kernel.bpf_stats_enabled"

# taken RUNS: does the kernel count more runs of it?
taken() {
	local ns runs
	read -r ns runs < <(program_spent "$PROF_PID") && [ "$runs" -ge "$1" ] && [ "$ns" -gt 0 ]
}

for depth in 1 150; do
	target_start host deep 600 calls "$depth"
	target_go
	prof_start "$WORK/out.$depth" -q -F 999 -p "$TARGET_PID"
	ok $? "depth $depth: profiled"
	wait_until 60 taken 2000
	ok $? "depth $depth: 2000 times" || diag "$(program_spent "$PROF_PID")"
	# nothing runs any more: both counts stand still
	kill -STOP "$TARGET_PID"
	wait_until 20 eval 'a=$(program_spent $PROF_PID); sleep 0.1; [ "$a" = "$(program_spent $PROF_PID)" ]'
	read -r ns runs < <(program_spent "$PROF_PID")
	prof_stop
	is "$PROF_STATUS" 0 "depth $depth: it ends"
	check_stats "$PROF_OUT.stats" "depth $depth"
	is "$(stat_of "$PROF_OUT.stats" ticks)" "$runs" "depth $depth: each run of the program is a tick"
	ratio=$(awk -v o="$(stat_of "$PROF_OUT.stats" sample_seconds)" -v k="$ns" 'BEGIN { printf "%.3f", o * 1e9 / k }')
	figure "depth $depth: the kernel says $((ns / runs)) ns a sample, we say $ratio of that"
	awk -v r="$ratio" 'BEGIN { exit !(r >= 0.6 && r <= 1.05) }'
	ok $? "depth $depth: ours is 0.6 to 1.05 times the kernel's ($ratio)"
	target_kill
done
done_testing
