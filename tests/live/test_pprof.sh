#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: output profile
# timeout: 120
#
# Go's own `go tool pprof` reads -f pprof: the functions and their lines; and every sample is in it.
# (Labels: live:labels. Comments: unit:output/encode.)
. "$(dirname "$0")/../lib/live.sh"
needs program go
export HOME=$WORK PPROF_TMPDIR=$WORK # where it keeps what it downloads, which is nothing

# pprof ARG...: what it prints.
pprof() {
	go tool pprof "$@" 2>"$WORK/pprof.err"
}

target_start host work 600 exit
target_go
first=$TARGET_PID
target_start host work 600 exit
target_go
second=$TARGET_PID

prof -p "$first,$second" -F 499 -d 3 -l -o "$WORK/two.pb.gz" --stats "$WORK/two.stats" 2>"$WORK/two.err"
is $? 0 "the name of the file chooses the format: exit status 0" || diag "$(cat "$WORK/two.err")"
check "gzip accepts it as a whole file" gzip -t "$WORK/two.pb.gz"

top=$(pprof -sample_index=samples -top "$WORK/two.pb.gz")
is $? 0 "go tool pprof -top" || diag "$(cat "$WORK/pprof.err")"
like "$top" "inner" "-top shows the functions"
# "Showing nodes accounting for 100, 99% of 100 total"
total=$(sed -n 's/.* of \([0-9]*\) total$/\1/p' <<<"$top")
is "$total" "$(($(stat_of "$WORK/two.stats" written) + $(stat_of "$WORK/two.stats" no_r_frames)))" "every sample is in it"
like "$(pprof -top "$WORK/two.pb.gz")" "Type: (cpu|wall)" "it shows time by default"
check "outer_most is in nearly all" awk '$NF ~ /outer_most$/ && $5 + 0 > 80 { found = 1 } END { exit !found }' <<<"$top"

# Its line 5 is where it computes, called from line 10.
target_start host lines_hot
prof -p "$TARGET_PID" -F 499 -d 2 -l -f pprof -o "$WORK/lines.pb.gz" --stats "$WORK/lines.stats" 2>"$WORK/lines.err"
is $? 0 "with lines: exit status 0" || diag "$(cat "$WORK/lines.err")"
lines=$(pprof -lines -top "$WORK/lines.pb.gz")
is $? 0 "go tool pprof -lines" || diag "$(cat "$WORK/pprof.err")"
like "$lines" " hot .*hot\.R:5" "the line being executed"
like "$lines" " begin .*hot\.R:10" "and the line of the call"
target_kill

# A profile in which nothing was sampled is one, too.
target_start host wait 100
prof -p "$TARGET_PID" -d 1 -f pprof --clock cpu -o "$WORK/none.pb.gz" 2>"$WORK/none.err"
is $? 0 "a process that sleeps: exit status 0" || diag "$(cat "$WORK/none.err")"
check "an empty one can be read" go tool pprof -top "$WORK/none.pb.gz"
done_testing
