#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd values target
# timeout: 400
# engines: vmread
#
# `dump --calls --locals`: the code of each call, and the type, length and first values of each variable, are what R has of
# them in the same process. Nothing is evaluated: a promise stays one, and an active binding is not run.
#
# `dump --globals`: the largest objects have the sizes that object.size() has of them in the same process, each at one path,
# and none is counted twice.
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

	TARGET_WRAP=()
	target_start "$place" dump_globals
	"$XRPROF" dump -p "$TARGET_PID" --globals --json >"$WORK/dump.json" 2>"$WORK/err"
	is $? 0 "$place: --globals: exit status" || diag "$(cat "$WORK/err")"
	check "$place: sizes are R's" python3 - "$WORK/dump.json" "$TARGET_DIR/sizes" <<-'PY'
		import json, sys
		p = json.load(open(sys.argv[1]))["processes"][0]
		rows, whole = p["objects"], p["objects_all"]
		have = {r["path"]: r["bytes"] for r in rows}
		want = {k: int(v) for k, v in (line.split("\t") for line in open(sys.argv[2]))}
		held = [path for path in have if path in ("numbers", "shared[[1]]")]
		have["numbers"] = have[held[0]]
		assert whole["stopped"] is None, whole
		for path, size in want.items():
		    # what R has elsewhere, too, such as the class of an S4 object, may count there
		    assert size - 400 <= have.get(path, 0) <= size, (path, size, have)
		assert len(held) == 1 and "compact" not in have, have
		assert sum(want.values()) < whole["bytes"] and sum(r["bytes"] for r in rows) <= whole["bytes"], whole
		assert next(r for r in rows if r["path"] == "frame")["class"] == "data.frame", rows
	PY
	like "$("$XRPROF" dump -p "$TARGET_PID" --globals)" 'read while the process ran' "$place: --globals: as text"
	alive "$TARGET_PID"
	ok $? "$place: R goes on"
	target_kill
done
done_testing
