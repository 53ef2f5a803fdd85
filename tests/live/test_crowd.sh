#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: session engine/bpf engine/remote
# timeout: 300
# engines: bpf
# alone: live
#
# Many at once: 500 R processes for one profiler, also with few files open, and four profilers, of three
# engines, for one R.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

number=500
helper=$WORK/all_fork.so
fixture "$helper" all_fork.c -shared -fPIC

# --- 500 processes ---

target_start host crowd "$helper" $number
crowd=$TARGET_PID
all_start "$WORK/out" -F 997 -a
ok $? "the profiler starts" || { done_testing; exit 1; }
target_go
check "$number processes have computed" wait_until 200 eval '[ "$(wc -l <"$TARGET_DIR/pids" 2>/dev/null || echo 0)" -eq $number ]'
is "$(pgrep -P "$crowd" | wc -l)" $number "and are all there"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends well"
mapfile -t children <"$TARGET_DIR/pids"

# Few files may be open, too few for an event on each: events are on CPUs.
(
	ulimit -n 300 &&
		exec timeout -k 5 100 "$XRPROF" -e bpf -f folded -d 2 --stats "$WORK/few.stats" -p "$(IFS=, && echo "${children[*]:0:400}")"
) >"$WORK/few" 2>"$WORK/few.err" </dev/null
is $? 0 "with few files it profiles" || diag "$(head -n 5 "$WORK/few.err")"
check_stats "$WORK/few.stats" "few files"
is "$(stat_of "$WORK/few.stats" processes) $(stat_of "$WORK/few.stats" rows_full)" "400 0" "all that are named, and none is left out"
is "$(grep -cE 'is gone|has ended|no process' "$WORK/few.err")" 0 "none is taken for ended"
kill -KILL "$crowd" "${children[@]}"
sort -n "$TARGET_DIR/pids" >"$WORK/were"
folded_pids "$WORK/out" ';crowd_child' >"$WORK/seen"
is "$(comm -13 <(sort "$WORK/were") <(sort "$WORK/seen"))" "" "only they are seen in their function"
seen=$(wc -l <"$WORK/seen")
figure "of $number processes of 20 ms of CPU time at 997 Hz $seen were seen"
# 20 samples each are due
[ "$seen" -ge $((number * 99 / 100)) ]
ok $? "nearly all are seen ($seen)"
check_stats "$WORK/out.stats" "$number processes"
is "$(lost_of "$WORK/out.stats")" 0 "nothing was lost"
is "$(stat_of "$WORK/out.stats" rows_full)" 0 "there was room for all"

# --- four profilers ---

target_start host all_spin alone
profilers=()
for engine in bpf bpf ptrace vmread; do
	XRPROF_ENGINE=$engine prof_start "$WORK/of${#profilers[@]}" -F 499 --clock cpu -p "$TARGET_PID"
	ok $? "profiler ${#profilers[@]} ($engine) starts"
	profilers+=("$PROF_PID")
done
enough() {
	local i
	for i in 0 1 2 3; do
		[ "$(samples_in "$WORK/of$i")" -ge 300 ] || return 1
	done
}
check "each has its samples" wait_until 120 enough
target_kill
for i in 0 1 2 3; do
	PROF_PID=${profilers[$i]} PROF_OUT=$WORK/of$i
	prof_wait
	is "$PROF_STATUS" 0 "profiler $i: it ends well"
	check_stats "$PROF_OUT.stats" "profiler $i"
	check_rprof "$PROF_OUT" "profiler $i"
	is "$(awk 'NR > 1 && !/"alone_outer" /' "$PROF_OUT" | wc -l)" 0 "profiler $i: no stack but the program's"
done
done_testing
