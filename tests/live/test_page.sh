#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 120
#
# The page of format flamegraph in a real browser: of a real profile, of 100,000 stacks, of 40 processes, of names that
# are hostile, of nothing, and of two profiles. page.py looks at them.
. "$(dirname "$0")/../lib/live.sh"

make_page=$BUILD/tests/unit/output/test_flamegraph
[ -x "$make_page" ] || bail "$make_page is not there: run make unit-tests first"
command -v chromium >/dev/null || bail "no chromium: tools/install-deps test"

# R's own program, whose source is there; it goes on until the page is written.
target_start host page
prof -p "$TARGET_PID" -d 2 -F 499 --lines -f flamegraph -o "$WORK/real.html" 2>"$WORK/real.err"
is $? 0 "a profile is taken" || diag "$(cat "$WORK/real.err")"
target_kill

"$make_page" page many 100000 4 "$WORK/large.html"
"$make_page" page many 4000 40 "$WORK/processes.html"
mkdir "$WORK/names"
"$BUILD/tests/unit/output/test_hostile_names" write "$WORK/names" >/dev/null
mv "$WORK/names/names.html" "$WORK/hostile.html"
"$make_page" page empty 0 0 "$WORK/empty.html"
"$make_page" page diff 3000 2 "$WORK/diff.html"
python3 "$tests/live/page.py" "$WORK" "$TARGET_DIR/page_source.R" >"$WORK/page.out" 2>"$WORK/page.err"
status=$?
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	"figure "*) figure "${line#figure }" ;;
	*) diag "$line" ;;
	esac
done <"$WORK/page.out"
is $status 0 "page.py comes to its end" || diag "$(cat "$WORK/page.err" "$WORK/browser.log" 2>/dev/null | tail -n 20)"
done_testing
