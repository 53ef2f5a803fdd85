#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf include
# engines: bpf
# timeout: 600
#
# Samples at events (--event): what happens so often in a program is in the profile so often, under the function that it
# happens in. Calls of a function, a probe that a file has built in, system calls, page faults; of children, too; several
# at once; each, and each Nth. The program counts what it does itself.
. "$(dirname "$0")/../lib/live.sh"

# Tracepoints need tracefs: in a mount namespace of this test, if it is not there.
if [ ! -d /sys/kernel/tracing/events ]; then
	[ -z "${XRPROF_TEST_UNSHARED:-}" ] || bail "no tracefs"
	rm -rf "$WORK"
	XRPROF_TEST_UNSHARED=1 exec unshare -m bash -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' - "$0" "$@"
fi

so=$WORK/events.so
fixture "$so" events.c -O2 -shared -fPIC -Wall -Wextra -Werror
n=10000

# every NAME PROGRAM-ARGUMENT PROFILER-ARGUMENT...: one profile of one program, $OUT
every() {
	local name=$1 how=$2
	shift 2
	target_start host events "$so" "$n" "$how"
	OUT=$WORK/$name.out
	prof_start_whole "$OUT" -p "$TARGET_PID" "$@" || fail "$name: the profiler starts"
	target_go
	target_await_done || fail "$name: the program ends"
	prof_wait
	is "$PROF_STATUS" 0 "$name: exit status 0" || diag "$(cat "$OUT.err")"
	check_stats "$OUT.stats" "$name"
	is "$(unread_of "$OUT.stats")" 0 "$name: all stacks were read"
	is "$(lost_of "$OUT.stats")" 0 "$name: none was lost"
}

# event_of FIELD [NUMBER]: of an event of the last profile
event_of() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["events"][int(sys.argv[3])][sys.argv[2]])' \
		"$OUT.stats" "$1" "${2:-0}"
}

# below FUNCTION: the numbers of the last profile's stacks with it, added up
below() {
	awk -v f="$1" '{ s = ";" $0; sub(/ [0-9]+$/, "", s); if (index(s ";", ";" f ";")) n += $NF } END { print n + 0 }' "$OUT"
}

total() {
	awk '{ n += $NF } END { print n + 0 }' "$OUT"
}

# --- each ---
every function '' -f folded --event "uprobe:$so:events_callee"
is "$(stat_of "$OUT.stats" ticks)" "$n" "function: a sample of each call"
is "$(below calling)" "$n" "function: below the function that calls it"
is "$(total)" "$n" "function: and nowhere else"
is "$(event_of name)" "uprobe:$so:events_callee" "function: --stats has its name"
is "$(event_of weight)" "$n" "function: and how many there were"
like "$(cat "$OUT.err")" "events_callee: $n\\)" "function: as the last line says"

every seventh '' -f folded --period 7 --event "uprobe:$so:events_callee"
is "$(event_of samples)" $((n / 7)) "seventh: a sample of each seventh"
is "$(below calling)" $((n / 7 * 7)) "seventh: that stands for seven"

every lines '' -f rprof --period 7 --event "uprobe:$so:events_callee"
is "$(samples_in "$OUT")" $((n / 7)) "lines: Rprof.out has a line for each sample"

every probe '' -f folded --event "usdt:$so:xrtest:hit"
is "$(cat "$TARGET_DIR/hits")" "$n" "probe: the program sees that the probe is in use"
is "$(below probing)" "$n" "probe: at both places, each time"
is "$(total)" "$n" "probe: and nowhere else"

every unused '' -f folded --event cpu-clock
is "$(cat "$TARGET_DIR/hits")" 0 "probe: off again when no profiler uses it"
is "$(($(event_of weight) % $(event_of samples)))" 0 "cpu-clock: each is a period"

every calls '' -f folded --event tracepoint:syscalls:sys_enter_getppid
is "$(below asking)" "$n" "calls: each system call"
is "$(total)" "$n" "calls: and no other"

# --- three at once, of children; so few that all their samples have room in the ring buffer ---
n=5000
every three children -f pprof --period 1 --event "uprobe:$so:events_callee" --event tracepoint:syscalls:sys_enter_getppid \
	--event page-faults
is "$(event_of weight 0)" "$n" "three, in children: calls of a function"
is "$(event_of weight 1)" "$n" "three, in children: system calls"
check "three, in children: page faults" [ "$(event_of weight 2)" -ge $((7 * n)) ]
if part_needs "three: go tool pprof has each type" program go; then
	export HOME=$WORK PPROF_TMPDIR=$WORK
	for event in "uprobe:$so:events_callee" tracepoint:syscalls:sys_enter_getppid; do
		said=$(go tool pprof -sample_index="$event" -top "$OUT" 2>/dev/null)
		is "$(sed -n 's/.* of \([0-9]*\) total$/\1/p' <<<"$said")" "$n" "three: go tool pprof has a type of $event"
	done
fi
profile=$OUT OUT=$WORK/three.folded
for of in "uprobe:$so:events_callee calling" "tracepoint:syscalls:sys_enter_getppid asking"; do
	"$XRPROF" report "$profile" --sample-type "${of% *}" -f folded -o "$OUT" 2>"$WORK/report.err" </dev/null
	is "$(below "${of#* }")" "$n" "three, in children: all below ${of#* }()" || diag "$(cat "$WORK/report.err")"
done

# --- page faults: all of them, and some ---
n=10000
every pages '' -f folded --period 1 --event page-faults
for f in small:1 middle:2 large:4; do
	got=$(below "${f%:*}") wanted=$((${f#*:} * n))
	# and those of the stack, of R's own memory
	[ "$got" -ge "$wanted" ] && [ "$got" -le $((wanted + 500)) ]
	ok $? "pages: ${f%:*} has $got, its own are $wanted"
done
n=400000
every some '' -f folded -F 4999 --event page-faults
n=10000
figure "some: $(event_of samples) samples of $(event_of weight) page faults"
# what each stands for adds up to all there are, which are the program's own and some of R's
[ "$(event_of weight)" -ge 2576000 ] && [ "$(event_of weight)" -le 3024000 ]
ok $? "some: as many as there are" || diag "$(cat "$OUT.stats")"
# After a pause it begins with each one, and needs some samples more until it takes fewer.
most=$(python3 -c 'import json, sys; print(round(2 * 4999 * json.load(open(sys.argv[1]))["seconds"]))' "$OUT.stats")
[ "$(event_of samples)" -lt "$most" ]
ok $? "some: as many samples a second as were asked for, or little more" || diag "$(event_of samples) of $most"

# --- what is refused: of names unit:engine/event_names, of files unit:engine/bpf/probe_file, of options unit:cmd/options ---
refused() {
	local wanted=$1 name=$2 pattern=$3
	shift 3
	timeout -k 5 60 "$XRPROF" "$@" >"$WORK/refused.out" 2>"$WORK/refused.err" </dev/null
	is $? "$wanted" "$name: exit status $wanted"
	is "$(wc -l <"$WORK/refused.err")" 1 "$name: one line" || diag "$(cat "$WORK/refused.err")"
	like "$(cat "$WORK/refused.err")" "$pattern" "$name: the reason"
}
target_start host events "$so" "$n" ''
pid=$TARGET_PID
refused 1 "no such tracepoint" 'no such tracepoint' --event tracepoint:syscalls:sys_enter_wrong -p "$pid"
refused 1 "no such function" 'no such function' --event "uprobe:$so:wrong" -p "$pid"
refused 1 "no such file" 'No such file' --event "uprobe:$WORK/none.so:f" -p "$pid"
umount -l /sys/kernel/tracing 2>/dev/null && [ ! -d /sys/kernel/tracing/events ] && [ ! -d /sys/kernel/debug/tracing/events ] &&
	[ -n "${XRPROF_TEST_UNSHARED:-}" ] &&
	refused 1 "no tracefs" 'mount -t tracefs' --event tracepoint:syscalls:sys_enter_getppid -p "$pid"
done_testing
