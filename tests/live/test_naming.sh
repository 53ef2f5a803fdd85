#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 900
# images: static bullseye trixie sid
#
# Frames are named as R's own profiler names them: a program that calls through every form of the naming rule runs
# Rprof() on itself while it is profiled from outside; both must have the same stacks in the same shares. On this
# machine's R, on an R without libR.so, and on the R of other Debian releases in their own mount and PID namespaces.
# also: ptrace
. "$(dirname "$0")/../lib/live.sh"

places=${XRPROF_PLACES:-host static bullseye trixie sid}
seconds=10
# Rprof() samples CPU time; on a busy machine wall time is something else.
clock=()
[ "$XRPROF_ENGINE" = bpf ] || clock=(--clock cpu)

# One run on PLACE: leaves TARGET_DIR/verdict by compare.R.
naming_run() {
	target_start "$1" naming "$seconds"
	prof_start "$TARGET_DIR/ours.out" -F 997 "${clock[@]}" -p "$TARGET_PID" || return 1
	target_go
	target_await_done || return 1
	prof_wait
	timeout 120 Rscript --vanilla "$tests/live/compare.R" "$TARGET_DIR/oracle.out" "$PROF_OUT" "$TARGET_DIR/known.txt" \
		"$TARGET_DIR/expected.txt" window >"$TARGET_DIR/verdict" 2>&1 || return 1
}

for place in $places; do
	# A difference of shares or sets by chance alone happens once in a thousand runs: a run that differs is
	# repeated once with fresh samples, and must then agree.
	for attempt in 1 2; do
		naming_run "$place"
		status=$?
		if [ $status -eq 0 ] && ! grep -q ^FAIL "$TARGET_DIR/verdict"; then break; fi
		[ "$attempt" -eq 2 ] || diag "$place: first run differs:" "$(cat "$TARGET_DIR/verdict" "$TARGET_ERR")"
	done
	ok $status "$place: both profiles are there" || diag "$(cat "$PROF_OUT.err" "$TARGET_DIR/verdict" "$TARGET_ERR")"
	is "$PROF_STATUS" 0 "$place: exit status 0 when the program ends"
	while IFS= read -r line; do
		case $line in
		PASS*) pass "$place: ${line#PASS }" ;;
		FAIL*) fail "$place: ${line#FAIL }" ;;
		INFO*) figure "$place: ${line#INFO }" ;;
		*) diag "$line" ;;
		esac
	done <"$TARGET_DIR/verdict"
	check_stats "$PROF_OUT.stats" "$place"
	check_readable "$PROF_OUT.stats" "$place"
	is "$(lost_of "$PROF_OUT.stats")" 0 "$place: lost 0"
	is "$(stat_of "$PROF_OUT.stats" truncated)" 0 "$place: truncated 0"
done
done_testing
