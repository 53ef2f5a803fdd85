#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
# engines: bpf
#
# 400 processes are named, and 300 files may be open: as many as can be are profiled, and of the others it is said once why
# not, and how many there are.
# pids: of forks.sh
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"
. "$tests/lib/forks.sh"

total=400
forks_start "$total"
is "${#pids[@]}" "$total" "$total processes run"

(
	ulimit -n 300 &&
		exec timeout -k 5 100 "$XRPROF" -e "$XRPROF_ENGINE" -f folded -d 2 --stats "$WORK/stats" -p "$(IFS=,; echo "${pids[*]}")"
) >"$WORK/out" 2>"$WORK/err" </dev/null
is $? 0 "what fits is profiled" || diag "$(head -n 5 "$WORK/err")"
check_stats "$WORK/stats" "few files"
profiled=$(stat_of "$WORK/stats" processes)
left=$(stat_of "$WORK/stats" rows_full)
[ "$profiled" -ge 150 ]
ok $? "those are many: $profiled"
is $((profiled + left)) "$total" "the others are counted: $left"
is "$(grep -c "too many open files.*ulimit -n" "$WORK/err")" 1 "why is said once" || diag "$(head -n 5 "$WORK/err")"
like "$(cat "$WORK/err")" "$left processes were not profiled" "how many there are is said at the end"
is "$(grep -cE 'is gone|has ended|no process' "$WORK/err")" 0 "none is taken for ended"
done_testing
