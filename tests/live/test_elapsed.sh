#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf include
# engines: bpf
# timeout: 300
#
# --clock wall has what R's own profiler has of elapsed time, Rprof(event = "elapsed") from R 4.4 on, in the same process: the
# same stacks in the same shares.
. "$(dirname "$0")/../lib/live.sh"

for place in trixie sid; do
	target_start "$place" elapsed 12
	prof_start "$WORK/$place.out" --clock wall -F 100 -p "$TARGET_PID"
	target_go
	check "$place: the program ends" target_await_done
	prof_stop
	is "$PROF_STATUS" 0 "$place: exit status 0" || diag "$(cat "$PROF_OUT.err")"
	check_rprof "$PROF_OUT" "$place"
	check_stats "$PROF_OUT.stats" "$place"
	python3 - "$PROF_OUT" "$TARGET_DIR/Rprof.out" "$TARGET_DIR/elapsed" >"$WORK/said" <<-'PY'
		import collections, math, sys

		def shares(path):
		    lines = [l.split() for l in open(path) if l.startswith('"')]
		    lines = [l for l in lines if '"work"' in l]
		    # what measures the time is called too often and too short to be compared
		    stacks = collections.Counter()
		    for l in lines:
		        frames = [f.strip('"').split(":")[-1] for f in l]
		        for timing in ("now", "Sys.time", ".POSIXct", "<Anonymous>"):
		            if timing in frames:
		                frames = frames[frames.index(timing) + 1:]
		        while frames and frames[0] in ("sum", "sqrt", ":", "+", "<", "as.numeric", "<GC>", "structure"):
		            frames = frames[1:]
		        stacks[" ".join(frames)] += 1
		    return stacks, len(lines)

		(ours, n), (theirs, m) = shares(sys.argv[1]), shares(sys.argv[2])
		due = 100 * float(open(sys.argv[3]).read())
		print(f"{due:.0f} due, {n} of ours, {m} of R's")
		wrong = not 0.97 * due < n < 1.03 * due
		# R's timer is a thread that waits, and that needs a CPU: those that come late are not made up for
		lost = max(0, 1 - m / due)
		for stack in sorted(set(ours) | set(theirs)):
		    p, q = ours[stack] / n, theirs[stack] / m
		    mean = (ours[stack] + theirs[stack]) / (n + m)
		    allowed = 0.01 + lost + 2 * math.sqrt(mean * (1 - mean) * (1 / n + 1 / m))
		    bad = abs(p - q) > allowed
		    wrong = wrong or bad
		    if bad or mean > 0.01:
		        print(f"{'WRONG: ' if bad else ''}{stack}: {p:.3f}, R's {q:.3f}, {allowed:.3f} allowed")
		sys.exit(wrong)
	PY
	ok $? "$place: the same stacks in the same shares" || diag "$(cat "$WORK/said")"
	figure "$place: $(tr '\n' ';' <"$WORK/said")"
	target_kill
done
done_testing
