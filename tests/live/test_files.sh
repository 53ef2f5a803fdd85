#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: os engine/bpf
# timeout: 120
# engines: bpf
#
# 400 processes are named, and 300 files may be open, which is too few for an event on each: events are on CPUs, and all
# processes are profiled.
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
is $? 0 "with few files it profiles" || diag "$(head -n 5 "$WORK/err")"
check_stats "$WORK/stats" "few files"
is "$(stat_of "$WORK/stats" processes)" "$total" "all of them"
is "$(stat_of "$WORK/stats" rows_full)" 0 "none is left out"
is "$(grep -cE 'is gone|has ended|no process' "$WORK/err")" 0 "none is taken for ended"
done_testing
