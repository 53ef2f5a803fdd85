#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf session
# timeout: 900
# engines: bpf
# alone: live
#
# A fork storm of an R parent, and exec over R: no row is left, nothing is attributed to another, each tick is accounted
# for.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

helper=$WORK/all_fork.so
fixture "$helper" all_fork.c -shared -fPIC
target_start host all_storm storm "$helper" 1000
storm=$TARGET_PID
storm_dir=$TARGET_DIR
target_start host all_storm exec "$helper"
replaced=$TARGET_PID
replaced_dir=$TARGET_DIR
all_start "$WORK/out" -a
ok $? "the profiler starts" || { done_testing; exit 1; }

: >"$storm_dir/go"
: >"$replaced_dir/go"
wait_until 300 test -e "$storm_dir/done"
ok $? "1,000 children came and went"
wait_until 300 test -e "$replaced_dir/done"
ok $? "one R became another"
wait_until 60 no_stale_rows "$PROF_PID"
is "$(stale_rows "$PROF_PID"; echo "status $?")" "status 0" "no row is left of a process that ended"
alive "$PROF_PID"
ok $? "the profiler runs"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$WORK/out.stats" "storm"
is "$(lost_of "$WORK/out.stats")" 0 "nothing was lost"
is "$(stat_of "$WORK/out.stats" rows_full)" 0 "there was room for all"

forked=$(grep -cE "forked by $storm(\$|,)" "$WORK/out.err")
# R itself may start a program or two.
[ "$forked" -ge 1000 ] && [ "$forked" -le 1010 ]
ok $? "the profiler saw each fork ($forked)"
folded_pids "$WORK/out" ';storm_child' >"$WORK/children"
grep -E "forked by $storm(\$|,)" "$WORK/out.err" | sed -E 's/.*process ([0-9]+) .*/\1/' | sort -u >"$WORK/forked"
is "$(sort "$WORK/children" | comm -23 - "$WORK/forked")" "" "only children are seen in their function"
samples=$(awk '/;storm_child/ { n += $NF } END { print n + 0 }' "$WORK/out")
figure "storm: 1,000 forks; $(wc -l <"$WORK/children") children were sampled, $samples times; $(stat_of "$WORK/out.stats" exiting)" \
	"ticks fell on ending processes"
# 5 ms of CPU time each: half a tick
[ "$samples" -ge 200 ]
ok $? "children are sampled from their start ($samples samples)"

is "$(folded_pids "$WORK/out" 'before_exec')" "$replaced" "before exec: its functions"
is "$(folded_pids "$WORK/out" 'after_exec')" "$replaced" "after exec: the new program's functions, of the same pid"
[ "$(folded_samples "$WORK/out" "$replaced" after_exec)" -ge 20 ]
ok $? "the new program is sampled as the old one was"
is "$(folded_samples "$WORK/out" "$replaced" 'before_exec.*after_exec|after_exec.*before_exec')" 0 "no stack has functions of both"
done_testing
