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
	    end <- cpu_time() + 0.3
	    x <- 0
	    while (cpu_time() < end) for (i in 1:500) x <- x + sqrt(i)
	})
	eval(call(name))
	if (n < 5L) .C("all_become", file.path(R.home("bin"), "R"), "$WORK/chain.R", folder)
R
prof -s -f folded -o "$WORK/chain.out" --stats "$WORK/chain.stats" -- \
	R --vanilla --no-echo -f "$WORK/chain.R" --args "$WORK/chain" 2>"$WORK/chain.err"
is $? 0 "the profiler ends with the last of the chain" || diag "$(cat "$WORK/chain.err")"
check_stats "$WORK/chain.stats" "chain"
is "$(unread_of "$WORK/chain.stats")" 0 "nothing was unreadable"
for n in 1 2 3 4 5; do
	[ "$(folded_pids "$WORK/chain.out" "chain_link_$n" | wc -l)" -eq 1 ]
	ok $? "link $n is sampled"
done
is "$(folded_pids "$WORK/chain.out" "chain_link_" | wc -l)" 1 "all by the same pid"

# --- a file for each process ---

target_start host all_spin first
first=$TARGET_PID
env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -a -v -o "$WORK/dir/" --stats "$WORK/dir.stats" 2>"$WORK/dir.err" </dev/null &
PROF_PID=$! PROF_OUT=$WORK/dir
live_pids+=("$PROF_PID")
wait_until 300 grep -q "watching for R" "$WORK/dir.err"
target_start host all_spin second 1
second=$TARGET_PID
open_files() {
	find "/proc/$PROF_PID/fd" -lname "*Rprof.$second.out" | wc -l
}
wait_until 300 test -s "$WORK/dir/Rprof.$second.out"
ok $? "a later process gets a separate file"
target_await_done
wait_until 300 gone "$second"
closed() {
	[ "$(open_files)" -eq 0 ]
}
wait_until 300 closed
ok $? "when it ends, its file is closed"
alive "$PROF_PID"
ok $? "and the profiler goes on"
check_rprof "$WORK/dir/Rprof.$second.out" "the file of the one that ended"
grep -q '"second_inner" "second_outer"' "$WORK/dir/Rprof.$second.out"
ok $? "it has its functions"
wait_until 300 grep -q first_inner "$WORK/dir/Rprof.$first.out"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$WORK/dir.stats" "files"
check_rprof "$WORK/dir/Rprof.$first.out" "the file of the one that runs"
is "$(grep -l first_inner "$WORK"/dir/*)" "$WORK/dir/Rprof.$first.out" "only it has its functions"
is "$(grep -l second_inner "$WORK"/dir/*)" "$WORK/dir/Rprof.$second.out" "and so with the other"
done_testing
