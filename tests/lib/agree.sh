# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For live tests that compare two profiles of one run by statistics. Source it after live.sh.

# agree NAME COMMAND [ARG...]: COMMAND makes a run and leaves compare.R's words in $TARGET_DIR/verdict and the profiler's
# counts in $PROF_OUT.stats. A difference by chance alone happens once in some hundred runs: a run that differs is
# repeated once with fresh samples, and must then agree.
agree() {
	local name=$1 attempt status field line
	shift
	for attempt in 1 2; do
		"$@"
		status=$?
		if [ $status -eq 0 ] && ! grep -q ^FAIL "$TARGET_DIR/verdict"; then break; fi
		[ "$attempt" -eq 2 ] || diag "$name: first run differs:" "$(cat "$TARGET_DIR/verdict" "$TARGET_ERR")"
	done
	ok $status "$name: both profiles are there" ||
		diag "$(cat "$PROF_OUT.err" "$TARGET_DIR/verdict" "$TARGET_ERR")"
	is "$PROF_STATUS" 0 "$name: exit status 0 when the program ends"
	while IFS= read -r line; do
		case $line in
		PASS*) pass "$name: ${line#PASS }" ;;
		FAIL*) fail "$name: ${line#FAIL }" ;;
		INFO*) figure "$name: ${line#INFO }" ;;
		*) diag "$line" ;;
		esac
	done <"$TARGET_DIR/verdict"
	check_stats "$PROF_OUT.stats" "$name"
	check_readable "$PROF_OUT.stats" "$name"
	is "$(lost_of "$PROF_OUT.stats")" 0 "$name: lost 0"
	for field in truncated malformed partial unnamed; do
		is "$(stat_of "$PROF_OUT.stats" $field)" 0 "$name: $field 0" || diag "$(cat "$PROF_OUT.stats")"
	done
}
