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
declare -A pid_of

# place NAME COMMAND...: a spinning R called NAME, started by COMMAND.
place() {
	local name=$1
	shift
	TARGET_DIR=$WORK/$name
	mkdir -p "$TARGET_DIR"
	cp "$tests"/live/r/*.R "$TARGET_DIR"
	chmod 777 "$TARGET_DIR"
	TARGET_ERR=$TARGET_DIR/stderr
	env --default-signal "$@" --vanilla --no-echo -f "$TARGET_DIR/all_spin.R" --args "$TARGET_DIR" "$name" \
		>"$TARGET_DIR/stdout" 2>"$TARGET_ERR" </dev/null &
	TARGET_JOB=$!
	live_pids+=("$TARGET_JOB")
	wait_until 300 test -e "$TARGET_DIR/ready" || {
		fail "$name starts"
		diag "$(cat "$TARGET_ERR")"
		done_testing
		exit 1
	}
	pid_of[$name]=$(cat "$TARGET_DIR/ready")
	live_pids+=("${pid_of[$name]}")
}

uid=65534
place byroot R
place byother setpriv --reuid=$uid --regid=$uid --clear-groups R
mkdir "$WORK/bin"
cp /usr/lib/R/bin/exec/R "$WORK/bin/Rworker"
place bycomm env R_HOME="$(R RHOME)" LD_LIBRARY_PATH="$(R RHOME)/lib" "$WORK/bin/Rworker"

# A control group as a container has it: its name holds the id.
id=$(echo "container $$" | sha256sum | cut -c 1-64)
group=
for root in /sys/fs/cgroup/systemd /sys/fs/cgroup; do
	if [ -e "$root/cgroup.procs" ] && mkdir "$root/docker-$id.scope" 2>/dev/null; then
		group=$root/docker-$id.scope
		break
	fi
done
if [ -n "$group" ]; then
	# shellcheck disable=SC2016
	place bygroup sh -c 'echo $$ >"$0/cgroup.procs" && exec R "$@"' "$group"
	end_group() {
		live_kill KILL "${pid_of[bygroup]}"
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			rmdir "$group" 2>/dev/null && break
			sleep 0.1
		done
		live_cleanup
	}
	trap end_group EXIT
fi

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

sees "$(printf '%s\n' "${!pid_of[@]}" | sort | xargs)" "no filter: all"
sees "$(printf '%s\n' "${!pid_of[@]}" | grep -vx bycomm | sort | xargs)" "two users, and a pid that is excluded" \
	--user "$(id -nu $uid)" --user 0 --exclude-pid "${pid_of[bycomm]}"
sees bycomm "--comm" --comm 'Rw*'
sees '' "two kinds: both must be met" --comm Rworker --user $uid
like "$(cat "$WORK/out.err")" "no R process matched --" "and that none is met is reported"
if [ -n "$group" ]; then
	sees bygroup "--cgroup by the container's short id" --cgroup "${id:0:12}"
else
	skip "no control group can be made here" "--cgroup"
fi

# R is first a shell that runs the script R. It is called R, too.
printf '#!/bin/sh\necho $$ >%s\nread -r line <%s\n' "$WORK/shell" "$WORK/fifo" >"$WORK/bin/R"
chmod 755 "$WORK/bin/R"
mkfifo "$WORK/fifo"
"$WORK/bin/R" &
live_pids+=($!)
wait_until 60 test -s "$WORK/shell"
is "$(cat "/proc/$(cat "$WORK/shell")/comm")" R "a shell is called R"

# A user without the rights gets a message that names what is missing.
cp "$XRPROF" "$WORK/bin/xrprof-bpf"
setpriv --reuid=$uid --regid=$uid --clear-groups --inh-caps=-all "$WORK/bin/xrprof-bpf" list >"$WORK/denied"
is $? 0 "list without rights ends well"
like "$(grep -A 1 "^${pid_of[byroot]} " "$WORK/denied")" "cannot be profiled: .*run as root" "and says why root's R cannot be profiled"
grep -q "^$(cat "$WORK/shell") " "$WORK/denied"
is $? 1 "the shell is not listed"
grep -A 1 "^${pid_of[byother]} " "$WORK/denied" | tail -n 1 | grep -q '^ *cannot be profiled'
is $? 1 "its own can"
done_testing
