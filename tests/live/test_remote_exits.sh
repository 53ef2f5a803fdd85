#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# anybody: yes
# touches: engine/remote bpf include
# timeout: 120
# also: ptrace vmread
#
# The memory of a process goes some time before the process: in an exit, which takes long when there is much of it, and in
# the exec of a forked child. Ticks that fall there are counted as exiting, and nothing else is unreadable.
. "$(dirname "$0")/../lib/live.sh"

exiting=0
# in make test until a tick has met an end, which the profiler may sleep through
for run in 1 2 3 4 5 6; do
	rm -f "$WORK/out"
	prof -F 1999 --lines -q -o "$WORK/out" --stats "$WORK/stats" -- R --vanilla --no-echo -f "$tests/live/r/exits.R" --args "$WORK/out" \
		>/dev/null 2>"$WORK/err"
	is $? 0 "run $run: exit status 0" || diag "$(cat "$WORK/err")"
	check_stats "$WORK/stats" "run $run"
	check_readable "$WORK/stats" "run $run"
	exiting=$((exiting + $(stat_of "$WORK/stats" exiting)))
	in_all || [ $exiting -eq 0 ] || break
done
check "ticks fell on the end of processes ($exiting)" [ $exiting -gt 0 ]
figure "$exiting ticks on the end of processes, of $run runs with 21 each"
done_testing
