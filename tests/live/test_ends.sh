#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: session output cmd
# timeout: 300
#
# However a profile comes to its end, it is complete and valid, and the exit status is 0: the target exits, is killed,
# becomes another program; Ctrl-C, SIGTERM, a closed pipe. (The end of --duration: live:users. A full disk:
# unit:output/outputs_lost.)
# also: ptrace vmread
. "$(dirname "$0")/../lib/live.sh"

helper=$WORK/helper.so
fixture "$helper" target_helper.c -shared -fPIC -pthread

# ended NAME: what holds after every end.
ended() {
	is "$PROF_STATUS" 0 "$1: exit status 0" || diag "$(cat "$PROF_OUT.err")"
	check_rprof "$PROF_OUT" "$1"
	check_stats "$PROF_OUT.stats" "$1"
	grep -q '^"inner" "middle" "outer_most" ' "$PROF_OUT"
	ok $? "$1: the stacks are there" || diag "$(head -n 3 "$PROF_OUT")" "$(cat "$PROF_OUT.err" "$PROF_OUT.stats")"
	is "$(samples_in "$PROF_OUT")" "$(stat_of "$PROF_OUT.stats" written)" "$1: as many lines as samples"
}

# begin END SECONDS: a target under the profiler.
begin() {
	target_start host work "$2" "$1" "$helper"
	prof_start_whole "$WORK/$1.out" -v -F 499 -p "$TARGET_PID"
	ok $? "$1: the profiler starts"
	target_go
}

begin exit 1
prof_wait
ended "the program exits"

begin die 1
prof_wait
ended "the program kills itself"
grep -q '"last_words" ' "$PROF_OUT"
ok $? "the program kills itself: names seen just before are there"

begin exec 1
target_await_done
ok $? "exec: the program got there"
prof_wait
ended "the program becomes another"
is "$(cat "/proc/$TARGET_PID/comm")" sleep "exec: the other program runs on" || diag "$(cat "$PROF_OUT.err")"
target_kill

target_start host work 600 exit
target_go
for signal in INT TERM; do
	prof_start "$WORK/signal.out" -F 499 -p "$TARGET_PID"
	wait_until 60 grep -q '^"inner" "middle" "outer_most" ' "$PROF_OUT"
	prof_stop $signal
	ended "SIG$signal"
	alive "$TARGET_PID"
	ok $? "SIG$signal: the program runs on"
done

# A pipe: the profile is seen while it is made, for nothing else ends it, and the reader may go away.
prof -F 199 -p "$TARGET_PID" --stats "$WORK/pipe.stats" 2>"$WORK/pipe.err" </dev/null | head -n 20 >"$WORK/pipe"
is "${PIPESTATUS[0]}" 0 "closed pipe: exit status 0" || diag "$(cat "$WORK/pipe.err")"
is "$(head -n 1 "$WORK/pipe")" sample.interval=5025 "pipe: the header comes first"
is "$(wc -l <"$WORK/pipe")" 20 "pipe: lines come while it runs"
check_stats "$WORK/pipe.stats" "closed pipe"

target_kill

# A command at a terminal: Ctrl-C is its own. With noflsh, for Ctrl-C would discard what was printed and not yet shown.
mkfifo "$WORK/keys"
script -qfec "stty noflsh; exec $XRPROF -e $XRPROF_ENGINE -F 499 -o $WORK/terminal.out -- R --vanilla -q" "$WORK/screen" <"$WORK/keys" >"$WORK/script" &
live_pids+=($!)
exec 8>"$WORK/keys"
shown() {
	grep -q -- "$1" "$WORK/screen"
}
# typed LINE REGEX: what R prints then is not what was typed
typed() {
	printf '%s\n' "$1" >&8
	wait_until 60 shown "$2"
}
check "terminal: R is ready" typed 'cat("rea", "dy\n", sep = "")' ready
check "terminal: R computes" typed 'f <- function() repeat sqrt(2); cat("beg", "un\n", sep = ""); f()' begun
check "terminal: what R does is in the profile" wait_until 60 grep -q '"f"' "$WORK/terminal.out"
printf '\003' >&8
check "terminal: Ctrl-C is for R" typed 'cat("goes", " on\n", sep = "")' 'goes on'
check "terminal: a message explains it" wait_until 60 shown 'Ctrl-C goes to the command; two within a second'
again() {
	printf '\003' >&8
	shown 'waiting for R (process'
}
check "terminal: twice, it ends the profile" wait_until 60 again
check_rprof "$WORK/terminal.out" "terminal"
check "terminal: R still has the terminal" typed 'cat("still", " here\n", sep = "")' 'still here'
printf 'quit(status = 5)\n' >&8
check "terminal: the profiler waits for R" wait_until 60 shown 'R exited with status 5'
exec 8>&-
done_testing
