#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd engine/remote native
# timeout: 300
# engines: ptrace
#
# `dump --native --threads`: the native frames are those of gdb, of an R that sleeps, is stopped, computes in C, has 50 other
# threads, and executes no call. And R goes on.
. "$(dirname "$0")/../lib/live.sh"

command -v gdb >/dev/null || bail "no gdb: tools/install-deps test"

# runs N: do N of R's threads run? The others wait, or wait again: what stopped them has let them go.
runs() {
	[ "$(grep -l running "/proc/$TARGET_PID/task"/*/syscall | wc -l)" = "$1" ]
}

# equal NAME [FUNCTION...]: the native frames of the program launched last are gdb's; FUNCTIONs run, each on a thread.
equal() {
	local name=$1
	shift
	timeout -k 5 60 "$XRPROF" dump -p "$TARGET_PID" --native=raw --threads --json >"$WORK/dump.json" 2>"$WORK/err"
	is $? 0 "$name: exit status" || diag "$(cat "$WORK/err")"
	is "$(cat "$WORK/err")" "" "$name: nothing on stderr"
	wait_until 60 runs $#
	DEBUGINFOD_URLS='' timeout -k 5 120 gdb -nx -batch -p "$TARGET_PID" -x "$tests/live/dump_gdb.py" \
		>"$WORK/gdb.out" 2>"$WORK/gdb.err" </dev/null
	check "$name: the frames are gdb's" "$tests/lib/dump_native.py" "$WORK/dump.json" "$WORK/gdb.out" "$@"
	is "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$TARGET_PID/task"/*/status | sort -u)" 0 "$name: no process traces R afterwards"
}

# in_state LETTER: R's thread is
in_state() {
	[ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$TARGET_PID/status")" = "$1" ]
}

shows() {
	timeout -k 5 60 "$XRPROF" dump -p "$TARGET_PID" --native "$@" 2>&1
}

target_start host dump sleep
wait_until 60 in_state S
equal "it sleeps"
like "$(shows)" '    __select \[libc.so.6\]'$'\n''    base::Sys.sleep'$'\n' "it sleeps: C functions stand inside of the R function that called them"
kill -STOP "$TARGET_PID"
wait_until 60 in_state T
equal "it is stopped"
check "it is stopped: it stays so" wait_until 60 in_state T
kill -CONT "$TARGET_PID"
kill -INT "$TARGET_PID"
check "it sleeps: R went on" target_await_done 60
target_kill

spin=$WORK/spin_until.so
fixture "$spin" spin_until.c -shared -fPIC
target_start host dump call "$spin"
wait_until 60 test -e "$TARGET_DIR/spins"
equal "it computes in C" spin_until
target_go
check "it computes in C: R went on" target_await_done 60
target_kill

threads=$WORK/dump_threads.so
fixture "$threads" dump_threads.c -shared -fPIC -pthread
target_start host dump threads "$threads"
wait_until 60 in_state S
wait_until 60 eval '[ "$(grep -lx -e spins -e reads -e waits "/proc/$TARGET_PID/task"/*/comm | wc -l)" = 50 ]'
wait_until 60 runs 1
equal "it has threads" spins_inside
wait_until 60 runs 1
out=$(shows --threads)
like "$out" '  thread [0-9]+ \(spins\): running'$'\n''      spins_inside \[dump_threads.so\]'$'\n''      spins \[' "threads: one that runs"
like "$out" '  thread [0-9]+ \(reads\): reading pipe:[^ ]* in read'$'\n''(      [^ ]* \[libc.so.6\]'$'\n'')?      reads_by_frame_pointer \[' \
	"threads: one that waits for a read, which the frame pointer is needed for"
like "$out" '  thread [0-9]+ \(waits\): waiting for another thread in futex'$'\n''.*      waits_inside \[' "threads: one that waits for another"
wait_until 60 runs 1
like "$("$XRPROF" dump -p "$TARGET_PID" --native)" '  R [0-9.]+, sleeping in p?select6'$'\n' "threads: R's waits, although it may have been stopped"
wait_until 60 runs 1
like "$("$XRPROF" dump -p "$TARGET_PID" --threads)" '  thread [0-9]+ \(spins\): running'$'\n''  thread [0-9]+ \(reads\): reading pipe' \
	"--threads alone: what they do"
kill -INT "$TARGET_PID"
check "threads: R went on" target_await_done 60
target_kill

mkfifo "$WORK/code"
exec 7<>"$WORK/code"
R --vanilla --no-echo <"$WORK/code" >"$WORK/r.out" 2>&1 &
TARGET_JOB=$! TARGET_PID=$!
live_pids+=("$TARGET_PID")
printf 'cat("it reads\\n")\n' >&7
wait_until 60 grep -q "it reads" "$WORK/r.out"
wait_until 60 eval 'grep -q "^0 0x0 " "/proc/$TARGET_PID/syscall"' # it reads standard input
equal "it executes no call"
is "$(shows | sed -n 's/^    //p')" "<toplevel>" "it executes no call: how R itself reads is not shown"
target_kill

"$XRPROF" dump -p $$ --native -e vmread >/dev/null 2>"$WORK/err"
is $? 2 "--native -e vmread: usage"
done_testing
