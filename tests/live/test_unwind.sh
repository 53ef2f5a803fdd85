#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: include target native
# timeout: 900
# engines: bpf
#
# Unwinding by our tables (include/unwind_walk.h, src/target/linux/unwind/) against gdb, at random moments of an R at work: the program
# counter and the stack pointer of each frame. No profiler is in it: gdb holds the process, and gives the registers.
# STOPS=2000 for the figures of docs/internals/benchmarks.md.
. "$(dirname "$0")/../lib/live.sh"

stops=${STOPS:-150}
target_start host native_work
STOPS=$stops FRAMES=400 UNWIND=$BUILD/unwind-stack DEBUGINFOD_URLS='' timeout -k 5 800 \
	gdb -nx -batch -p "$TARGET_PID" -x "$tests/live/native_gdb.py" >"$WORK/gdb.out" 2>"$WORK/gdb.err" </dev/null
ok $? "gdb stops it $stops times" || diag "$(tail -n 20 "$WORK/gdb.err" "$WORK/gdb.out")"
read -r _ got _ frames _ equal _ whole < <(grep '^stops ' "$WORK/gdb.out")
is "$got" "$stops" "each time both tell their frames"
diag "$(sed -n '/^stops /,$p' "$WORK/gdb.out")"
another=$(sed -n 's/^differs \([0-9]*\): another.*/\1/p' "$WORK/gdb.out" | awk '{n += $1} END {print n + 0}')
# once in 2,000 gdb and we go different ways in libc, why is not known: docs/internals/benchmarks.md
[ "$another" -le $((1 + stops / 500)) ]
ok $? "no other frame than gdb's but in $another stacks: $equal of $frames are equal"
[ "$whole" -ge $((stops * 95 / 100)) ]
ok $? "$whole of $stops stacks are the same to their end"
done_testing
