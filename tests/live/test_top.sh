#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd profile session
#
# `top` in a terminal, that of tmux: what it shows, its keys, sizes, and that the terminal is as before however it ends;
# and as plain text.
# timeout: 300
# engines: bpf
. "$(dirname "$0")/../lib/live.sh"
needs program tmux

# Each terminal has a separate server: a server that is ending may still answer, and ends its
# sessions.
terminals=0
tmux_at() {
	tmux -L "xrprof-$$-$terminals" "$@"
}

# what is left of the last one, which is looked at no more
terminal_end() {
	tmux_at kill-server 2>/dev/null
}

# what bash runs at the end, too
terminal_cleanup() {
	terminal_end
	live_cleanup
}
trap terminal_cleanup EXIT

shown() {
	tmux_at capture-pane -p
}

shows() {
	shown | grep -qE -- "$1"
}

# What is shown may be drawn in part, so each look waits for a state, and all of a state is in one look.
# sees NAME REGEX: it comes to be shown
sees() {
	check "$1" wait_until 60 shows "$2" || diag "$(shown)"
}

# sees_without NAME REGEX OTHER: REGEX comes to be shown, and OTHER is not
shows_without() {
	local text
	text=$(shown)
	grep -qE -- "$1" <<<"$text" && ! grep -qE -- "$2" <<<"$text"
}
sees_without() {
	check "$1" wait_until 60 shows_without "$2" "$3" || diag "$(shown)"
}

keys() {
	tmux_at send-keys "$@"
}

# in_terminal ARG...: `top ARG...` in a terminal of 100 columns and 30 lines. When it has ended there are its status,
# and what stty says of the terminal before and after.
in_terminal() {
	terminal_end
	printf '%s\n' '#!/bin/sh' 'trap : INT' 'echo $$ >"$0.pid"' 'stty -a >"$0.before"' 'echo the-line-before' "'$XRPROF' top $*" \
		'echo $? >"$0.status.new"' 'stty -a >"$0.after"' 'mv "$0.status.new" "$0.status"' 'exec sleep 1000' >"$WORK/run"
	chmod +x "$WORK/run"
	rm -f "$WORK"/run.*
	terminals=$((terminals + 1))
	tmux_at -f /dev/null new-session -d -x 100 -y 30 "env -u COLUMNS -u LINES $WORK/run" || diag "no terminal"
}

# The process that draws.
top_pid() {
	pgrep -P "$(cat "$WORK/run.pid")"
}

# ends NAME STATUS: it has, and the terminal is as it was
ends() {
	check "$1: it ends" wait_until 60 test -e "$WORK/run.status" || { diag "$(shown)"; return; }
	is "$(cat "$WORK/run.status")" "$2" "$1: exit status"
	is "$(cat "$WORK/run.after")" "$(cat "$WORK/run.before")" "$1: the terminal's settings are as they were"
	check "$1: so is its screen" wait_until 60 eval '[ "$(tmux_at display -p "#{alternate_on} #{cursor_flag} #{keypad_cursor_flag}")" = "0 1 0" ]'
	sees "$1: what was there before is there" '^the-line-before'
}

target_start host top

# --- what it shows ---

in_terminal -e "$XRPROF_ENGINE" -p "$TARGET_PID"
check "the busy function is shown" wait_until 60 shows "^ +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9]+  busy\$"
sees "and its process" "$TARGET_PID +[0-9.]+ +[0-9]+  R .*top.R"
sees "how samples are taken" "^xrprof-bpf top - [0-9:]+, $XRPROF_ENGINE, (cpu|wall) clock, 99 Hz"
check "most of the time is its own" wait_until 60 eval '[ "$(shown | awk "\$5 == \"busy\" { print (\$1 >= 50 && \$2 >= 50) }")" = 1 ]' || diag "$(shown)"

# --- keys ---

sees "sorted by self" '\*SELF%'
# unit:cmd/linux/top_view has all keys, unit:cmd/linux/top_text what is drawn; these show that each pane is
keys / CALL
sees "/: the text is shown while it is typed" 'show functions with: CALL_'
keys Enter
sees_without "/: functions with it, and no others" 'with "CALL"' '  busy$'
keys / Escape
sees "Escape: all are" '  busy$'
keys Home Enter
sees "Enter: who calls it" 'in, or below, busy; called by:'
sees "its callers" '100.0%  +calls_busy$'
keys Escape
sees "Escape: back" '\*SELF%'
keys d
sees "d: the stack of the process" "^process $TARGET_PID: "
sees "d: with its frames" '^    [a-zA-Z]'
sees_without "d: functions are not there" '^process' 'SELF%'
keys Escape
sees "Escape: back from the stack" '\*SELF%'

# --- sizes ---

# (no line is wider than the terminal: unit:cmd/linux/top_text widths)
tmux_at resize-window -x 12 -y 4
sees "12x4" '^too small'
tmux_at resize-window -x 100 -y 30
sees "100x30: the busy function is shown" '  busy$'

# --- ends ---

for key in q C-c 'C-\'; do
	sees "$key: it is busy before" '  busy$'
	keys "$key"
	ends "$key" 0
	in_terminal -e "$XRPROF_ENGINE" -p "$TARGET_PID"
done
sees "and again" '  busy$'
kill -TERM "$(top_pid)"
ends SIGTERM 0
first=$TARGET_PID
target_start host top
in_terminal -e "$XRPROF_ENGINE" -p "$TARGET_PID"
sees "of another process" "^ +$TARGET_PID .*top.R"
sees "it is busy, too" '  busy$'
target_kill
ends "SIGKILL of the target" 0
sees "the end of the target is shown" 'the process has ended'
sees "and what it had done" '  busy$'
in_terminal -p $$
ends "a process without R" 1
sees "it says why" "process $$ .*not run R"
in_terminal -e nonsense -a
ends "wrong usage" 2
terminal_end
"$XRPROF" top -e "$XRPROF_ENGINE" -p "$first" >"$WORK/out" 2>"$WORK/err" </dev/null
is $? 1 "no terminal: exit status"
like "$(cat "$WORK/err")" 'needs a terminal; use --batch' "no terminal: it says what to do"
env TERM=nonsense script -qec "'$XRPROF' top -q -e $XRPROF_ENGINE -p $first" /dev/null >"$WORK/out" 2>&1 </dev/null
is $? 1 "an unknown terminal type: exit status"
like "$(cat "$WORK/out")" 'the terminal type nonsense is unknown' "an unknown terminal type is reported"

# --- plain text ---

env TERM=dumb script -qec "'$XRPROF' top -q -e $XRPROF_ENGINE -p $first" /dev/null >"$WORK/out" 2>&1 </dev/null
like "$(cat "$WORK/out")" 'the terminal type dumb does not support full-screen output; set TERM, or use --batch N' "TERM=dumb: it says what to do"
"$XRPROF" top -q -e "$XRPROF_ENGINE" -p "$first" --batch 2 >"$WORK/batch" 2>"$WORK/err" </dev/null
is $? 0 "--batch: exit status"
is "$(cat "$WORK/err")" "" "--batch -q: nothing on stderr"
is "$(grep -c '^xrprof-bpf top' "$WORK/batch")" 2 "--batch 2: twice"
[ "$(grep -cE '^ +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9]+  busy$' "$WORK/batch")" -eq 2 ]
ok $? "--batch: with the busy function" || diag "$(cat "$WORK/batch")"
"$XRPROF" top -q -e "$XRPROF_ENGINE" -p "$first" --batch 1000 </dev/null 2>"$WORK/err" | head -n 1 >"$WORK/out"
is "${PIPESTATUS[0]}" 0 "a reader that has enough: exit status" || diag "$(cat "$WORK/err")"

# one that waits
target_start host wait
target_rests
in_terminal -e "$XRPROF_ENGINE" --clock cpu -p "$TARGET_PID"
sees "a process that waits is reported" \
	"process $TARGET_PID .*used [0-9.]+ s of CPU in [0-9.]+ s and waited the rest"
keys q
ends "one that waits" 0

done_testing
