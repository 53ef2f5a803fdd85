#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf session target
# timeout: 900
# engines: bpf
# alone: live
#
# Forked children are sampled from their first instruction, in proportion to their CPU time. With
# --subprocesses also children that are other programs, at any depth; with --all every R. Each has
# its own pid.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

# Workers report their CPU time and wait to be let go: children KIND SECONDS NUMBER
children() {
	target_go
	wait_until 300 eval '[ "$(cpus_left | wc -l)" -ge '"$1"' ]'
	is "$(cpus_left | wc -l)" "$1" "$2: all $1 workers have worked"
	# what was sampled before they reported is flushed within a second or two
	sleep 2.5
	: >"$TARGET_DIR/go_on"
}
# "PID SECONDS" of each worker
cpus_left() {
	local file
	for file in "$TARGET_DIR"/cpu.[0-9]*; do
		case $file in
		*.tmp | *'*') ;;
		*) echo "${file##*.} $(cat "$file")" ;;
		esac
	done
}

# --- mclapply: fork ---

target_start host all_children mclapply 0.6
all_start "$WORK/fork" -a
ok $? "mclapply: the profiler starts"
children 8 mclapply
target_await_done
prof_stop
is "$PROF_STATUS" 0 "mclapply: the profiler ends"
check_stats "$WORK/fork.stats" "mclapply"
cpus_left >"$WORK/cpu"
[ "$(folded_samples "$WORK/fork" "$TARGET_PID")" -gt 0 ]
ok $? "mclapply: the parent is sampled, by its own pid"
like "$(cat "$WORK/fork.err")" "process $(head -n 1 "$WORK/cpu" | cut -d' ' -f1) \(R\): forked by $TARGET_PID" \
	"mclapply: a child's parent is known"
# A worker at F Hz and T seconds of CPU time gets F T ticks, give or take the phase of its first and last one and of
# the clock: the share of all ticks it gets must be that of the CPU time. Five standard deviations and two ticks.
while read -r pid seconds; do
	echo "$pid $seconds $(folded_samples "$WORK/fork" "$pid" ";worker")"
done <"$WORK/cpu" >"$WORK/shares"
check "mclapply: samples of each worker in proportion to its CPU time" python3 - "$WORK/shares" <<-'PY'
	import sys
	rows = [l.split() for l in open(sys.argv[1])]
	time = sum(float(r[1]) for r in rows)
	ticks = sum(int(r[2]) for r in rows)
	assert len(rows) == 8 and ticks > 300, (len(rows), ticks)
	for pid, seconds, n in rows:
	    expect = ticks * float(seconds) / time
	    assert abs(int(n) - expect) <= 5 * expect ** 0.5 + 2, (pid, seconds, n, expect)
PY
figure "mclapply, 8 workers: $(awk '{ printf "%.2f s %d samples; ", $2, $3 }' "$WORK/shares")"

# --- programs: --subprocesses ---

for kind in cluster command; do
	case $kind in
	cluster) n=2 ;;
	command) n=1 ;;
	esac
	target_start host all_children $kind 0.7
	all_start "$WORK/$kind" -s -p "$TARGET_PID"
	ok $? "$kind: the profiler starts"
	children $n $kind
	target_await_done
	cpus_left >"$WORK/cpu"
	# when the last one has ended, so does the profiler
	target_kill
	prof_wait
	is "$PROF_STATUS" 0 "$kind: the profiler ends with the last of them"
	check_stats "$WORK/$kind.stats" $kind
	while read -r pid _; do
		[ "$(folded_samples "$WORK/$kind" "$pid" "${kind}_worker")" -ge 20 ]
		ok $? "$kind: -s samples worker $pid in its own function"
	done <"$WORK/cpu"
	is "$(folded_pids "$WORK/$kind" "${kind}_worker")" "$(cut -d' ' -f1 "$WORK/cpu" | sort -n)" \
		"$kind: no other process has it"
done

# Without -s a program that was started is not followed, with one named the others of the machine are not.
target_start host all_spin stranger
stranger=$TARGET_PID
target_start host all_children cluster 0.5
PROF_OUT=$WORK/alone
"$XRPROF" -e "$XRPROF_ENGINE" -v -f folded -o "$PROF_OUT" -p "$TARGET_PID" 2>"$PROF_OUT.err" </dev/null &
PROF_PID=$!
live_pids+=("$PROF_PID")
wait_until 300 all_knows "$TARGET_PID"
children 2 "without -s"
target_await_done
target_kill
prof_wait
is "$PROF_STATUS" 0 "without -s: the profiler ends with its process"
is "$(folded_pids "$WORK/alone" 'cluster_worker')" "" "without -s programs are not followed"
is "$(folded_samples "$WORK/alone" "$stranger")" 0 "and strangers are not sampled"
done_testing
