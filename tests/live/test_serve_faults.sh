#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: serve output base os
# timeout: 900
# engines: bpf
#
# serve, when things go wrong: the disk is full and has room again, the process that writes hangs, the
# clock is set, there are too many stacks and too many processes. What was written is whole, what was
# lost is counted, and nothing ends it. (Killed at each system call: unit:serve/linux/store_faults.
# Thousands that come and go: live:all_churn.)
# shellcheck disable=SC2034 # what eval sees
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

damaged() {
	local file
	for file in $(intervals_in "$dir"); do gzip -t "$file" 2>&1 || echo "$file"; done
}

# the number of dropped samples in the last line about the directory
dropped_samples() {
	sed -nE 's/.*directory: .* profiles? with ([0-9]+) samples? dropped.*/\1/p' "$SERVE_ERR" | tail -n 1
}

target_start host spin
spin=$TARGET_PID

# --- the disk ---

mkdir "$WORK/small"
check "a small disk" mount -t tmpfs -o size=256k none "$WORK/small"
dir=$WORK/small/p
serve_start --dir "$dir" --interval 1 -F 299 --max-cpu 0 --pid "$spin"
ok $? "serve starts"
check "files come" wait_until 120 have 2
dd if=/dev/zero of="$WORK/small/fill" bs=4k 2>/dev/null
check "a full disk is reported" serve_says "directory $dir: .*[Nn]o space"
# (it may have been full for the index alone)
drops() {
	kill -USR1 "$SERVE_PID"
	[ "$(dropped_samples)" -gt 0 ]
}
wait_until 60 drops
before=$(intervals_in "$dir" | wc -l)
rm "$WORK/small/fill"
check "the end of a full disk is reported" serve_says "directory $dir: works again"
check "files come again" wait_until 120 have $((before + 2))
serve_stop
is "$SERVE_STATUS" 0 "exit status"
is "$(damaged)" "" "all files are whole"
check "intervals were lost meanwhile: $(dropped_samples) samples" [ "$(dropped_samples)" -gt 0 ]
is "$(($(samples_of "$dir") + $(dropped_samples)))" "$(serve_summary)" \
	"every sample is in a file or was dropped"
is "$(find "$dir" -name '.*' -type f)" "" "no part of a file is left"
umount "$WORK/small"

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

# --- the clock ---

dir=$WORK/clock
fixture "$WORK/clock_step.so" clock_step.c -shared -fPIC
echo 0 >"$WORK/step"
export LD_PRELOAD=$WORK/clock_step.so CLOCK_STEP=$WORK/step
serve_start --dir "$dir" --interval 2 -F 99 --pid "$spin"
ok $? "serve starts"
unset LD_PRELOAD CLOCK_STEP
check "files come" wait_until 120 have 2
for step in -3600 86400 0; do
	echo $step >"$WORK/step"
	before=$(intervals_in "$dir" | wc -l)
	check "the clock is set by $step seconds: files come" wait_until 120 have $((before + 2))
done
serve_stop
is "$(samples_of "$dir")" "$(serve_summary)" "every sample is in a file, once"
is "$(dropped_samples)" 0 "no sample was dropped"
long=$(intervals_in "$dir" | sed -E 's/.*-([0-9]+)(\.[0-9]+)?\.pb\.gz/\1/' | awk '$1 > 4')
is "$long" "" "no interval is longer than it should be"

# --- too many ---

dir=$WORK/many
target_start host mixed 600
target_go
serve_start --dir "$dir" --interval 4 -F 499 --max-cpu 0 --max-stacks 16 --pid "$TARGET_PID" --listen "unix:$WORK/many.sock"
ok $? "serve starts"
no_room() {
	local file
	for file in $(intervals_in "$dir"); do
		go tool pprof -raw "$file" 2>/dev/null | grep -q 'no-room' && return
	done
	return 1
}
wait_until 120 no_room
ok $? "of too many stacks some are <no-room>"
check "that is logged" serve_says 'too many different stacks.*--max-stacks'
stackless=$(curl -sS -m 60 --unix-socket "$WORK/many.sock" http://localhost/metrics | awk '$1 == "xrprof_stackless_samples_total" { print $2 }')
check "and counted: ${stackless:-none}" [ "${stackless:-0}" -gt 0 ]
serve_stop
is "$(grep -c 'too many different stacks' "$SERVE_ERR")" 1 "it is logged once"
check "the summary has it, too" grep -qE 'memory was full for 0 names and the stacks of [1-9][0-9]* sample' "$SERVE_ERR"
is "$(samples_of "$dir")" "$(serve_summary)" "all samples are counted"
target_kill

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
