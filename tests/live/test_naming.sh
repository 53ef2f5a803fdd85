#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: include bpf engine/remote target
# timeout: 900
# images: static bullseye trixie sid
#
# Frames are named as R's own profiler names them: a program that calls through every form of the naming rule runs
# Rprof() on itself while it is profiled from outside; both must have the same stacks in the same shares. On this
# machine's R, on an R without libR.so, and on the R of other Debian releases in their own mount and PID namespaces.
# also: ptrace
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/agree.sh"

places=${XRPROF_PLACES:-host static bullseye trixie sid}
seconds=10
# One run on PLACE: leaves TARGET_DIR/verdict by compare.R. Rprof() samples CPU time; on a busy machine wall time is something else.
naming_run() {
	target_start "$1" naming "$seconds"
	prof_start "$TARGET_DIR/ours.out" --max-sample-time 1000000 -F 997 --clock cpu -p "$TARGET_PID" || return 1
	target_go
	target_await_done || return 1
	prof_wait
	timeout 120 Rscript --vanilla "$tests/live/compare.R" "$TARGET_DIR/oracle.out" "$PROF_OUT" "$TARGET_DIR/known.txt" \
		"$TARGET_DIR/expected.txt" window >"$TARGET_DIR/verdict" 2>&1 || return 1
}

for place in $places; do
	agree "$place" naming_run "$place"
done
done_testing
