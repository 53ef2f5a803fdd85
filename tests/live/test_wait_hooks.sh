#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: bpf engine/bpf session output
# engines: bpf
# timeout: 400
#
# The profiler sees waits by what the kernel has: sched_exit_tp, else a kprobe, else the end of
# system calls. If it has none of these the profiler reports it. The test removes them from the
# kernel's types, one after the other. Where there are kprobes they come first (tests/kernels has
# such kernels). And waits that are not over at the end, or when they are read, of a program that does nothing else.
. "$(dirname "$0")/../lib/live.sh"

python3 - "$WORK" <<'PY'
import sys
data = open("/sys/kernel/btf/vmlinux", "rb").read()
for file, names in (("older", ["sched_exit_tp"]), ("none", ["sched_exit_tp", "sys_exit"])):
    types = data
    for name in names:
        name = f"btf_trace_{name}\0".encode()
        types = types.replace(name, name[:-2] + b"?\0")
    open(f"{sys.argv[1]}/{file}.btf", "wb").write(types)
PY

# told FILE: seconds of waiting in handles() at 499 Hz
told() {
	awk '/;handles;base::Sys.sleep / { n += $NF } END { printf "%.3f\n", n / 499 }' "$1"
}

target_start host idle plain
figure "$("$XRPROF" info 2>&1 | grep -m 1 '^time off CPU')"
for types in '' older; do
	name=${types:-the kernel\'s own}
	prof -p "$TARGET_PID" --off-cpu -F 499 -d 5 -f folded ${types:+--btf "$WORK/$types.btf"} -o "$WORK/hook.out" \
		--stats "$WORK/hook.stats" 2>"$WORK/hook.err"
	is $? 0 "$name: exit status 0" || diag "$(cat "$WORK/hook.err")"
	check_stats "$WORK/hook.stats" "$name"
	# it waits 0.3 s each second
	check "$name: waits are there" awk "BEGIN { t = $(told "$WORK/hook.out"); exit !(t > 0.8 && t < 2.2) }" ||
		diag "$(cat "$WORK/hook.out")"
	figure "$name: $(told "$WORK/hook.out") s in handles()"
done
if [ -e /sys/bus/event_source/devices/kprobe/type ]; then
	skip "this kernel has kprobes" "without them, the end of system calls" "nothing at all"
else
	like "$(cat "$WORK/hook.err")" "only shows waits in system calls" "the profiler reports what it cannot see"
	prof -p "$TARGET_PID" --off-cpu -d 1 --btf "$WORK/none.btf" -o "$WORK/none.out" 2>"$WORK/none.err"
	is $? 1 "nothing: exit status 1"
	is "$(wc -l <"$WORK/none.err")" 1 "in one line" || diag "$(cat "$WORK/none.err")"
	like "$(cat "$WORK/none.err")" "sched_exit_tp.*kprobes.*--clock wall" "which says what it lacks, and what helps"
	timeout 60 "$XRPROF" -p "$TARGET_PID" --clock wall -d 1 --btf "$WORK/none.btf" -o "$WORK/none.out" 2>"$WORK/none.err"
	is $? 0 "--clock wall takes another engine" || diag "$(cat "$WORK/none.err")"
	like "$(cat "$WORK/none.err")" "using engine ptrace \(wall clock\)" \
		"the message has engine and clock"
fi

# With an event in place of ticks both are there, each in its own unit.
export WORK
prof -p "$TARGET_PID" --off-cpu --event page-faults --period 1 -d 4 -f pprof -o "$WORK/both.pb.gz" --stats "$WORK/both.stats" 2>"$WORK/both.err"
is $? 0 "with an event: exit status 0" || diag "$(cat "$WORK/both.err")"
check_stats "$WORK/both.stats" "with an event"
check "with an event: waits, and no CPU time" python3 - "$tests/lib" "$WORK/both.pb.gz" <<-'PY'
	import sys
	sys.path.insert(0, sys.argv[1])
	import raw_pprof
	samples, types = raw_pprof.read(sys.argv[2])
	waited = sum(s.values["off_cpu"] for s in samples if "handles" in s.stack) / 1e9
	print(types, waited)
	sys.exit(not (types == {"samples": "count", "off_cpu": "nanoseconds", "page-faults": "count"} and 0.5 < waited < 1.9))
PY
target_kill

# It sleeps before the profiler comes, and after it has gone.
target_start host wait
target_rests
prof -p "$TARGET_PID" --clock wall -F 100 -d 3 -f folded -o "$WORK/open.out" --stats "$WORK/open.stats" 2>"$WORK/open.err"
is $? 0 "a wait that is not over: exit status 0"
check_stats "$WORK/open.stats" "a wait that is not over"
lines=$(awk '/^resting;base::Sys.sleep / { n += $NF } END { print n + 0 }' "$WORK/open.out")
read -r counted due < <(python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))
print(round(100 * s["waits"]["seconds"]), round(100 * s["seconds"]))' "$WORK/open.stats")
[ $((lines - counted)) -ge -2 ] && [ $((lines - counted)) -le 2 ]
ok $? "it has its time: $lines of $counted periods" || diag "$(cat "$WORK/open.out" "$WORK/open.err")"
# the wait is noted, and read, some time after the profile begins and ends; the machine may halt between the two
[ "$lines" -ge $((due - 100)) ] && [ "$lines" -le $((due + 100)) ]
ok $? "which is that of the profile: $due periods" || diag "$(cat "$WORK/open.out" "$WORK/open.err")"

# A reader of a profile while it comes sees it, in one wait that is not over; and when the reader goes the profile ends, though
# the program still waits.

# piped LINES ARG...: the first lines of a profile to a pipe whose reader then closes it.
piped() {
	local lines=$1
	shift
	timeout -s KILL 100 "$XRPROF" -e "$XRPROF_ENGINE" -p "$TARGET_PID" -F 100 "$@" 2>"$WORK/err" </dev/null | head -n "$lines" >"$WORK/out"
	STATUS=${PIPESTATUS[0]}
}

for clock in '--clock wall' '--off-cpu'; do
	# shellcheck disable=SC2086
	piped 150 -f rprof $clock
	is "$STATUS" 0 "rprof, $clock: it ended when the reader closed the pipe" ||
		diag "$(cat "$WORK/err")"
	is "$(grep -c '^"Sys.sleep" "resting" $' "$WORK/out")" 149 "rprof, $clock: the lines of the wait came" || diag "$(head "$WORK/out")"
	# shellcheck disable=SC2086
	piped 2 -f folded $clock
	is "$STATUS" 0 "folded, $clock: it ended" || diag "$(cat "$WORK/err")"
	is "$(grep -cE '^resting;base::Sys.sleep [1-9][0-9]*$' "$WORK/out")" 2 "folded, $clock: the wait came, more than once" || diag "$(cat "$WORK/out")"
done
check "the program still waits" kill -0 "$TARGET_PID"

# It is in top, and in the intervals of serve, which have all its time. (What of a long wait belongs to an interval is read about
# twice a second: on a busy machine it comes later.)
"$XRPROF" top -p "$TARGET_PID" --off-cpu --sample-type off_cpu --batch 3 >"$WORK/top.out" 2>"$WORK/top.err"
is $? 0 "top: exit status 0" || diag "$(cat "$WORK/top.err")"
like "$(cat "$WORK/top.out")" ' base::Sys.sleep' "top: it waits" || diag "$(cat "$WORK/top.out")"
"$XRPROF" serve -p "$TARGET_PID" --off-cpu --interval 2 --dir "$WORK/served" >"$WORK/serve.out" 2>&1 &
server=$!
live_pids+=("$server")
whole() {
	[ "$(find "$WORK/served" -name '*-2*.pb.gz' | wc -l)" -ge 3 ]
}
check "serve: there are three intervals" wait_until 60 whole
kill -INT "$server"
wait "$server"
is $? 0 "serve: exit status 0" || diag "$(cat "$WORK/serve.out")"
check "serve: they have all of its wait" python3 - "$tests/lib" "$WORK"/served/*.pb.gz <<-'PY'
	import sys
	sys.path.insert(0, sys.argv[1])
	import raw_pprof
	waited = {p: sum(s.values["off_cpu"] for s in raw_pprof.read(p)[0]) / 1e9 for p in sys.argv[2:]}
	passed = 2 * sum("-2" in p.rsplit("/", 1)[1] for p in waited)
	print(waited, passed)
	sys.exit(not 0.95 * passed <= sum(waited.values()))
PY
target_kill
done_testing
