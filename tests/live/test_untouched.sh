#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: bpf engine/bpf engine/remote
# engines: bpf vmread
# timeout: 120
#
# The target is never traced and never stopped: looked at as fast as can be while it is profiled at a high rate.
. "$(dirname "$0")/../lib/live.sh"

helper=$WORK/helper.so
fixture "$helper" target_helper.c -shared -fPIC -pthread
target_start host work 600 threads "$helper"
target_go
prof_start "$WORK/untouched.out" -F 1999 -p "$TARGET_PID"
ok $? "the profiler starts"
result=$(python3 - "$TARGET_PID" "$PROF_PID" "$WORK/untouched.out" <<-'PY'
	import os, signal, sys
	target, prof, out = sys.argv[1:]
	looks = traced = stopped = threads = 0
	def running():
	    try:
	        return open(f"/proc/{prof}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"
	    except OSError:
	        return False
	while running():
	    if looks >= 1000 and open(out).read().count("\n") > 300:
	        os.kill(int(prof), signal.SIGINT)
	        break
	    tasks = os.listdir(f"/proc/{target}/task")
	    threads = max(threads, len(tasks))
	    for tid in tasks:
	        lines = open(f"/proc/{target}/task/{tid}/status").read().splitlines()
	        field = dict(l.split(":\t", 1) for l in lines if ":\t" in l)
	        looks += 1
	        traced += field["TracerPid"] != "0"
	        stopped += field["State"][0] in "Tt"
	print(looks, threads, traced, stopped)
PY
)
read -r looks threads traced stopped <<<"$result"
prof_wait
is "$PROF_STATUS" 0 "exit status 0"
[ "${looks:-0}" -ge 1000 ]
ok $? "the target was looked at often"
is "$threads" 2 "both of its threads"
is "$traced" 0 "TracerPid was 0 throughout"
is "$stopped" 0 "no thread was ever stopped"
[ "$(samples_in "$WORK/untouched.out")" -gt 200 ]
ok $? "there are samples" || diag "$(cat "$WORK/untouched.out.err")"
figure "looked $looks times at $threads threads"
done_testing
