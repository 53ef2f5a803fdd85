#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: cmd target os session
# timeout: 900
# engines: bpf
# alone: live
#
# --user, --comm, --cgroup, --exclude-pid get to the filters (unit:target/filters has what matches); and
# what list says to a user without rights. (Users and containers in it: live:list, live:rights.)
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

chmod 755 "$WORK"
umask 0 # R of another user writes to its folder
declare -A pid_of

# place NAME COMMAND...: a spinning R called NAME, started by COMMAND.
place() {
	TARGET_WRAP=("${@:2}")
	target_start host all_spin "$1"
	pid_of[$1]=$TARGET_PID
}

uid=65534
as_other=(setpriv "--reuid=$uid" "--regid=$uid" --clear-groups)
place byroot
place byother "${as_other[@]}"
place excluded

# have_samples NAME...: do these have some?
have_samples() {
	local name
	for name; do
		[ "$(folded_samples "$WORK/out" "${pid_of[$name]}")" -ge 20 ] || return
	done
}

# sees NAMES TEST OPTION...: of ours --all with these finds NAMES alone, which are sorted. All compute.
sees() {
	local names=$1 test=$2 seen name
	shift 2
	rm -f "$WORK/out"
	all_start "$WORK/out" -a "$@" || fail "$test: the profiler starts"
	if [ -n "$names" ]; then
		# shellcheck disable=SC2086 # words
		wait_until 120 have_samples $names
	else
		sleep 2
	fi
	prof_stop
	seen=$(for name in "${!pid_of[@]}"; do
		[ "$(folded_samples "$WORK/out" "${pid_of[$name]}")" -eq 0 ] || echo "$name"
	done | sort | xargs)
	[ "$PROF_STATUS" = 0 ] || grep -q 'no R process matched' "$WORK/out.err" || seen="failed: $(cat "$WORK/out.err")"
	is "$seen" "$names" "$test"
}

sees "byother byroot" "two users, and a pid that is excluded" \
	--user "$(id -nu $uid)" --user 0 --exclude-pid "${pid_of[excluded]}"
sees byother "three kinds that are met" --comm 'R*' --user $uid --cgroup /
sees '' "two kinds: both must be met" --comm Rworker --user $uid
like "$(cat "$WORK/out.err")" "no R process matched --" "and that none is met is reported"
sees '' "another control group" --cgroup /none

# R is first a shell that runs the script R. It is called R, too.
mkdir "$WORK/bin"
printf '#!/bin/sh\necho $$ >%s\nread -r line <%s\n' "$WORK/shell" "$WORK/fifo" >"$WORK/bin/R"
chmod 755 "$WORK/bin/R"
mkfifo "$WORK/fifo"
"$WORK/bin/R" &
live_pids+=($!)
wait_until 60 test -s "$WORK/shell"
is "$(cat "/proc/$(cat "$WORK/shell")/comm")" R "a shell is called R"

# A user without the rights gets a message that names what is missing.
install -m 755 "$XRPROF" "$WORK/bin/xrprof-bpf"
"${as_other[@]}" --inh-caps=-all "$WORK/bin/xrprof-bpf" list >"$WORK/denied"
is $? 0 "list without rights ends well"
like "$(grep -A 1 "^${pid_of[byroot]} " "$WORK/denied")" "cannot be profiled: .*run as root" "and says why root's R cannot be profiled"
grep -q "^$(cat "$WORK/shell") " "$WORK/denied"
is $? 1 "the shell is not listed"
grep -A 1 "^${pid_of[byother]} " "$WORK/denied" | tail -n 1 | grep -q '^ *cannot be profiled'
is $? 1 "its own can"
done_testing
