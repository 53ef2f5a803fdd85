#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# anybody: yes
# touches: cmd session os
#
# What a program that starts the profiler uses: --ready writes the profiler's pid once it samples;
# --until-eof ends the profile with standard input.
# else: ptrace vmread
. "$(dirname "$0")/../lib/live.sh"

target_start host spin

# start NAME: the profiler with a pipe as its standard input, whose other end is descriptor 7.
start() {
	local name=$1
	shift
	rm -f "$WORK/input" "$WORK/ready"
	mkfifo "$WORK/input"
	PROF_OUT=$WORK/$name.out
	env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -p "$TARGET_PID" -F 499 -o "$PROF_OUT" --stats "$PROF_OUT.stats" \
		--ready "$WORK/ready" "$@" <"$WORK/input" >"$PROF_OUT.stdout" 2>"$PROF_OUT.err" 7>&- &
	PROF_PID=$!
	live_pids+=("$PROF_PID")
	exec 7>"$WORK/input"
	wait_until 60 eval '[ -s "$WORK/ready" ] || gone $PROF_PID'
	is "$(cat "$WORK/ready")" "$PROF_PID" "$name: --ready has the profiler's process id" || diag "$(cat "$PROF_OUT.err")"
}

sampled() {
	[ "$(samples_in "$PROF_OUT")" -ge 5 ]
}

start "end of input" --until-eof
check "it runs as long as its input does" wait_until 60 sampled
exec 7>&-
prof_wait
is "$PROF_STATUS" 0 "end of input: exit status"
check_rprof "$PROF_OUT" "end of input"
check_stats "$PROF_OUT.stats" "end of input"

start "a line" --until-eof
check "it runs until a line comes" wait_until 60 sampled
echo >&7
prof_wait
is "$PROF_STATUS" 0 "a line: exit status"
check_rprof "$PROF_OUT" "a line"
exec 7>&-

start "without"
exec 7>&-
check "without --until-eof input does not matter" wait_until 60 sampled
prof_stop
is "$PROF_STATUS" 0 "without: exit status"

out=$(prof -q -p "$TARGET_PID" --ready "$WORK/no/such/folder" -o "$WORK/none" 2>&1)
is $? 1 "--ready that cannot be written: exit status"
like "$out" "^[^"$'\n'"]*cannot write --ready $WORK/no/such/folder: [^"$'\n'"]*\$" \
	"one line reports it"
target_kill
done_testing
