#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: output session os
# timeout: 200
#
# The reader of its output cannot block the profiler: SIGTERM ends it while its pipe is full and
# without a reader, and it writes the statistics. It counts the samples that were not written, and the
# exit status is 1 then. (Each way in which a file or a pipe takes no more is in
# unit:output/outputs_lost and unit:os/files; a second Ctrl-C: unit:os/linux/signals.)
# also: ptrace
. "$(dirname "$0")/../lib/live.sh"

target_start host work 600 exit
target_go

# A pipe that is open but never read, as small as a pipe can be, so that few samples fill it.
PROF_OUT=$WORK/out
mkfifo "$PROF_OUT.pipe"
exec 8<>"$PROF_OUT.pipe"
python3 -c 'import fcntl; fcntl.fcntl(8, 1031, 4096)'
pipe_full() { # it takes no more
	python3 -c 'import select, sys
p = select.poll()
p.register(8, select.POLLOUT)
sys.exit(bool(p.poll(0)))'
}
env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -v -F 4999 -l --gc -p "$TARGET_PID" --stats "$PROF_OUT.stats" \
	>"$PROF_OUT.pipe" 2>"$PROF_OUT.err" </dev/null 8>&- &
PROF_PID=$!
live_pids+=("$PROF_PID")
check "the pipe is full" wait_until 60 pipe_full
check "the program is sampled" wait_until 60 grep -q "process $TARGET_PID (.*): R " "$PROF_OUT.err"
# what comes now is not written
# shellcheck disable=SC2034 # for eval
began=$(cpu_ticks "$TARGET_PID")
wait_until 60 eval '[ $(($(cpu_ticks "$TARGET_PID") - began)) -ge 100 ]'
kill -TERM "$PROF_PID"
check "SIGTERM: it ends without a reader" wait_until 60 gone "$PROF_PID" || kill -KILL "$PROF_PID"
wait "$PROF_PID"
is $? 1 "exit status 1, for not all was written" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "a full pipe"
unwritten=$(stat_of "$PROF_OUT.stats" unwritten)
check "what was not written is counted: $unwritten samples" [ "$unwritten" -gt 0 ]
like "$(cat "$PROF_OUT.err")" "$unwritten samples? w(as|ere) not written" "and reported"
like "$(grep ' samples* = ' "$PROF_OUT.err")" "$unwritten of the lost not written" "the summary is there"
check "the program runs on" alive "$TARGET_PID"
exec 8>&-
# the lines that are in the pipe count as written
left_behind() { # of this test: another one may have its own
	local pid
	for pid in $(pgrep -P 1 -x xrprof-files); do
		! live_ours "$pid" || return 0
	done
	return 1
}
check "nothing is left behind" wait_until 20 eval '! left_behind'

# With the least memory that is allowed, too, there is room for what is written.
for format in rprof folded pprof speedscope flamegraph; do
	for seconds in 0.5 5 50; do
		prof -q -F 99 -d $seconds -f $format --max-memory 4M -p "$TARGET_PID" -o "$WORK/least.$format" --stats "$WORK/least.stats" 2>"$WORK/least.err"
		status=$?
		[ "$(stat_of "$WORK/least.stats" written)" -eq 0 ] || break # a busy machine may give R no CPU for so long
	done
	is $status 0 "4M: $format: exit status 0" || diag "$(cat "$WORK/least.err")"
	[ -s "$WORK/least.$format" ] && [ "$(stat_of "$WORK/least.stats" written)" -gt 0 ] && [ "$(stat_of "$WORK/least.stats" unwritten)" -eq 0 ]
	ok $? "4M: $format: samples are written" || diag "$(cat "$WORK/least.stats")"
done
target_kill
done_testing
