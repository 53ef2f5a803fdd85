#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf include engine/remote target
# also: ptrace
# images: static bullseye trixie sid
# timeout: 900
#
# Marks of garbage collection are those of R's own profiler: a program that makes much garbage runs
# Rprof(gc.profiling = TRUE) on itself while it is profiled with --gc; both must have the same stacks, with and without
# the mark, in the same shares. On this machine's R, on an R without libR.so, and on the R of other Debian releases.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/agree.sh"

places=${XRPROF_PLACES:-host static bullseye trixie sid}
seconds=${XRPROF_SECONDS:-10}

printf '%s\n' '<GC>' vectors lists strings growing pairs frames finalized explicit quiet gc >"$WORK/expected.txt"

# gc_run PLACE: one run, which leaves TARGET_DIR/verdict. Rprof() samples CPU time; on a busy machine wall time is something else.
gc_run() {
	target_start "$1" gc "$seconds"
	prof_start "$TARGET_DIR/ours.out" --max-sample-time 1000000 -F 997 --gc --clock cpu -p "$TARGET_PID" || return 1
	target_go
	target_await_done 600 || return 1
	prof_wait
	timeout 120 Rscript --vanilla "$tests/live/compare.R" "$TARGET_DIR/oracle.out" "$PROF_OUT" - "$WORK/expected.txt" \
		window >"$TARGET_DIR/verdict" 2>&1
}

for place in $places; do
	agree "$place" gc_run "$place"
	marked=$(grep -c '^"<GC>" .*"window" $' "$PROF_OUT")
	all=$(grep -c '"window" $' "$PROF_OUT")
	figure "$place: $marked of $all samples in the collector"
	[ "$marked" -ge 100 ] && [ $((all - marked)) -ge 100 ]
	ok $? "$place: there are samples with the mark and without"
done
done_testing
