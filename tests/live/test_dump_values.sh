#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd values
# timeout: 200
# engines: vmread
#
# `dump --calls --locals`: the code of each call, and the type, length and first values of each variable, are what R has of
# them in the same process. Nothing is evaluated: a promise stays one, and an active binding is not run.
. "$(dirname "$0")/../lib/live.sh"

for place in $(all_places host static bullseye trixie sid); do
	[ "$place" = host ] || part_needs "$place" image "$place" || continue
	TARGET_WRAP=(bash -c 'ulimit -s unlimited; exec "$@"' -) # the calls need more than 8 MiB
	target_start "$place" dump_values
	"$XRPROF" dump -p "$TARGET_PID" --calls --locals --json >"$WORK/dump.json" 2>"$WORK/err"
	is $? 0 "$place: exit status" || diag "$(cat "$WORK/err")"
	check "$place: calls and variables are R's" "$tests/lib/dump_values.py" "$WORK/dump.json" "$TARGET_DIR"
	"$XRPROF" dump -p "$TARGET_PID" --locals >"$WORK/dump.txt" 2>"$WORK/err"
	like "$(cat "$WORK/dump.txt")" '        lazy +<promise: stop\("forced"\)>' "$place: a promise is not forced"
	like "$(cat "$WORK/dump.txt")" '        active +<active binding>' "$place: an active binding is not run"
	alive "$TARGET_PID"
	ok $? "$place: R goes on"
	figure "$place: $(wc -l <"$TARGET_DIR/calls") calls, $(wc -l <"$TARGET_DIR/locals") variables"
	target_kill
done
done_testing
