#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# anybody: yes
# touches: include profile output
# else: ptrace vmread
# timeout: 120
#
# Names come whole up to the longest that R takes, in ASCII and not. A longer string is cut at the
# limit, and marked.

. "$(dirname "$0")/../lib/live.sh"
target_start host long_names 3
prof_start "$WORK/long.out" -F 499 -p "$TARGET_PID"
ok $? "the profiler starts"
target_go
target_await_done
prof_wait
is "$PROF_STATUS" 0 "exit status 0" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "long names"
# in a stack of one's own: "spin's callees ... name" up to the end of the line or the next frame
seen() {
	grep -cF -- "$1" "$PROF_OUT"
}
{
	read -r long
	read -r wide
	read -r item
} <"$TARGET_DIR/long.txt"
is "${#long}" 10000 "R took a name of 10,000 bytes"
n=$(seen "\"$long\" ")
ok $((n < 20)) "it is whole, in $n samples"
n=$(seen "\"$wide\" ")
ok $((n < 20)) "so is one of 8,004 bytes that is not ASCII, in $n samples"
n=$(seen "$item...\"]]\" ")
ok $((n < 20)) "a string of 5,000 bytes is cut, with a mark, in $n samples"
is "$(stat_of "$PROF_OUT.stats" unnamed)" 0 "unnamed 0"
done_testing
