#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: output session os
# timeout: 200
#
# The reader of its output cannot block the profiler: SIGTERM ends it while its pipe is full and
# without a reader, and it writes the statistics. It counts the samples that were not written, and the
# exit status is 1 then. A second Ctrl-C ends it at once. (Each way in which a file or a pipe takes no
# more is in unit:output/outputs_lost and unit:os/files.)
# also: ptrace
. "$(dirname "$0")/../lib/live.sh"

target_start host work 600 exit
target_go

# stuck NAME ARG...: profile into a pipe that is open but never read. Sets PROF_PID, PROF_OUT.
stuck() {
	local name=$1
	shift
	PROF_OUT=$WORK/$name
	mkfifo "$PROF_OUT.pipe"
	exec 8<>"$PROF_OUT.pipe"
	# as small as a pipe can be, so that few samples fill it
	python3 -c 'import fcntl; fcntl.fcntl(8, 1031, 4096)'
	env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -F 4999 -l --gc "$@" -p "$TARGET_PID" --stats "$PROF_OUT.stats" \
		>"$PROF_OUT.pipe" 2>"$PROF_OUT.err" </dev/null 8>&- &
	PROF_PID=$!
	live_pids+=("$PROF_PID")
}

# pipe_full: it takes no more
pipe_full() {
	python3 - <<-'PY'
		import os, select, sys
		p = select.poll()
		p.register(8, select.POLLOUT)
		sys.exit(0 if not p.poll(0) else 1)
	PY
}

# ended_stuck NAME: check the end of a profiler whose pipe was never read.
ended_stuck() {
	wait_until 60 gone "$PROF_PID"
	ok $? "$1: it ends without a reader" || {
		diag "$(cat "$PROF_OUT.err")"
		kill -KILL "$PROF_PID"
	}
	wait "$PROF_PID"
	is $? 1 "$1: exit status 1, for not all was written" || diag "$(cat "$PROF_OUT.err")"
	check_stats "$PROF_OUT.stats" "$1"
	[ "$(stat_of "$PROF_OUT.stats" unwritten)" -gt 0 ]
	ok $? "$1: what was not written is counted: $(stat_of "$PROF_OUT.stats" unwritten) samples"
	like "$(cat "$PROF_OUT.err")" \
		"$(stat_of "$PROF_OUT.stats" unwritten) samples were not written" "$1: and reported"
	like "$(tail -n 1 "$PROF_OUT.err")" "samples? = .*$(stat_of "$PROF_OUT.stats" unwritten) of the lost not written" \
		"$1: the last line is there"
	alive "$TARGET_PID"
	ok $? "$1: the program runs on"
	exec 8>&-
	# the lines that are in the pipe count as written
	wait_until 20 eval '! pgrep -P 1 -x xrprof-files >/dev/null'
	ok $? "$1: nothing is left behind"
}

stuck TERM
wait_until 60 pipe_full
ok $? "SIGTERM: the pipe is full"
# what comes now is not written
sleep 1
kill -TERM "$PROF_PID"
ended_stuck SIGTERM

stuck twice
wait_until 60 pipe_full
sleep 1
kill -INT "$PROF_PID"
# its handler is gone 300 ms later; from then on the second one counts
wait_until 60 eval '[ $((0x$(awk "/^SigBlk/ { print \$2 }" "/proc/$PROF_PID/status" 2>/dev/null || echo 0) & 2)) -eq 0 ] &&
	[ $((0x$(awk "/^SigCgt/ { print \$2 }" "/proc/$PROF_PID/status" 2>/dev/null || echo 0) & 2)) -eq 0 ]'
kill -INT "$PROF_PID" 2>/dev/null
wait "$PROF_PID"
status=$?
[ $status -eq 130 ] || [ $status -eq 1 ]
ok $? "a second Ctrl-C ends it (status $status)"
exec 8>&-
wait_until 20 eval '! pgrep -P 1 -x xrprof-files >/dev/null'
ok $? "and what wrote for it ends, too"

# With the least memory that is allowed, too, there is room for what is written.
for format in rprof folded pprof speedscope flamegraph; do
	prof -q -F 99 -d 0.5 -f $format --max-memory 4M -p "$TARGET_PID" -o "$WORK/least.$format" --stats "$WORK/least.stats" 2>"$WORK/least.err"
	is $? 0 "4M: $format: exit status 0" || diag "$(cat "$WORK/least.err")"
	[ -s "$WORK/least.$format" ] && [ "$(stat_of "$WORK/least.stats" written)" -gt 0 ] && [ "$(stat_of "$WORK/least.stats" unwritten)" -eq 0 ]
	ok $? "4M: $format: samples are written" || diag "$(cat "$WORK/least.stats")"
done
target_kill
done_testing
