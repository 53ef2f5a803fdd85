#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: page output
# timeout: 200
#
# The page of format flamegraph in a real browser: of a real profile, of 100,000 stacks, of 40 processes, of names that
# are hostile, of nothing, and of two profiles. page.py looks at them.
. "$(dirname "$0")/../lib/live.sh"

make_page=$BUILD/tests/unit/output
[ -x "$make_page" ] || bail "$make_page is not there: run make unit-tests first"
needs program chromium

# R's own program, whose source is there; it goes on until the page is written.
target_start host page
# long enough for a hundred samples, also where others want the CPU
for seconds in 2 5 15 40; do
	prof -p "$TARGET_PID" -d $seconds -F 499 --lines -f flamegraph -o "$WORK/real.html" --stats "$WORK/real.stats" 2>"$WORK/real.err" || break
	[ "$(stat_of "$WORK/real.stats" written)" -lt 100 ] || break
done
is "$(stat_of "$WORK/real.stats" unwritten)" 0 "a profile is taken" || diag "$(cat "$WORK/real.err")"
target_kill

# One that waits for work, at its prompt.
mkfifo "$WORK/typed"
R --vanilla --quiet --interactive --no-readline <"$WORK/typed" >"$WORK/shown" 2>&1 &
target=$!
live_pids+=("$target")
exec 5>"$WORK/typed"
printf 'cat("it", "listens\\n")\n' >&5
check "R has a prompt" wait_until 120 grep -q '^it listens' "$WORK/shown" || diag "$(cat "$WORK/shown")"
prof -p "$(target_find "$target")" -d 2 --off-cpu -f flamegraph -o "$WORK/idle.html" 2>"$WORK/idle.err"
is $? 0 "who only waits for work is recorded" || diag "$(cat "$WORK/idle.err")"
exec 5>&-
wait "$target"
"$make_page" -x page types 0 0 "$WORK/types.html"
"$make_page" -x page typediff 0 0 "$WORK/typediff.html"

"$make_page" -x page many 100000 4 "$WORK/large.html"
"$make_page" -x page many 4000 40 "$WORK/processes.html"
# Whose files are read as sources is in unit:os/texts, what R parsed in unit:target/source, and what a
# page has of them in unit:output/flamegraph.

mkdir "$WORK/names"
"$BUILD/tests/unit/output" -x formats "$WORK/names" >/dev/null
mv "$WORK/names/names.html" "$WORK/hostile.html"
"$make_page" -x page empty 0 0 "$WORK/empty.html"
printf '%s\n' 'main;f;g;f;h 4' 'main;f;g 2' 'main;f;f;g;f 1' 'main;walk;lapply;FUN;walk;leaf 3' >"$WORK/recursion.folded"
"$XRPROF" report "$WORK/recursion.folded" -o "$WORK/recursion.html" 2>"$WORK/recursion.err"
is $? 0 "recursive calls are in a page" || diag "$(cat "$WORK/recursion.err")"
"$make_page" -x page calls 300 0 "$WORK/calls.html"
"$make_page" -x page calls 100000 0 "$WORK/manycalls.html"
"$make_page" -x page calls 300 0 "$WORK/calls.pb.gz" pprof
"$XRPROF" report "$WORK/calls.pb.gz" -o "$WORK/readcalls.html" 2>"$WORK/readcalls.err"
is $? 0 "calls that were read from a file are in a page" || diag "$(cat "$WORK/readcalls.err")"
"$make_page" -x page diff 3000 2 "$WORK/diff.html"
"$make_page" -x page labels 0 0 "$WORK/labels.html"
"$make_page" -x page labels 20 0 "$WORK/manylabels.html"
python3 "$tests/live/page.py" "$WORK" "$TARGET_DIR/page_source.R" >"$WORK/page.out" 2>"$WORK/page.err"
status=$?
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done <"$WORK/page.out"
is $status 0 "page.py comes to its end" || diag "$(cat "$WORK/page.err" "$WORK/browser.log" 2>/dev/null | tail -n 20)"
done_testing
