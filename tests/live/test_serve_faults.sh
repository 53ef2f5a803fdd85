#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: serve output base os
# timeout: 900
# engines: bpf
#
# serve, when things go wrong: the process that writes hangs, there are too many stacks, and too many processes. What was lost is
# counted, and nothing ends it. (A full disk, and killed at each system call: unit:serve/linux/store_faults, front. The clock is set:
# unit:serve/linux/intervals. Thousands that come and go: live:all_churn.)
# shellcheck disable=SC2034 # what eval sees
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

target_start host spin
spin=$TARGET_PID

# --- the one that writes hangs ---

dir=$WORK/hung
serve_start --dir "$dir" --interval "$(long_interval)" -F 99 --max-cpu 0 --max-memory 16M --pid "$spin"
ok $? "serve starts"
front=$(serve_front)
kill -STOP "$front"
# an interval at each signal: most of them fit into the socket
for _ in 1 2 3; do
	lines=$(wc -l <"$SERVE_ERR")
	kill -USR1 "$SERVE_PID"
	check "an interval ends" wait_until 60 eval '[ "$(wc -l <"$SERVE_ERR")" -gt "$lines" ]'
done
has_samples() {
	kill -USR1 "$SERVE_PID"
	[ "$(serve_summary)" -gt 0 ]
}
wait_until 60 has_samples
kill -KILL "$front"
check "serve stops waiting for it: it logs what was lost" serve_says '[0-9]+ intervals? could not be passed to the process that writes'
check "another one is started" serve_says 'has ended; restarting it'
# an interval without a sample has no file
writes() {
	kill -USR1 "$SERVE_PID"
	have 1
}
check "which writes" wait_until 60 writes
serve_stop
is "$SERVE_STATUS" 0 "exit status"
lost=$(sed -nE 's/.* intervals? could not be passed on completely; ([0-9]+) samples? w(as|ere) dropped$/\1/p' "$SERVE_ERR")
all=$(serve_summary)
check "in files $(samples_of "$dir"), counted as lost $lost" [ "${lost:-0}" -gt 0 ]
is $((lost + $(samples_of "$dir"))) "$all" "those are all"

# --- too many stacks ---

dir=$WORK/many
target_start host mixed 600
target_go
serve_start --dir "$dir" --interval 4 -F 499 --max-cpu 0 --max-stacks 16 --pid "$TARGET_PID" --listen "unix:$WORK/many.sock"
ok $? "serve starts"
check "too many stacks are logged" serve_says 'too many different stacks.*--max-stacks' 120
stackless=$(curl -sS -m 60 --unix-socket "$WORK/many.sock" http://localhost/metrics | awk '$1 == "xrprof_stackless_samples_total" { print $2 }')
check "and counted: ${stackless:-none}" [ "${stackless:-0}" -gt 0 ]
serve_stop
is "$(grep -c 'too many different stacks' "$SERVE_ERR")" 1 "it is logged once"
check "of them some are <no-room>" eval 'zcat $(intervals_in "$dir") | grep -qa "<no-room>"'
check "the summary has it, too" grep -qE 'memory was full for 0 names and the stacks of [1-9][0-9]* sample' "$SERVE_ERR"
is "$(samples_of "$dir")" "$(serve_summary)" "all samples are counted"
target_kill

# --- too many processes ---

helper=$WORK/all_fork.so
fixture "$helper" all_fork.c -shared -fPIC
dir=$WORK/crowd
target_start host crowd "$helper" 60
serve_start --dir "$dir" -F 499 --max-cpu 0 --max-processes 16 --comm R -v
ok $? "serve starts"
target_go
check "too many processes are reported" serve_says '[Tt]oo many|limit|no room' 120
check "all of them have computed" wait_until 200 eval '[ "$(wc -l <"$TARGET_DIR/pids" 2>/dev/null || echo 0)" -eq 60 ]'
mapfile -t children <"$TARGET_DIR/pids"
live_pids+=("${children[@]}")
serve_stop
is "$SERVE_STATUS" 0 "exit status"
is "$(samples_of "$dir")" "$(serve_summary)" "what was sampled is in the files"
kill -KILL "${children[@]}"
target_kill

done_testing
