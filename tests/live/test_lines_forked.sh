#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: session target
# else: ptrace
# timeout: 200
#
# Children of an R that never runs byte code have innermost lines: where R's hidden variables lie is proven by the
# children, and holds for all processes of that R.
. "$(dirname "$0")/../lib/live.sh"

helper=$WORK/all_fork.so
check "the fixture builds" cc -O1 -shared -fPIC -o "$helper" "$tests/fixtures/all_fork.c" || {
	done_testing
	exit 1
}

# lines_of PID: "SAMPLES WITH" of a child: its samples in idle_child(), and those that tell the line being executed
lines_of() {
	awk '/"idle_child"/ { n++; if ($1 ~ /^[0-9]+#[345]$/) with++ } END { print n + 0, with + 0 }' \
		"$WORK/out/Rprof.$1.out"
}

target_start host idle_forks "$helper"
mkdir "$WORK/out"
env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" --clock cpu -F 499 --lines -s -v -o "$WORK/out/" \
	--stats "$WORK/out.stats" -p "$TARGET_PID" 2>"$WORK/out.err" </dev/null &
PROF_PID=$! PROF_OUT=$WORK/out
live_pids+=("$PROF_PID")
wait_until 60 test -s "$WORK/out/Rprof.$TARGET_PID.out"
ok $? "the profiler starts" || diag "$(cat "$WORK/out.err")"
target_go
target_await_done
ok $? "both children have computed"
prof_wait
is "$PROF_STATUS" 0 "the profiler ends" || diag "$(cat "$WORK/out.err")"
check_stats "$WORK/out.stats" "forked"
read -r first first_with < <(lines_of "$(cat "$TARGET_DIR/first")")
read -r second second_with < <(lines_of "$(cat "$TARGET_DIR/second")")
figure "samples with the line being executed: $first_with of $first in the first child, $second_with of $second in the" \
	"second"
[ "$first" -ge 100 ] && [ "$first_with" -ge $((first / 2)) ]
ok $? "the first child proves where R keeps them while it runs"
[ "$second" -ge 100 ] && [ "$second_with" -ge $((second * 95 / 100)) ]
ok $? "the second child has them from its start"
done_testing
