#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: output session os
# timeout: 200
#
# The reader of its output cannot block the profiler: --duration, SIGTERM and SIGINT end it while
# its pipe is full and without a reader, and it writes the statistics each time. It counts the
# samples that were not written, and the exit status is 1 then. A second Ctrl-C ends it at once. A
# file that may not grow is a full disk.
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

stuck duration -d 4
wait_until 60 pipe_full
ok $? "--duration: the pipe is full"
ended_stuck "--duration"
figure "--duration: profiled for $(stat_of "$WORK/duration.stats" seconds) of 4 s, without a reader"

for signal in TERM INT; do
	stuck $signal
	wait_until 60 pipe_full
	# what comes now is not written
	sleep 1
	kill -$signal "$PROF_PID"
	ended_stuck "SIG$signal"
done

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

# A reader that takes little: the end comes all the same, and the lines are whole.
mkfifo "$WORK/slow.pipe"
python3 -c '
import os, sys, time
f = os.open(sys.argv[1], os.O_RDONLY)
out = open(sys.argv[2], "wb")
while True:
    part = os.read(f, 5000)
    if not part:
        break
    out.write(part)
    time.sleep(0.05)
' "$WORK/slow.pipe" "$WORK/slow.out" &
reader=$!
live_pids+=("$reader")
env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -F 4999 -d 3 -p "$TARGET_PID" --stats "$WORK/slow.stats" \
	>"$WORK/slow.pipe" 2>"$WORK/slow.err" </dev/null &
PROF_PID=$!
wait_until 60 gone "$PROF_PID"
ok $? "a slow reader: it ends"
wait "$reader"
check_stats "$WORK/slow.stats" "a slow reader"
head -n 1000 "$WORK/slow.out" >"$WORK/slow.head"
check_rprof "$WORK/slow.head" "a slow reader"

# A file that may not grow.
(
	ulimit -f 64
	prof -F 4999 -p "$TARGET_PID" -o "$WORK/limit.out" --stats "$WORK/limit.stats" 2>"$WORK/limit.err"
)
is $? 1 "ulimit -f: exit status 1"
like "$(cat "$WORK/limit.err")" 'limit.out: .*ulimit -f' "ulimit -f: the message has the limit"
check_rprof "$WORK/limit.out" "ulimit -f"
check_stats "$WORK/limit.stats" "ulimit -f"
is "$(samples_in "$WORK/limit.out")" "$(stat_of "$WORK/limit.stats" written)" "ulimit -f: as many lines as samples"

prof -F 4999 -d 3 --max-file 16K -p "$TARGET_PID" -o "$WORK/short.out" --stats "$WORK/short.stats" 2>"$WORK/short.err"
is $? 1 "--max-file: exit status 1"
[ "$(stat -c %s "$WORK/short.out")" -le 16384 ] && [ "$(stat -c %s "$WORK/short.out")" -gt 15000 ]
ok $? "--max-file: the file has $(stat -c %s "$WORK/short.out") bytes"
check_rprof "$WORK/short.out" "--max-file"
check_stats "$WORK/short.stats" "--max-file"
is "$(samples_in "$WORK/short.out")" "$(stat_of "$WORK/short.stats" written)" "--max-file: as many lines as samples"

# Ctrl-Z is for all that belongs to the terminal; who lets the profiler go on need not know of the other process.
prof_start "$WORK/stopped.out" -F 99 -p "$TARGET_PID"
files=$(pgrep -P "$PROF_PID" -x xrprof-files)
kill -STOP "$PROF_PID"
kill -TSTP "$files"
wait_until 20 grep -q '^State:.T' "/proc/$PROF_PID/status"
is "$((0x$(awk '/^SigIgn/ { print $2 }' "/proc/$files/status") >> 19 & 1))" 1 "Ctrl-Z does not stop what writes the files"
kill -CONT "$PROF_PID"
prof_stop
is "$PROF_STATUS" 0 "a profiler that goes on ends as others do"
check_stats "$WORK/stopped.out.stats" "after Ctrl-Z"

# With the least memory that is allowed, too, there is room for what is written.
for format in rprof folded pprof speedscope flamegraph; do
	prof -q -F 99 -d 0.5 -f $format --max-memory 4M -p "$TARGET_PID" -o "$WORK/least.$format" --stats "$WORK/least.stats" 2>"$WORK/least.err"
	is $? 0 "4M: $format: exit status 0" || diag "$(cat "$WORK/least.err")"
	[ -s "$WORK/least.$format" ] && [ "$(stat_of "$WORK/least.stats" written)" -gt 0 ] && [ "$(stat_of "$WORK/least.stats" unwritten)" -eq 0 ]
	ok $? "4M: $format: samples are written" || diag "$(cat "$WORK/least.stats")"
done
target_kill
done_testing
