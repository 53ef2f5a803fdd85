#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf
# engines: bpf
# timeout: 400
# alone: yes
#
# A program that does nothing but wait for another, many times a second, with --off-cpu. At 99 Hz the samples are as many as
# the rate allows. Ticks are soon those of CPUs (src/engine/bpf/switching.h), and with waiting they are the time that passes. At
# 50 kHz nearly each switch is walked and ticks come in the middle of these walks: every stack is one that the program can have,
# and everything is counted once.
#
# Argument: seconds of the second profile.
. "$(dirname "$0")/../lib/live.sh"
seconds=${1:-8}

cc -O2 -shared -fPIC -o "$WORK/pingpong.so" "$tests/fixtures/pingpong.c" && cc -O2 -o "$WORK/pingpong" "$tests/fixtures/pingpong.c"
ok $? "the other side builds"
TARGET_WRAP=(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[^0-9].*//')")
target_start host pingpong "$WORK/pingpong.so" "$WORK/pingpong" 20 2000 0
TARGET_WRAP=()
target_go

# stacks_are_right FILE: only what the program has
stacks_are_right() {
	python3 - "$1" <<-'PY'
		import re, sys
		right = re.compile(r"^outer_most(;down){0,20}(;inner(;[^ ]*)?)?(;<GC>)? \d+$|^base::stopifnot \d+$")
		wrong = [l for l in open(sys.argv[1]) if not right.match(l) and not l.startswith("<toplevel>")]
		print(*wrong[:10], sep="")
		sys.exit(bool(wrong) or not any(";inner" in l for l in open(sys.argv[1])))
	PY
}

prof_start_whole "$WORK/few.out" --off-cpu -F 99 -d 4 -f folded -p "$TARGET_PID"
prof_wait
is "$PROF_STATUS" 0 "99 Hz: exit status 0" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "99 Hz"
check "99 Hz: only its stacks" stacks_are_right "$PROF_OUT"
check "99 Hz: as many samples as the rate allows" python3 - "$PROF_OUT.stats" <<-'PY'
	import json, math, sys
	s = json.load(open(sys.argv[1]))
	waits, seconds, off = s["waits"]["waits"], s["seconds"], s["waits"]["seconds"]
	# one for each period of waiting, and one for each of CPU time
	due = 99 * seconds
	print(f"{waits / seconds:.0f} switches a second, {s['ticks']} samples, {due:.0f} for the time on and off the CPU ({off:.2f} s)")
	sys.exit(not (waits > 1000 * seconds and s["ticks"] < due + 5 * math.sqrt(due) and s["waits"]["lost"] == 0))
PY
figure "$(python3 -c 'import json, sys; s = json.load(open(sys.argv[1])); print(f"""{s["waits"]["waits"] / s["seconds"]:.0f} switches a second, {s["ticks"] / s["seconds"]:.0f} samples""")' "$PROF_OUT.stats")"

# By chance, as ticks of a CPU are: five standard deviations. Until the thread has had four seconds of a CPU.
on_cpu() { # ns
	cut -d' ' -f1 "/proc/$TARGET_PID/schedstat"
}
enough() {
	[ $(($(on_cpu) - before)) -gt 4000000000 ]
}
stolen=$(stolen_ticks) before=$(on_cpu) at=$(date +%s%N)
prof_start_whole "$WORK/time.pb.gz" --off-cpu -v -F 999 -f pprof -p "$TARGET_PID"
check "999 Hz: its thread has no event any more" wait_until 120 grep -q "switches a second: the events are now on all CPUs" "$PROF_OUT.err" ||
	diag "$(cat "$PROF_OUT.err")"
check "999 Hz: it goes on" wait_until 300 enough
share=$(awk "BEGIN { print ($(on_cpu) - $before) / ($(date +%s%N) - $at) }")
prof_stop
is "$PROF_STATUS" 0 "999 Hz: exit status 0" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "999 Hz"
export WORK
said=$(python3 - "$tests/lib" "$PROF_OUT" "$PROF_OUT.stats" "$share" $(($(stolen_ticks) - stolen)) <<-'PY'
	import json, math, os, sys
	sys.path.insert(0, sys.argv[1])
	import raw_pprof
	s = json.load(open(sys.argv[3]))
	share, stolen = float(sys.argv[4]), int(sys.argv[5]) / os.sysconf("SC_CLK_TCK")
	seconds, waited = s["seconds"], s["waits"]["seconds"]
	on = sum(sample.values["cpu"] for sample in raw_pprof.read(sys.argv[2])[0]) / 1e9
	error = 5 * math.sqrt(seconds * share * (1 - share) / 999) + 0.01 * seconds + stolen
	print(f"CPU time {on:.3f} s, {share * seconds:.3f} by the kernel; waiting {waited:.3f}; both {on + waited:.3f} of {seconds:.3f}, {error:.3f} allowed")
	# no lower limit: CPU time that a hypervisor takes without a report of it counts as the program's, and has no ticks
	sys.exit(on + waited > seconds + error or on > share * seconds + error)
	PY
)
ok $? "999 Hz: CPU time and waiting are no more than the time that passed" || diag "$said"
figure "$said"

prof_start_whole "$WORK/many.out" --off-cpu -F 50000 -d "$seconds" -f folded -p "$TARGET_PID"
prof_wait $((seconds + 60))
is "$PROF_STATUS" 0 "50 kHz: exit status 0" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "50 kHz"
check "50 kHz: only its stacks" stacks_are_right "$PROF_OUT"
for field in malformed partial unnamed unreadable; do
	is "$(stat_of "$PROF_OUT.stats" $field)" 0 "50 kHz: $field 0"
done
nested=$(stat_of "$PROF_OUT.stats" nested)
[ "$nested" -gt 0 ]
ok $? "50 kHz: ticks came in the middle"
figure "50 kHz: $(stat_of "$PROF_OUT.stats" ticks) samples, $nested ticks in the middle of a switch's walk, $(stat_of "$PROF_OUT.stats" lost) lost"
target_kill
done_testing
