#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: engine/bpf bpf
# timeout: 900
# engines: bpf
#
# SIGKILL to the profiler: nothing is left attached, the targets run on, a new run starts at once.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

# The BPF programs and maps that process $1 holds: "prog 12", "map 7", one a line.
holds() {
	sed -nE 's/^(prog|map)_id:[[:space:]]*/\1 /p' /proc/"$1"/fdinfo/* 2>/dev/null | sort -u
}
# Are all of those in FILE gone from the kernel?
all_gone() {
	local kind id
	while read -r kind id; do
		! bpftool "$kind" show id "$id" >/dev/null 2>&1 || return 1
	done <"$1"
}

target_start host all_spin survivor
all_start "$WORK/first" -a
ok $? "the profiler starts" || { done_testing; exit 1; }
wait_until 300 eval '[ "$(folded_samples "$WORK/first" "$TARGET_PID" survivor_inner)" -gt 0 ]'
ok $? "it samples"
holds "$PROF_PID" >"$WORK/held"
grep -q prog "$WORK/held" && grep -q map "$WORK/held" && ! all_gone "$WORK/held"
ok $? "its programs and maps are in the kernel ($(wc -l <"$WORK/held"))"
kill -KILL "$PROF_PID"
wait "$PROF_PID" 2>/dev/null

# At once: no waiting for anything to go away first.
all_start "$WORK/second" -a
ok $? "a new run starts at once"
wait_until 300 eval '[ "$(folded_samples "$WORK/second" "$TARGET_PID" survivor_inner)" -gt 0 ]'
ok $? "and samples"
holds "$PROF_PID" >>"$WORK/held"
prof_stop
is "$PROF_STATUS" 0 "and ends"
check_stats "$WORK/second.stats" "second run"
wait_until 300 all_gone "$WORK/held"
ok $? "no program and no map is left of either"
alive "$TARGET_PID"
ok $? "the target runs"
progress=$(cpu_ticks "$TARGET_PID")
wait_until 300 eval '[ "$(cpu_ticks "$TARGET_PID")" -gt '"$progress"' ]'
ok $? "and goes on computing"
# What was written before the kill is whole lines.
is "$(grep -cvE '^.+ [0-9]+$' "$WORK/first")" 0 "the first profile has whole lines only"
done_testing
