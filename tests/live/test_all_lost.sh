#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: session engine/bpf os
# timeout: 900
# engines: bpf
# alone: live
#
# While the profiler is stopped, more processes start than the kernel can report. The profiler
# notices it, and finds each R. And R that becomes R that becomes R.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

target_start host all_spin parent 0 wait
all_start "$WORK/out" -a
ok $? "the profiler starts" || { done_testing; exit 1; }
kill -STOP "$PROF_PID"
flood() {
	local i
	for ((i = 0; i < 1500; i++)); do
		/bin/true
	done
}
flood
target_start host all_spin overlooked
flood
kill -CONT "$PROF_PID"
wait_until 300 eval '[ "$(folded_samples "$WORK/out" "$TARGET_PID" overlooked_inner)" -gt 0 ]'
ok $? "an R that started when records were lost is found"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$WORK/out.stats" "lost"
like "$(cat "$WORK/out.err")" "records of new processes were lost" \
	"the profiler reports lost records"

# --- exec over exec, with --subprocesses: the next R is followed, though a shell script stands between ---

helper=$WORK/all_fork.so
fixture "$helper" all_fork.c -shared -fPIC
mkdir "$WORK/chain"
cp "$tests/live/r/common.R" "$WORK/chain"
cat >"$WORK/chain.R" <<-R
	source("$WORK/chain/common.R")
	dyn.load("$helper")
	n <- length(list.files(folder, "^link")) + 1L
	put(paste0("link.", n))
	name <- paste0("chain_link_", n)
	assign(name, function() {
	    x <- 0
	    while (!file.exists("$WORK/chain.out") || !any(grepl(name, readLines("$WORK/chain.out", warn = FALSE), fixed = TRUE)))
	        for (i in 1:20000) x <- x + sqrt(i)
	})
	eval(call(name))
	if (n < 5L) .C("all_become", file.path(R.home("bin"), "R"), "$WORK/chain.R", folder)
R
prof_start "$WORK/chain.out" -s -f folded -- R --vanilla --no-echo -f "$WORK/chain.R" --args "$WORK/chain"
prof_wait
is "$PROF_STATUS" 0 "the profiler ends with the last of the chain" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "chain"
is "$(unread_of "$PROF_OUT.stats")" 0 "nothing was unreadable"
for n in 1 2 3 4 5; do
	[ "$(folded_pids "$WORK/chain.out" "chain_link_$n" | wc -l)" -eq 1 ]
	ok $? "link $n is sampled"
done
is "$(folded_pids "$WORK/chain.out" "chain_link_" | wc -l)" 1 "all by the same pid"

done_testing
