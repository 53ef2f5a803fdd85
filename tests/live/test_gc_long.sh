#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: session target
# also: ptrace vmread
# timeout: 200
#
# A profile that begins inside one long collection has marks: as long as it lasts nothing can be known of the flag that
# says so, whose place was read from machine code. R collects all the time here, and is held, by SIGSTOP, in a moment in
# which the flag is set, for more than two seconds. XRPROF_OBJECTS=30000000 makes each collection last that long instead.
. "$(dirname "$0")/../lib/live.sh"

objects=${XRPROF_OBJECTS:-300000}

# flag_of PID: R's flag that the collector is running, 0 or 1, where R_gc_running, of R up to 4.2, reads it; of a later R: 1.
flag_of() {
	python3 - "$1" <<-'PY'
		import re, subprocess, sys
		maps = open(f"/proc/{sys.argv[1]}/maps").read()
		start, path = re.search(r"^([0-9a-f]+)-\S+ \S+ 00000000 .*?(/.*/libR\.so)$", maps, re.M).groups()
		code = subprocess.run(["objdump", "-d", "--disassemble=R_gc_running", path], capture_output=True, text=True).stdout
		flag = re.search(r"# ([0-9a-f]+) ", code)
		if not flag:
		    print(1)
		    sys.exit()
		with open(f"/proc/{sys.argv[1]}/mem", "rb") as memory:
		    memory.seek(int(start, 16) + int(flag[1], 16))
		    print(int.from_bytes(memory.read(4), "little"))
	PY
}

# cpu_of PID: its CPU time in clock ticks, of which there are 100 a second.
cpu_of() {
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

target_start host gc_long "$objects"
if [ "$objects" -lt 1000000 ]; then
	held=
	for _ in $(seq 50); do
		kill -STOP "$TARGET_PID"
		wait_until 10 grep -q '^State:.T' "/proc/$TARGET_PID/status"
		[ "$(flag_of "$TARGET_PID")" = 1 ] && held=yes && break
		kill -CONT "$TARGET_PID"
		sleep 0.02
	done
	is "$held" yes "R is held inside a collection"
fi
prof_start "$WORK/out" -F 997 --gc --clock cpu -v -p "$TARGET_PID"
ok $? "the profiler starts" || diag "$(cat "$WORK/out.err")"
sleep 2.5
before=$(cpu_of "$TARGET_PID")
computed() {
	[ "$(cpu_of "$TARGET_PID")" -ge $((before + 300)) ]
}
kill -CONT "$TARGET_PID"
wait_until 120 computed
ok $? "R has computed for three seconds since"
# until a look falls between two collections nothing is marked; how many it takes is chance
wait_until 120 grep -q '^"<GC>"' "$WORK/out"
before=$(cpu_of "$TARGET_PID")
wait_until 120 computed
ok $? "and for three more since the first mark"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends" || diag "$(cat "$WORK/out.err")"
target_kill
check_stats "$WORK/out.stats" "gc_long"
all=$(sed -n '/^"<GC>"/,$p' "$WORK/out" | grep -c '"gc_all"')
marked=$(grep -c '^"<GC>".*"gc_all"' "$WORK/out")
figure "$marked of $all samples from the first mark on, of a program that does little but collect, have it"
[ "$all" -ge 300 ] && [ "$marked" -ge $((all / 2)) ]
ok $? "they have their marks" || diag "$(cat "$WORK/out.err")"
check "so say the statistics" python3 - "$WORK/out.stats" <<-'PY'
	import json, sys
	s = json.load(open(sys.argv[1]))
	assert s["gc"] == {"proven": 1, "code": 0, "none": 0}, s
PY
is "$(grep -c "collector is running" "$WORK/out.err")" 0 "and nobody was told otherwise" || diag "$(cat "$WORK/out.err")"
done_testing
