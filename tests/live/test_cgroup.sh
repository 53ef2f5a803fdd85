#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: base os engine/bpf profile
# timeout: 400
# engines: bpf
#
# In a control group with little memory: in 64 MiB the profiler keeps its defaults while processes
# make a million different names and stacks. If it cannot start it reports it, and the kernel does
# not kill it.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

# The memory controller of either version of cgroups: where a group is made, and the files of its limit and its peak.
group=
for at in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	mkdir "$at/xrprof-test.$$" 2>/dev/null || continue
	for names in "memory.limit_in_bytes memory.max_usage_in_bytes" "memory.max memory.peak"; do
		[ -e "$at/xrprof-test.$$/${names% *}" ] || continue
		group=$at/xrprof-test.$$ limit=${names% *} peak=${names#* }
	done
	[ -z "$group" ] || break
	rmdir "$at/xrprof-test.$$"
done
if [ -z "$group" ]; then
	skip "no control group with a limit of memory can be made here" "little memory"
	done_testing
	exit
fi
cgroup_cleanup() {
	live_kill KILL "${live_pids[@]}"
	wait_until 10 rmdir "$group" 2>/dev/null
	live_cleanup
}
trap cgroup_cleanup EXIT
# become_confined COMMAND [ARG...]: be that, in that group. confined COMMAND [ARG...]: run it there.
become_confined() {
	# shellcheck disable=SC2016 # for the inner shell
	exec sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}
confined() {
	(become_confined "$@")
}

helper=$WORK/all_fork.so
fixture "$helper" all_fork.c -shared -fPIC
target_start host names_many "$helper" 600 600 6500

echo 16M >"$group/$limit"
confined env "$XRPROF" -e bpf -d 1 -p "$TARGET_PID" -o "$WORK/small.out" >"$WORK/small.txt" 2>"$WORK/small.err" </dev/null
is $? 1 "16 MiB: refused"
is "$(wc -l <"$WORK/small.err")" 1 "with one line" || diag "$(cat "$WORK/small.err")"
like "$(cat "$WORK/small.err")" "needs [0-9]+ MiB of memory.*allows 16.*raise its limit, or use --engine ptrace" "that says what to do"
confined env "$XRPROF" -d 1 -p "$TARGET_PID" -o "$WORK/other.out" >"$WORK/other.txt" 2>"$WORK/other.err" </dev/null
is $? 0 "without --engine, another one is taken" || diag "$(cat "$WORK/other.err")"
like "$(cat "$WORK/other.err")" "needs [0-9]+ MiB of memory" "the message has the reason"

echo 64M >"$group/$limit"
PROF_OUT=$WORK/out
become_confined env --default-signal "$XRPROF" -e bpf -F 3999 -s -v --lines --gc --max-file 16M -p "$TARGET_PID" -o "$PROF_OUT" \
	--stats "$PROF_OUT.stats" >"$PROF_OUT.stdout" 2>"$PROF_OUT.err" </dev/null &
PROF_PID=$!
live_pids+=("$PROF_PID")
wait_until 60 all_knows "$TARGET_PID"
ok $? "64 MiB: the profiler starts" || { diag "$(cat "$PROF_OUT.err")"; done_testing; exit 1; }
target_go
wait_until 300 eval '[ -e "$TARGET_DIR/big" ] || gone "$TARGET_JOB" || gone "$PROF_PID"'
: >"$TARGET_DIR/end"
alive "$PROF_PID"
ok $? "it runs while processes make a million names"
prof_stop
check_stats "$PROF_OUT.stats" "64 MiB"
[ "$(stat_of "$PROF_OUT.stats" names_dropped)" -gt 0 ]
ok $? "names were dropped: its memory was full"
figure "64 MiB: $(($(cat "$group/$peak") >> 20)) MiB at most, files that wait to be written to the disk among them;" \
	"$(stat_of "$PROF_OUT.stats" symbols) names sent, $(stat_of "$PROF_OUT.stats" names_dropped) dropped"
done_testing
