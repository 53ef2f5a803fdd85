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
fixture "$helper" all_fork.c -shared -fPIC

# lines_of PID: "SAMPLES WITH" of a child: its samples in idle_child(), and those that tell the line being executed
lines_of() {
	awk '/"idle_child"/ { n++; if ($0 ~ /^("file.exists" )?[0-9]+#[345] /) with++ } END { print n + 0, with + 0 }' \
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
# the first computes until it has proven where they are, the second until it has samples enough
# counted CHILD SAMPLES WITH
counted() {
	local n with
	[ -s "$TARGET_DIR/$1" ] && [ -s "$WORK/out/Rprof.$(cat "$TARGET_DIR/$1").out" ] || return
	read -r n with < <(lines_of "$(cat "$TARGET_DIR/$1")")
	[ "$n" -ge "$2" ] && [ "$with" -ge "$3" ]
}
check "the first child proves where R keeps them while it runs" wait_until 100 counted first 200 100
: >"$TARGET_DIR/first.enough"
check "the second child has samples" wait_until 100 counted second 900 0
: >"$TARGET_DIR/second.enough"
target_await_done
ok $? "both children have computed"
prof_wait
is "$PROF_STATUS" 0 "the profiler ends" || diag "$(cat "$WORK/out.err")"
check_stats "$WORK/out.stats" "forked"
read -r first first_with < <(lines_of "$(cat "$TARGET_DIR/first")")
read -r second second_with < <(lines_of "$(cat "$TARGET_DIR/second")")
figure "samples with the line being executed: $first_with of $first in the first child, $second_with of $second in the" \
	"second"
[ "$second" -ge 100 ] && [ "$second_with" -ge $((second * 95 / 100)) ]
ok $? "the second child has them from its start" || diag "$(grep '"idle_child"' "$WORK/out/Rprof.$(cat "$TARGET_DIR/second").out" | grep -vE '^[0-9]+#[345] ')"
done_testing
