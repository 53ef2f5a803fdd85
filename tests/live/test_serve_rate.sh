#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: serve session engine/bpf engine/remote
# else: ptrace
# timeout: 300
#
# --max-cpu lowers the rate, whatever takes the samples, and all that was sampled before is sampled after it: a process
# that is named, and the child that it forked in between.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

dir=$WORK/profiles
target_start host master

# Is $1 in the newest profile? The interval is ended by hand, and its name is greater than $2.
newest_has() {
	kill -USR1 "$SERVE_PID"
	file=$(intervals_in "$dir" | tail -n 1)
	[[ $file > $2 ]] && zcat "$file" | grep -aqw "$1"
}

serve_start --dir "$dir" --interval 600 -F 499 --max-cpu 0.01% --pid "$TARGET_PID"
ok $? "serve starts" || bail "it does not"
target_go
wait_until 60 test -e "$TARGET_DIR/child"
ok $? "R forks" || bail "it does not"
child=$(cat "$TARGET_DIR/child")
live_pids+=("$child")
for name in in_master in_child; do
	check "$name is sampled" wait_until 60 newest_has "$name" ""
done
check "the rate is lowered" serve_says 'the rate is lowered from 499 to [0-9]+ Hz' 120
figure "$(grep -m 1 "is lowered" "$SERVE_ERR")"
last=$(intervals_in "$dir" | tail -n 1)
for name in in_master in_child; do
	check "$name is sampled at the new rate, too" wait_until 120 newest_has "$name" "$last"
done
is "$(grep -c "the rate cannot be changed" "$SERVE_ERR")" 0 "no event keeps the old one"
serve_stop TERM
is "$SERVE_STATUS" 0 "exit status"
target_kill
done_testing
