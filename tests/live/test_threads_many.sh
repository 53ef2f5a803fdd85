#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: engine/bpf os
# timeout: 180
# engines: bpf
#
# R with many threads that sleep: the profiler raises its limit of descriptors, has its events on CPUs if they do not
# suffice for the threads, and takes the next engine if they do not suffice for CPUs.
. "$(dirname "$0")/../lib/live.sh"

library=$WORK/threads.so
fixture "$library" threads.c -shared -fPIC -pthread
cpus=$(getconf _NPROCESSORS_ONLN)
out=$WORK/out
program=$XRPROF
XRPROF=$WORK/limited
printf '#!/bin/sh\nexec prlimit "--nofile=$NOFILE" "%s" "$@"\n' "$program" >"$XRPROF"
chmod +x "$XRPROF"

# profiles NAME ENGINE SOFT[:HARD]: with these limits R's stacks are sampled
profiles() {
	export NOFILE=$3
	XRPROF_ENGINE=$2
	prof_start "$out" -p "$TARGET_PID"
	wait_until 100 eval 'grep -q "\"beside\" $" "$out" || gone "$PROF_PID"'
	prof_stop
	is "$PROF_STATUS" 0 "$1: exit status 0" || diag "$(cat "$out.err")"
	grep -q '"beside" $' "$out"
	ok $? "$1: R's stacks are in the profile" || diag "$(cat "$out.err")"
}

target_start host threads "$library" 300
profiles "a soft limit that is too low" bpf "318:$(ulimit -Hn)"
profiles "too few descriptors for the threads" bpf $((80 + cpus))
profiles "too few for CPUs" auto 40
is "$(stat_of "$out.stats" engine)" ptrace "another engine is used"
NOFILE=40 "$XRPROF" -e bpf -p "$TARGET_PID" -o "$out" 2>"$out.err"
is $? 1 "if bpf was asked for: exit status 1"
grep -q "too many open files.*ulimit -n" "$out.err"
ok $? "and the reason is printed" || diag "$(cat "$out.err")"
is "$(NOFILE=123:200 "$XRPROF" -q -o /dev/null -- sh -c 'ulimit -Sn' 2>/dev/null)" 123 \
	"a command inherits the limit of the caller"
target_kill
done_testing
