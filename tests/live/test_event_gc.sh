#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf target
# engines: bpf
# images: static bullseye trixie sid
# timeout: 900
# alone: live
#
# Collections as an event (--event gc): three functions allocate 1 : 2 : 4 in random order, and have
# these shares of the bytes, within what chance allows for the number of collections. The sum is
# that of the program. Of children, too; with another
# event at once; by a probe if all watchpoints are in use; and refused if there is neither.
. "$(dirname "$0")/../lib/live.sh"

places=${XRPROF_PLACES:-host static bullseye trixie sid}
fixture "$WORK/watch" watch.c -Wall -Wextra -Werror
# R's heap is small then, and there are many collections.
TARGET_OPTIONS=(--min-vsize=2M)
times=40000

# allocs NAME PLACE PROGRAM-ARGUMENT PROFILER-ARGUMENT...: one profile of one program, $OUT. R's counts of its memory are
# proven first, which takes a program that allocates.
allocs() {
	local name=$1 place=$2 how=$3
	shift 3
	target_start "$place" allocs "$times" $how
	[ -z "${WATCHED:-}" ] || watch_take "$TARGET_PID"
	OUT=$WORK/$name.out
	prof_start_whole "$OUT" -v "$@" -p "$TARGET_PID"
	target_go
	wait_until 120 eval 'grep -q "process $TARGET_PID: R.s memory counts are at" "$OUT.err" || gone "$PROF_PID"'
	ok $? "$name: R's counts are proven" || diag "$(cat "$OUT.err")"
	: >"$TARGET_DIR/warm"
	target_await_done || fail "$name: the program ends"
	prof_wait
	is "$PROF_STATUS" 0 "$name: exit status 0" || diag "$(cat "$OUT.err")"
	check_stats "$OUT.stats" "$name"
	is "$(unread_of "$OUT.stats")" 0 "$name: all stacks were read"
	is "$(lost_of "$OUT.stats")" 0 "$name: none was lost"
}

# shares NAME: of folded stacks, with a line for each collection, and what the program says
shares() {
	python3 - "$OUT" "$OUT.stats" "$TARGET_DIR" >"$OUT.shares" 2>&1 <<-'PY'
		import json, math, sys
	out, stats, folder = sys.argv[1:]
	got, total = dict.fromkeys(("small", "middle", "large"), 0), 0
	for line in open(out):
	    stack, n = line.rstrip("\n").rsplit(" ", 1)
	    frames = stack.split(";")
	    if "measured" in frames:
	        total += int(n)
	        for part in set(got) & set(frames):
	            got[part] += int(n)
	known = float(open(f"{folder}/bytes").read())
	event = json.load(open(stats))["events"][0]
	# the number of collections: all bytes by those of one collection
	n = total / (event["weight"] / event["samples"])
	off = total / known - 1
	print(f"{n:.0f} collections, {total} bytes, {100 * off:+.2f} % of what the program knows")
	bad = n < 200 or not -0.01 < off < 0.03 # R's frames are allocated, too
	for part, weight in zip(got, (1, 2, 4)):
	    p = weight / 7
	    share, sigma = got[part] / sum(got.values()), math.sqrt(p * (1 - p) / n)
	    print(f"{part}: {100 * share:.1f} %, should be {100 * p:.1f} +- {100 * sigma:.1f}")
	    bad |= abs(share - p) > 6 * sigma # by chance less than once in 10^8
	sys.exit(bad)
	PY
	ok $? "$1: shares and bytes" || diag "$(cat "$OUT.shares")"
	while read -r line; do figure "$1: $line"; done <"$OUT.shares"
}

for place in $places; do
	allocs "$place" "$place" '' -f folded --event gc
	shares "$place"
done
like "$(cat "$OUT.err")" "gc: [0-9]+ bytes" "the last line has bytes"

# --- the collector's mark is not on them ---
is "$(grep -c '<GC>' "$OUT")" 0 "no stack ends in <GC>"

# --- children. (Those that come while all are profiled: live:event_gc_many.) ---
allocs children host children -f folded --event gc
shares children

# --- two at once, and waiting ---
allocs two host '' -f pprof --off-cpu --event gc --event cpu-clock
check "two: sample types, and shares" python3 - "$tests/lib" "$OUT" "$TARGET_DIR/bytes" <<-'PY'
	import sys
	sys.path.insert(0, sys.argv[1])
	import raw_pprof
	samples, types = raw_pprof.read(sys.argv[2])
	known = float(open(sys.argv[3]).read())
	total = sum(s.values["gc"] for s in samples if "measured" in s.stack)
	ns = sum(s.values["cpu-clock"] for s in samples)
	print(types, total / known, ns)
	sys.exit(not (types["gc"] == "bytes" and types["cpu-clock"] == "nanoseconds" and 0.99 < total / known < 1.03 and ns > 0))
PY

# --- all watchpoints in use: a probe ---
watch_take() {
	coproc WATCH { exec "$WORK/watch" "$1"; }
	live_pids+=("$WATCH_PID")
	read -r watched <&"${WATCH[0]}"
	exec {watch_in}>&"${WATCH[1]}"
}
watch_give() {
	local pid=$WATCH_PID
	eval "exec ${WATCH[1]}>&-"
	exec {watch_in}>&-
	wait "$pid"
}
WATCHED=1
allocs probe host '' -f folded --event gc
WATCHED=
figure "watchpoints: $watched"
shares probe
watch_give

# --- neither ---
neither() {
	timeout -k 5 60 unshare -m sh -c 'mount -t tmpfs none /sys/devices/uprobe && exec "$@"' - "$XRPROF" "$@" \
		>"$WORK/neither.out" 2>"$WORK/neither.err" </dev/null
}
refused() { # NAME REASON
	neither -p "$TARGET_PID" --event gc -d 1
	is $? 1 "$1: exit status 1"
	is "$(wc -l <"$WORK/neither.err")" 1 "$1: one line" || diag "$(cat "$WORK/neither.err")"
	like "$(cat "$WORK/neither.err")" "$2" "$1: the reason"
}
if [ -d /sys/devices/uprobe ]; then
	target_start host allocs 1
	neither info
	# Some virtual machines let a watchpoint be set, and it sees nothing.
	if grep -q "no watchpoint: this CPU or virtual machine has no watchpoints" "$WORK/neither.out"; then
		why="this CPU or virtual machine has no watchpoints"
		skip "no watchpoint sees a write here" "info: a watchpoint"
	else
		why="all watchpoints of the CPU are in use"
		like "$(cat "$WORK/neither.out")" "collections +ok +a watchpoint" "info: a watchpoint" || diag "$(cat "$WORK/neither.err")"
	fi
	watch_take "$TARGET_PID"
	refused "neither, for this process" "no watchpoint \\($why\\), and no probe"
	watch_give
	watch_take cpus
	"$XRPROF" info >"$WORK/probe.out" 2>&1
	like "$(cat "$WORK/probe.out")" "collections +ok +a probe in R.s file; no watchpoint: .*in use" "info: a probe"
	# a program that starts when the profiler has given up what it no longer needs
	timeout -k 5 120 "$XRPROF" -e bpf --event gc -f folded -o "$WORK/started" -- R --vanilla --no-echo --min-vsize=2M \
		-e 'started <- function() numeric(1e5); for (i in 1:10000) started()' >"$WORK/started.out" 2>"$WORK/started.err" </dev/null
	is $? 0 "a probe in a program that is started: exit status" || diag "$(cat "$WORK/started.err")"
	check "a probe in a program that is started: its collections" grep -qE '(^|;)started;' "$WORK/started" || diag "$(cat "$WORK/started.err")"
	neither info
	like "$(cat "$WORK/neither.out")" "collections +- +no watchpoint: .*in use; no probes in files either" "info: neither"
	refused "neither, for any process" "cannot detect collections: no watchpoint .*in use"
	watch_give
	target_kill
else
	skip "the kernel has no uprobes" "neither a watchpoint nor a probe"
fi

done_testing
