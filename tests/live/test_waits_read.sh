#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: engine/bpf session output
# engines: bpf
# timeout: 240
#
# Who reads a profile while it comes sees a program that only waits, in one wait that is not over; and when the reader goes the
# profile ends, though the program still waits.
. "$(dirname "$0")/../lib/live.sh"

target_start host wait
target_rests

# piped LINES ARG...: the first lines of a profile to a pipe whose reader then closes it.
piped() {
	local lines=$1
	shift
	timeout -s KILL 100 "$XRPROF" -e "$XRPROF_ENGINE" -p "$TARGET_PID" -F 100 "$@" 2>"$WORK/err" </dev/null | head -n "$lines" >"$WORK/out"
	STATUS=${PIPESTATUS[0]}
}

for clock in '--clock wall' '--off-cpu'; do
	# shellcheck disable=SC2086
	piped 150 -f rprof $clock
	is "$STATUS" 0 "rprof, $clock: it ended when the reader closed the pipe" ||
		diag "$(cat "$WORK/err")"
	is "$(grep -c '^"Sys.sleep" "resting" $' "$WORK/out")" 149 "rprof, $clock: the lines of the wait came" || diag "$(head "$WORK/out")"
	# shellcheck disable=SC2086
	piped 2 -f folded $clock
	is "$STATUS" 0 "folded, $clock: it ended" || diag "$(cat "$WORK/err")"
	is "$(grep -cE '^resting;base::Sys.sleep [1-9][0-9]*$' "$WORK/out")" 2 "folded, $clock: the wait came, more than once" || diag "$(cat "$WORK/out")"
done
check "the program still waits" kill -0 "$TARGET_PID"
target_kill
done_testing
