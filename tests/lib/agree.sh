# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For live tests that compare two profiles of one run by statistics. Source it after live.sh.

# stolen: for how long a hypervisor has kept CPUs from this machine, in hundredths of a second.
stolen() {
	awk '$1 == "cpu" { print $9 + 0 }' /proc/stat
}

# agree NAME COMMAND [ARG...]: COMMAND makes a run and leaves compare.R's words in $TARGET_DIR/verdict and the profiler's
# counts in $PROF_OUT.stats. A difference by chance alone happens once in some hundred runs: a run that differs is
# repeated once with fresh samples, and must then agree.
#
# One of two CPUs may be taken away for a tenth of a second, with the profiler on it, while R runs and takes its samples on
# the other. Those are no draws of one distribution: where that may have happened the run is repeated up to four times.
agree() {
	local name=$1 attempt status field line before runs=2
	shift
	for attempt in 1 2 3 4 5; do
		before=$(stolen)
		"$@"
		status=$?
		if [ $status -eq 0 ] && ! grep -q ^FAIL "$TARGET_DIR/verdict"; then break; fi
		[ $(($(stolen) - before)) -lt 10 ] || runs=5
		[ "$attempt" -lt $runs ] || break
		diag "$name: run $attempt differs:" "$(cat "$TARGET_DIR/verdict" "$TARGET_ERR")"
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
