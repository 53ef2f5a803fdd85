#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: output session cmd
# timeout: 600
# engines: bpf
#
# record in long runs: a file that cannot be written, rotated logs, the state on SIGUSR1.
. "$(dirname "$0")/../lib/live.sh"
chmod 755 "$WORK"

target_start host all_spin spinning
pid=$TARGET_PID
target_start host all_spin later 0.5 wait
later=$TARGET_PID
later_dir=$TARGET_DIR

# While all else goes on: a line a minute.
"$XRPROF" -e "$XRPROF_ENGINE" -v -p "$pid" -f folded -o "$WORK/minute.folded" 2>"$WORK/minute.err" </dev/null &
minute=$!
live_pids+=("$minute")

# --- one file that cannot grow ---
(
	ulimit -f 4
	exec timeout -k 5 100 "$XRPROF" -e "$XRPROF_ENGINE" -p "$pid,$later" -o "$WORK/two/" --stats "$WORK/two.stats" \
		--ready "$WORK/two.ready" 2>"$WORK/two.err" </dev/null
) &
job=$!
live_pids+=("$job")
check "a file that may not grow: the reason" wait_until 60 grep -q "cannot write to $WORK/two/Rprof.$pid.out: .*reached its size limit" "$WORK/two.err" ||
	diag "$(cat "$WORK/two.err")"
: >"$later_dir/go"
wait_until 100 test -e "$later_dir/done"
wait_until 60 grep -q later_inner "$WORK/two/Rprof.$later.out"
ok $? "the file of another process goes on" || diag "$(cat "$WORK/two.err")"
kill -INT "$(pgrep -P "$job" || echo "$job")" 2>/dev/null
wait "$job"
is $? 1 "the exit status is 1" || diag "$(cat "$WORK/two.err")"
summary="1 of 2 files in $WORK/two/ could not be written completely; [0-9]* samples"
is "$(grep -c "^[^:]*: $summary" "$WORK/two.err")" 1 "the summary reports it in a line" ||
	diag "$(cat "$WORK/two.err")"
check_rprof "$WORK/two/Rprof.$pid.out" "the file that could not grow"
check_rprof "$WORK/two/Rprof.$later.out" "the other file"
check_stats "$WORK/two.stats" "one of two files"
is "$(stat_of "$WORK/two.stats" written)" \
	$(($(samples_in "$WORK/two/Rprof.$pid.out") + $(samples_in "$WORK/two/Rprof.$later.out"))) \
	"the statistics count the written samples"
[ "$(stat_of "$WORK/two.stats" unwritten)" -gt 0 ]
ok $? "and what is not is counted: $(stat_of "$WORK/two.stats" unwritten)"

# --- rotated ---
# taken: samples so far, as SIGUSR1 says
asked=0
taken() {
	asked=$((asked + 1))
	kill -USR1 "$PROF_PID"
	wait_until 60 eval '[ "$(grep -cE " samples? (of|=) " "$PROF_OUT.err")" -ge "$asked" ]'
	grep -E " samples? (of|=) " "$PROF_OUT.err" | tail -n 1 | sed 's/^[^:]*: \([0-9]*\) sample.*/\1/'
}
more_than() {
	[ "$(taken)" -gt "$1" ]
}
# samples FILE: of any format
samples() {
	"$XRPROF" report -f folded -o - "$1" | awk '{ n += $NF } END { print n + 0 }'
}
for format in out folded pb.gz; do
	log=$WORK/$format
	mkdir "$log"
	asked=0
	PROF_OUT=$log/app.$format
	"$XRPROF" -e "$XRPROF_ENGINE" -p "$pid" -o "$PROF_OUT" --stats "$PROF_OUT.stats" --ready "$log/ready" \
		2>"$PROF_OUT.err" </dev/null &
	PROF_PID=$!
	live_pids+=("$PROF_PID")
	wait_until 120 test -s "$log/ready"
	check "$format: SIGUSR1 prints the state" wait_until 60 more_than 10
	stats=$(stat_of "$PROF_OUT.stats" written)
	[ "$stats" -gt 0 ]
	ok $? "$format: and writes the statistics: $stats written so far"
	mv "$PROF_OUT" "$log/old.$format"
	kill -HUP "$PROF_PID"
	check "$format: SIGHUP begins a new file" wait_until 60 test -e "$PROF_OUT"
	check "$format: and completes the one that was moved" wait_until 60 eval '[ "$(samples "$log/old.$format" 2>/dev/null)" -gt 0 ]'
	cp "$log/old.$format" "$log/old.copy"
	check "$format: samples go on" wait_until 60 more_than $(($(taken) + 10))
	kill -HUP "$PROF_PID"
	check "$format: what was not moved stays" wait_until 60 test -e "$log/app.1.$format"
	check "$format: and has its samples" wait_until 60 eval '[ "$(samples "$PROF_OUT" 2>/dev/null)" -gt 0 ]'
	check "$format: samples go on again" wait_until 60 more_than $(($(taken) + 10))
	prof_stop
	is "$PROF_STATUS" 0 "$format: it ends well" || diag "$(cat "$PROF_OUT.err")"
	check "$format: nothing was added to what was moved" cmp "$log/old.$format" "$log/old.copy"
	is $(($(samples "$log/old.$format") + $(samples "$PROF_OUT") + $(samples "$log/app.1.$format"))) \
		"$(stat_of "$PROF_OUT.stats" written)" "$format: each sample is in one of three files"
done

# Of a directory, where each process has a file.
log=$WORK/dir
PROF_OUT=$WORK/dir.out
asked=0
"$XRPROF" -e "$XRPROF_ENGINE" -p "$pid" -o "$log/" --stats "$PROF_OUT.stats" --ready "$WORK/dir.ready" 2>"$PROF_OUT.err" </dev/null &
PROF_PID=$!
live_pids+=("$PROF_PID")
wait_until 120 test -s "$WORK/dir.ready"
wait_until 60 more_than 10
mv "$log/Rprof.$pid.out" "$log/old.out"
kill -HUP "$PROF_PID"
check "directory: SIGHUP begins a new file" wait_until 60 test -e "$log/Rprof.$pid.out"
wait_until 60 more_than $(($(taken) + 10))
prof_stop
is "$PROF_STATUS" 0 "directory: it ends well" || diag "$(cat "$PROF_OUT.err")"
check_rprof "$log/old.out" "directory, the file that was moved"
is $(($(samples_in "$log/old.out") + $(samples_in "$log/Rprof.$pid.out"))) "$(stat_of "$PROF_OUT.stats" written)" \
	"directory: each sample is in one of two files"
is "$(cat "$log"/index*.jsonl | grep -c "\"Rprof.$pid.out\"")" 2 "directory: both are in an index" || diag "$(cat "$log"/index*.jsonl)"

# A pipe goes on.
"$XRPROF" -e "$XRPROF_ENGINE" -p "$pid" -f rprof --ready "$WORK/pipe.ready" 2>"$WORK/pipe.err" </dev/null > >(cat >"$WORK/pipe.out") &
PROF_PID=$!
PROF_OUT=$WORK/pipe.out
live_pids+=("$PROF_PID")
wait_until 120 test -s "$WORK/pipe.ready"
kill -HUP "$PROF_PID"
# shellcheck disable=SC2034 # what eval sees
before=$(samples_in "$WORK/pipe.out")
check "a pipe goes on after SIGHUP" wait_until 60 eval '[ "$(samples_in "$WORK/pipe.out")" -gt "$before" ]'
prof_stop
is "$PROF_STATUS" 0 "a pipe: it ends well" || diag "$(cat "$WORK/pipe.err")"

check "--verbose without a terminal: a line a minute" wait_until 120 grep -q " samples = " "$WORK/minute.err"
alive "$minute"
ok $? "while it goes on"
kill -INT "$minute"
wait "$minute"
done_testing
