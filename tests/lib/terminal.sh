# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For live tests of what is drawn in a terminal: that of tmux, of 100 columns and 30 lines. Source it after live.sh.

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

# terminal_new COMMAND: another terminal, in place of the last one
terminal_new() {
	terminal_end
	terminals=$((terminals + 1))
	tmux_at -f /dev/null new-session -d -x 100 -y 30 "env -u COLUMNS -u LINES $1" || diag "no terminal"
}

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
