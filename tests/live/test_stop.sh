#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include engine/remote target session profile output
# engines: ptrace vmread
# timeout: 900
#
# usage: tests/live/test_stop.sh [LINES]
#
# Each sample taken from outside is R's: R is frozen at moments of chance, sampled as it stands, and SIGPROF waits for it, so that R's own
# profiler writes its line of exactly that instruction when it is let go. All samples of one stop must be equal to that
# line: names, source lines, the GC mark; and have the labels that R has then. Of all samples, those of one call have one
# number. With lines and marks, with filter.callframes, too, and with neither, on this machine's R, on an R without
# libR.so and on the R of other Debian releases. R is stopped LINES times in each mode (30, of make test-all 60).
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/oracle.sh"

lines=${1:-$(in_all_else 60 30)}
places=$(all_places host static bullseye trixie sid)
programs=(lines naming mixed gc limits labels)

# The freezer of cgroup v2 needs no controller, only a mount of it.
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -z "$cgroups" ]; then
	cgroups=$WORK/cgroup
	mkdir "$cgroups"
	mount -t cgroup2 none "$cgroups" 2>"$WORK/mount.err"
fi
freezer=$cgroups/xrprof-test.$$
if ! mkdir "$freezer" 2>>"$WORK/mount.err" || [ ! -e "$freezer/cgroup.freeze" ]; then
	skip "no freezer of cgroup v2 here: $(cat "$WORK/mount.err")" "stacks of R that stands still"
	done_testing
	exit
fi
# what is in it is killed by the other traps first
stop_cleanup() {
	echo 0 >"$freezer/cgroup.freeze"
	live_cleanup
	wait_until 10 rmdir "$freezer" 2>/dev/null
	[ "$cgroups" != "$WORK/cgroup" ] || umount "$cgroups"
	rm -rf "$WORK"
}
trap stop_cleanup EXIT

# stop_mode PLACE MODE OPTION...: one profile of the program that runs. 2: R failed of itself.
stop_mode() {
	local place=$1 mode=$2 name="$1, $2" said status
	shift 2
	echo "$TARGET_PID" >"$freezer/cgroup.procs"
	oracle_profile "$TARGET_DIR/$mode.ours" -F 997 --clock wall "$@" -p "$TARGET_PID" || {
		fail "$name: the profiler starts"
		return 1
	}
	target_go
	wait_until 120 oracle_proven "$mode" || fail "$name: lines and marks are proven"
	: >"$TARGET_DIR/measure.$mode"
	said=$(python3 "$tests/lib/oracle.py" freeze "$freezer" "$TARGET_PID" "$XRPROF_TIMES" "$lines" \
		"$TARGET_DIR/$mode.burns" "$TARGET_DIR/$mode" 2>&1)
	status=$?
	if [ $status -ne 0 ] && oracle_r_failed "$name"; then
		prof_stop
		return 2
	fi
	ok $status "$name: R is stopped $lines times" || {
		diag "$said" "$(tail -n 20 "$TARGET_ERR")"
		return 1
	}
	wait_until 300 eval '[ -e "$TARGET_DIR/$mode.done" ] || gone "$TARGET_JOB"'
	prof_stop
	oracle_compare "$mode" 1 "$lines" "$name"
	oracle_counts "$name"
}

for place in $places; do
	[ "$place" = host ] || part_needs "$place" image "$place" || continue
	# shellcheck disable=SC2046 # one word or none
	oracle_place stop "$place" "$lines" "${programs[@]}" $([ "$place" != host ] || oracle_packages)
done
done_testing
