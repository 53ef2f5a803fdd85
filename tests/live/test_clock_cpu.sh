#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: engine/remote
# timeout: 120
# engines: ptrace vmread
#
# --clock cpu samples the time that R is on a CPU, not that in which it is ready to run: two that compute share one CPU, and one
# of them has as many samples as it gets time of it.
. "$(dirname "$0")/../lib/live.sh"

freq=499
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[^0-9].*//')
target_start host spin
taskset -cp "$cpu" "$TARGET_PID" >"$WORK/pinned"
other=$TARGET_PID
target_start host spin
taskset -cp "$cpu" "$TARGET_PID" >>"$WORK/pinned"
is "$(wc -l <"$WORK/pinned")" 4 "both have the same CPU alone" || diag "$(cat "$WORK/pinned")"

used() { # ns on a CPU
	cut -d' ' -f1 "/proc/$TARGET_PID/schedstat"
}
enough() {
	[ "$(used)" -ge $((before + 2000000000)) ]
}
outer=$(used)
prof_start "$WORK/cpu.out" --clock cpu -F "$freq" -p "$TARGET_PID"
before=$(used) began=$(date +%s%N)
check "it gets two seconds of a CPU" wait_until 100 enough
cpu_ns=$(($(used) - before)) elapsed_ns=$(($(date +%s%N) - began))
prof_stop
outer_ns=$(($(used) - outer))
is "$PROF_STATUS" 0 "exit status 0"
[ $((cpu_ns * 10)) -lt $((elapsed_ns * 8)) ]
ok $? "and less time than there is" || diag "$cpu_ns ns in $elapsed_ns"
# One for each period of CPU time. The scheduler's count leaves out what interrupts and the hypervisor took of it. If the
# profiler gets no CPU for long, it misses what was due beyond TICKS_MAX (loop.c) and counts that.
ticks=$(stat_of "$PROF_OUT.stats" ticks) missed=$(stat_of "$PROF_OUT.stats" missed)
least=$((cpu_ns / 1000 * freq / 1000000)) most=$((outer_ns / 1000 * freq / 1000000))
figure "$XRPROF_ENGINE: $ticks samples, $missed ticks missed, $least to $most periods; it had a CPU $((cpu_ns / (elapsed_ns / 100))) % of the time"
[ $(((ticks + missed) * 10)) -ge $((least * 8)) ] && [ $((ticks * 10)) -le $((most * 12)) ]
ok $? "samples are those of its CPU time" || diag "$(cat "$PROF_OUT.stats")"
is "$(grep -c 'cannot count the CPU time' "$PROF_OUT.err")" 0 "CPU time can be counted" || diag "$(cat "$PROF_OUT.err")"
kill -KILL "$other"
target_kill
done_testing
