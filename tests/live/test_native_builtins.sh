#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: include target session native
# engines: bpf ptrace
# images: trixie sid
# timeout: 600
#
# Builtins have the names by which R calls them: against R's profiler in the same process, which makes contexts of them, and
# against what the functions outside of them call. SAMPLES: the least number, of each R (4,000).
. "$(dirname "$0")/../lib/live.sh"

XRPROF=$BUILD/oracle-tap
[ -x "$XRPROF" ] || bail "$XRPROF is not there: run make unit-tests first"
samples=${SAMPLES:-4000}

enough() {
	[ "$(grep -cx sample "$XRPROF_FRAMES" 2>/dev/null)" -ge "$samples" ]
}

for place in ${XRPROF_PLACES:-host trixie sid}; do
	target_start "$place" native_builtins
	export XRPROF_FRAMES=$TARGET_DIR/frames
	prof_start "$TARGET_DIR/ours" -F 1999 --native=raw -p "$TARGET_PID"
	check "$place: it is profiled" wait_until 120 enough
	prof_stop
	target_kill
	said=$(python3 "$tests/lib/builtins.py" "$XRPROF_FRAMES" "$TARGET_DIR/calls" "$TARGET_DIR/primitives" 2>&1)
	ok $? "$place: all builtins are called what R calls them" || diag "$said"
	figure "$place: $(head -n 1 <<<"$said")"
	all=$(stat_of "$PROF_OUT.stats" builtins native) named=$(stat_of "$PROF_OUT.stats" builtins_named native)
	[ "$all" -gt 0 ] && [ $((2 * named)) -ge "$all" ]
	ok $? "$place: most of them have a name: $named of $all"
done
done_testing
