#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 1800
# live: yes
#
# The unit tests and some live ones with everything built with AddressSanitizer and UBSan, and unit tests under valgrind.
# Any of their reports ends the program with a failure.
. "$(dirname "$0")/../lib/tap.sh"

root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

check "it builds with sanitizers" make -C "$root" -s -j2 BUILD="$work/san" SAN=address,undefined all unit-tests || {
	done_testing
	exit 1
}
for test in $(find "$work/san/tests/unit" -name 'test_*' -type f -executable | sort); do
	name=$(basename "$test")
	check "$name with sanitizers" timeout 300 "$test"
done

# Hostile input, the end of targets and of the profiler, lines; each with the engines it is for.
for test in errors ends lines_symbols; do
	BUILD=$work/san timeout 600 "$root/tests/run" "live:$test" >"$work/log" 2>&1
	ok $? "live:$test with sanitizers" || diag "$(grep -A12 '^FAILED' "$work/log")"
done

# valgrind is slow: those whose input comes from strangers
for name in profile/test_decode target/linux/test_elf os/linux/test_proc_maps include/test_walk profile/test_names target/test_pe \
	output/test_output; do
	check "$name under valgrind" timeout 600 valgrind -q --error-exitcode=99 --leak-check=full \
		"${BUILD:-$root/build}/tests/unit/$name"
done
done_testing
