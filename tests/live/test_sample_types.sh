#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: profile output cmd bpf
# timeout: 300
# engines: bpf
#
# A profile with two sample types, CPU time and waiting: report shows and keeps both. pprof's own reader checks what is in a
# file. (live:serve_types has the same of serve, live:top_events of top, unit:output/flamegraph of the page.)
# shellcheck disable=SC2034 # what eval sees
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

target_start host top
pid=$TARGET_PID

both_in() {
	"$XRPROF" report "$1" 2>/dev/null | grep -q ' busy$' && "$XRPROF" report "$1" --sample-type off_cpu 2>/dev/null | grep -q ' base::Sys.sleep$'
}

profile=$WORK/both.pb.gz
for seconds in 2 5 15 40; do
	prof -p "$pid" -d $seconds --off-cpu -o "$profile" 2>"$WORK/record.err"
	is $? 0 "CPU time and waiting are recorded" || diag "$(cat "$WORK/record.err")"
	! both_in "$profile" || break
done
is "$(raw "$profile" | sed -n 1p | tr -s ' ')" "samples/count cpu/nanoseconds[dflt] off_cpu/nanoseconds" "they are sample types"

# --- report ---

cpu=$(sum_of cpu "$profile")
waited=$(sum_of off_cpu "$profile")
report "$profile"
is "$STATUS" 0 "report"
like "$OUT" "^${profile}: [0-9]+ samples, [0-9.]+ s; also: off_cpu \(--sample-type NAME\)" "the first line says what else there is"
like "$OUT" " busy($|"$'\n'")" "CPU time is what computes"
# Going to sleep and waking up take CPU time, too, some tens of microseconds of each 10 ms: a tick may hit them.
total_of() {
	awk -v name="$1" '$NF == name { n += $3 } END { print n + 0 }' <<<"$OUT"
}
check "what sleeps takes next to none" by_chance "$(total_of base::Sys.sleep)" 0.05 "$(total_of busy)" || diag "$OUT"
report "$profile" --sample-type off_cpu
like "$OUT" "^${profile}: off_cpu, [0-9.]+ m?s; also: cpu" "waiting"
like "$(grep Sys.sleep <<<"$OUT")" "^ *[0-9.]+ m?s +[0-9.]+ +[0-9.]+ m?s +[0-9.]+  base::Sys.sleep$" "is what sleeps, as a duration"
report "$profile" --sample-type nothing
is "$STATUS" 2 "a type that there is not"
like "$ERR" "nothing.*it has: cpu, off_cpu" "the types of the profile are listed"
is "$OUT" "" "and nothing else"

report "$profile" -f folded
is "$(awk '{ n += $NF } END { printf "%.0f\n", n }' <<<"$OUT")" "$((cpu / (1000000000 / 99)))" "folded: ticks, as pprof's reader has them"
report "$profile" -f folded --sample-type off_cpu
is "$(awk '{ n += $NF } END { printf "%.0f\n", n }' <<<"$OUT")" "$waited" "folded: waiting in ns, as pprof's reader has it"
report "$profile" -f rprof --sample-type off_cpu
lines=$(grep -c '^"' <<<"$OUT")
is "$lines" "$((waited / (1000000000 / 99)))" "rprof: a line for each interval of it"

report "$profile" -o "$WORK/again.pb.gz"
is "$(sum_of cpu "$WORK/again.pb.gz") $(sum_of off_cpu "$WORK/again.pb.gz")" "$cpu $waited" "pprof again: nothing is lost"
is "$(raw "$WORK/again.pb.gz" | grep -c 'state:')" "$(raw "$profile" | grep -c 'state:')" "and why threads waited is kept"
is "$(raw "$WORK/again.pb.gz" | grep -o 'syscall:\[[a-z_0-9]*\]' | sort -u)" "$(raw "$profile" | grep -o 'syscall:\[[a-z_0-9]*\]' | sort -u)" \
	"and in what"
report "$profile" --sample-type off_cpu -o "$WORK/one.pb.gz"
is "$(raw "$WORK/one.pb.gz" | sed -n 1p | tr -s ' ')" "samples/count off_cpu/nanoseconds[dflt]" "or one type alone"
is "$(sum_of off_cpu "$WORK/one.pb.gz")" "$waited" "all of it"
report "$WORK/one.pb.gz"
like "$OUT" "^${WORK}/one.pb.gz: off_cpu, [0-9.]+ m?s"$'\n' "a file without ticks: what there is is shown"
report "$WORK/one.pb.gz" "$profile" -o "$WORK/turned.pb.gz"
is "$(sum_of cpu "$WORK/turned.pb.gz") $(sum_of off_cpu "$WORK/turned.pb.gz")" "$cpu $((2 * waited))" "files are added up by type, in any order"
prof -p "$pid" -d 1 -o "$WORK/plain.pb.gz" 2>/dev/null
report --diff "$WORK/plain.pb.gz" "$profile"
like "$OUT" "^before: .*plain.pb.gz: [0-9]+ samples.*"$'\n'"after: .*also: off_cpu" "--diff of CPU time"
report --diff "$WORK/one.pb.gz" "$profile" --sample-type off_cpu
like "$OUT" "^before: .*: off_cpu, [0-9.]+ m?s"$'\n'"after: .*: off_cpu, .*also: cpu" "and of waiting"
check "which is the same on both sides" eval '! grep -E "^ *[0-9]" <<<"$OUT" | grep -vE "[+-]0.0 .*[+-]0.0 "'

"$XRPROF" -q -p "$pid" --clock wall -d 2 -o "$WORK/wall.pb.gz" 2>"$WORK/wall.err"
is $? 0 "--clock wall in pprof" || diag "$(cat "$WORK/wall.err")"
check "has one sample type" eval '[ "$(raw "$WORK/wall.pb.gz" | sed -n 1p | tr -s " ")" = "samples/count wall/nanoseconds[dflt]" ]'
check "with why threads waited" eval 'raw "$WORK/wall.pb.gz" | grep -q "state:\[sleeping\].*syscall:\[[a-z_0-9]*\]"'
check "and none where they ran" eval 'raw "$WORK/wall.pb.gz" | grep "process:\[" | grep -qv "state:"'

target_kill
done_testing
