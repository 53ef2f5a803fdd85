#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include bpf engine/remote profile/calls profile/slower cmd/report_calls session
# tier: all
# also: ptrace vmread
# timeout: 900
#
# Single calls: a program logs what it serves, and the profiler finds each call that is long enough,
# once, with its start, its end and its duration within the error that the profile states. R
# collects garbage between calls, in them too, in a loop, or at allocations. The samples of a call
# have one number, which no other call has, and the program says by a label in which call it is.
# --slower keeps the samples of slow calls alone. CALLS: how many there are; CALLS_MS: how long the
# longest is (400).
. "$(dirname "$0")/../lib/live.sh"

# calls_run PLACE MODE N [OPTION...]: profile the program; leaves calls.pb.gz and the log
calls_run() {
	local place=$1 mode=$2 n=$3
	shift 3
	target_start "$place" calls "$mode" "$n" $again
	prof_start_whole "$TARGET_DIR/calls.pb.gz" -v -F $HZ -p "$TARGET_PID" --calls deal --calls batch "$@" || return 1
	wait_until 120 grep -q "the number of collections is at" "$PROF_OUT.err" || return 1
	wait_until 120 grep -q "its labels are found" "$PROF_OUT.err" || return 1
	target_go
	target_await_done 600 || return 1
	prof_wait
}

# calls_uncounted: calls met in samples without R's count of collections, where each sample must
# have it. bpf reads the thread that it interrupted. ptrace reads it while it stands still, but may
# run out of time. vmread gives up after some tries at an R that collects meanwhile.
calls_uncounted() {
	local n
	n=$(stat_of "$PROF_OUT.stats" uncounted calls)
	[ "$XRPROF_ENGINE" != vmread ] && [ "$(stat_of "$PROF_OUT.stats" over_budget)" -eq 0 ] || n=0
	echo "$n"
}

# calls_compare NAME: with the log
calls_compare() {
	local said status
	"$XRPROF" report --calls --json --top 0 "$PROF_OUT" >"$PROF_OUT.json" 2>"$PROF_OUT.report"
	is $? 0 "$1: report reads the calls" || diag "$(cat "$PROF_OUT.report")"
	said=$(python3 "$tests/live/calls.py" "$TARGET_DIR/log" "$PROF_OUT.json" "$PROF_OUT.stats" $HZ "$PROF_OUT" 2>&1)
	status=$?
	figure "$1: $(tail -n 1 <<<"$said")"
	ok $status "$1: each call is found once, and its duration is right" || diag "$said" "$(cat "$PROF_OUT.err")"
	is "$(stat_of "$PROF_OUT.stats" too_deep calls)" 0 "$1: no call is too deep"
	is "$(calls_uncounted)" 0 "$1: R's count of collections is known"
}

again=40 # two in three pairs have a sample in between, if R waits for a CPU: that all have is less likely than 10^-6
places=$(all_places host static bullseye trixie sid)
[ "$XRPROF_ENGINE" = bpf ] || places=$(all_places host)
for place in $places; do
	[ "$place" = host ] || part_needs "$place" image "$place" || continue
	for mode in none between both loop torture gctorture reuse; do
		HZ=99 n=${CALLS:-$([ "$place" = host ] && in_all_else 150 40 || echo 40)}
		case $mode in
		*torture) n=10 ;;
		# Each call waits for 60 ms, more than a period of 53 ms: the wait is a sample, with
		# exact ends. A collection takes far less than a period, so few have a sample, and
		# two calls that follow each other differ by the collection in between alone.
		reuse) HZ=19 n=400 ;;
		esac
		calls_run "$place" $mode "$n"
		ok $? "$place, gc $mode: it is profiled" || diag "$(cat "$TARGET_ERR" "$PROF_OUT.err")"
		calls_compare "$place, gc $mode"
		check_stats "$PROF_OUT.stats" "$place, gc $mode"
	done
	is "$(cat "$TARGET_DIR/again")" $again "$place: environments of calls that follow each other have one address"
done

# --- only slow calls ---

HZ=99
calls_run host none 30 --slower 100ms
ok $? "--slower: it is profiled" || diag "$(cat "$TARGET_ERR" "$PROF_OUT.err")"
"$XRPROF" report --calls --json --top 0 "$PROF_OUT" >"$PROF_OUT.json"
check "--slower: no outermost call is faster" python3 -c '
import json, sys
calls = json.load(open(sys.argv[1]))["slowest"]
batches = [c["ms"] for c in calls if c["function"] == "batch"]
sys.exit(not calls or min(batches, default=100) < 99)' "$PROF_OUT.json" || diag "$(cat "$PROF_OUT.json")"
kept=$(stat_of "$PROF_OUT.stats" kept calls)
fast=$(stat_of "$PROF_OUT.stats" fast calls)
outside=$(stat_of "$PROF_OUT.stats" outside calls)
check "--slower: samples of slow calls are kept" [ "$kept" -gt 0 ]
check "--slower: samples of other calls are counted" [ "$fast" -gt 0 ]
is "$(stat_of "$PROF_OUT.stats" dropped calls)" 0 "--slower: none is dropped"
figure "--slower: $kept samples kept, $fast of fast calls, $outside outside of calls"

# --- what programs read ---

if python3 -c 'import jsonschema' 2>/dev/null; then
	"$XRPROF" report --json-schema >"$WORK/schema.json"
	"$XRPROF" report --json "$PROF_OUT" >"$WORK/table.json"
	"$XRPROF" report --json --diff "$PROF_OUT" "$PROF_OUT" >"$WORK/diff.json"
	for file in "$PROF_OUT.json" "$WORK/table.json" "$WORK/diff.json"; do
		check "${file##*/} is valid by --json-schema" python3 -c '
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(json.load(open(sys.argv[2])), schema)' "$WORK/schema.json" "$file"
	done
else
	skip "python3 has no jsonschema" "the schema"
fi
done_testing
