#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: engine/remote include
# timeout: 600
#
# A program that changes its stack as fast as R can: every stack written is a path of its call graph. Stacks that
# changed under the reader may be dropped, but are counted. XRPROF_SAMPLES: of each kind of program,
# default 5000.
# also: ptrace vmread
. "$(dirname "$0")/../lib/live.sh"

wanted=${XRPROF_SAMPLES:-5000}
enough() {
	[ "$(awk '{ n += $NF } END { print n + 0 }' "$PROF_OUT" 2>/dev/null)" -ge "$wanted" ] || gone "$PROF_PID"
}

for how in compiled plain built foreign; do
	target_start host flip 1 "$how" 10
	target_go
	prof_start "$WORK/$how.folded" -F 3999 -f folded -p "$TARGET_PID"
	ok $? "$how: the profiler starts"
	wait_until 120 enough
	prof_stop
	is "$PROF_STATUS" 0 "$how: exit status 0" || diag "$(cat "$PROF_OUT.err")"
	check_stats "$PROF_OUT.stats" "$how"
	check "$how: $wanted samples" [ "$(stat_of "$PROF_OUT.stats" written)" -ge "$wanted" ]
	verdict=$(timeout 100 Rscript --vanilla "$tests/live/graph.R" "$PROF_OUT" "$TARGET_DIR/edges.txt" 2>&1)
	ok $? "$how: no stack is wrong" || diag "$verdict"
	torn=$(stat_of "$PROF_OUT.stats" TORN rows)
	unreadable=$(stat_of "$PROF_OUT.stats" unreadable)
	# A running target may free what is being read; that sample is dropped as torn ones are.
	if [ "$XRPROF_ENGINE" = vmread ]; then
		[ "$unreadable" -ge "$torn" ] && [ $((unreadable - torn)) -le $((wanted / 100)) ]
		ok $? "$how: next to nothing was unreadable except torn stacks" ||
			diag "unreadable $unreadable, torn $torn"
	else
		is "$unreadable" "$torn" "$how: nothing was unreadable except torn stacks"
	fi
	figure "$XRPROF_ENGINE, $how: $(echo "$verdict" | head -n 1), $torn torn"
	check "$how: the target runs on" alive "$TARGET_PID"
	target_kill
done
done_testing
