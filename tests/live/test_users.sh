#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd session
# timeout: 200
#
# What people stumbled over, as they met it, and what it says now.
. "$(dirname "$0")/../lib/live.sh"

# --lines where R kept no source references: no line, and no word.
target_start host work 600 exit
target_go
prof_start "$WORK/lines.out" -p "$TARGET_PID" --clock cpu -F 499 -l
check "without source references a message names the cure" wait_until 60 grep -qE \
	"process $TARGET_PID \(R\): no source lines in [0-9]+ samples.*keep\.source = TRUE.*R_KEEP_PKG_SOURCE=yes" "$PROF_OUT.err"
prof_stop
is "$PROF_STATUS" 0 "lines without source references: exit status 0"
target_kill

# Without a mark the collector's time would count for innocent functions.
target_start host gc 600
target_go
prof_start "$WORK/gc.folded" -p "$TARGET_PID" --clock cpu -F 499 -f folded
check "without --gc the collector is marked in all formats" wait_until 60 grep -q ';<GC> [0-9]' "$WORK/gc.folded" || diag "$(cat "$PROF_OUT.err")"
prof_stop

# The exit status of a command that goes on.
prof -d 1 -o "$WORK/goes_on.out" -- R --vanilla --no-echo -f "$TARGET_DIR/work.R" --args "$TARGET_DIR" 600 exit >/dev/null 2>"$WORK/goes_on.err"
is $? 0 "0 for one that goes on" || diag "$(cat "$WORK/goes_on.err")"
pkill -KILL -f -- "--args $TARGET_DIR 600 exit"

run -p "$TARGET_PID" -f pprof --stats -
like "$ERR" 'both go to stdout' "statistics and a profile are not mixed"
prof -p "$TARGET_PID" -d 0.5 -o "$WORK/x.out" --stats - >"$WORK/stats.json" 2>/dev/null
check "--stats - is one JSON object on stdout" python3 -m json.tool "$WORK/stats.json"

# A line of progress, on a terminal only.
prof -p "$TARGET_PID" -d 2 -o "$WORK/quiet.out" 2>"$WORK/quiet.err"
is "$(grep -c "$(printf '\r')" "$WORK/quiet.err")" 0 "no progress if stderr is not a terminal"
script -qfec "timeout -k 5 60 $XRPROF -e $XRPROF_ENGINE -p $TARGET_PID --clock cpu -o $WORK/terminal.out --ready $WORK/terminal.pid" \
	"$WORK/terminal.txt" >/dev/null </dev/null &
script=$!
live_pids+=("$script")
progress() {
	tr '\r' '\n' <"$WORK/terminal.txt" | grep -qE "[1-9][0-9]* samples? of 1 process, [0-9]+ a second, [0-9]+ lost, [0-9]+ % in "
}
check "progress on a terminal" wait_until 60 progress || diag "$(cat -v "$WORK/terminal.txt")"
kill -INT "$(cat "$WORK/terminal.pid")"
wait "$script"
# the first message behind the last progress clears the line
like "$(cat -v "$WORK/terminal.txt")" ' lost[^^]*\^M\^\[\[Kxrprof-bpf: ' "which is cleared at the end"
script -qec "timeout -k 5 60 $XRPROF -q -e $XRPROF_ENGINE -p $TARGET_PID -d 1 -o $WORK/terminal.out" "$WORK/silent.txt" >/dev/null </dev/null
is "$(grep -c 'samples' "$WORK/silent.txt")" 0 "none with -q"
like "$(script -qec "timeout -k 5 60 $XRPROF -p $TARGET_PID -d 1 -f pprof" /dev/null </dev/null)" "format pprof cannot be written to a terminal" \
	"bytes are not written to a terminal"
done_testing
