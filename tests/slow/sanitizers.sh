#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: base cmd engine os output profile serve session target include bpf
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

check "it builds with sanitizers" make -C "$root" -s -j2 BUILD="$work/san" SAN=address,undefined CFLAGS="-O1 -g1" all unit-tests || {
	done_testing
	exit 1
}
# All unit tests; hostile input, the end of targets and of the profiler, lines, native frames, each with the engines it is for.
BUILD=$work/san XRPROF_SLOWER=10 timeout --foreground 3600 "$root/tests/run" unit: live:errors live:ends live:lines_forked \
	live:native_resync live:native_waiting live:native_kernel >"$work/log" 2>&1
ran=0
while read -r _ verdict name _; do
	ran=$((ran + 1))
	[ "$verdict" = ok ]
	ok $? "$name with sanitizers" || diag "$(grep -F -A40 "FAILED $name " "$work/log" | sed '1!{/^\[/,$d}')"
done < <(sed -nE 's/^\[ */[/; /^\[[0-9]+\/[0-9]+\] /p' "$work/log")
[ $ran -gt 0 ]
ok $? "$ran programs ran with sanitizers" || diag "$(tail -n 20 "$work/log")"

# valgrind is slow: those whose input comes from strangers
under_valgrind() {
	# shellcheck disable=SC2016  # for the inner shell
	printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh -c 'out=$(mktemp "$0/valgrind.XXXXXX")
		timeout 600 valgrind -q --error-exitcode=99 --leak-check=full "$1/tests/unit/${2%%/*}" "unit:$2" >"$out" 2>&1
		echo "$? $out $2"' "$work" "${BUILD:-$root/build}"
}
strangers=(profile/decode profile/read target/linux/elf: os/linux/proc_maps include/walk: target/r_version output/writers values/ serve/linux/http_rules)
ran=0
while read -r status out name; do
	ran=$((ran + 1))
	ok "$status" "$name under valgrind" || diag "$(tail -n 40 "$out")"
done < <(under_valgrind "${strangers[@]}")
is $ran ${#strangers[@]} "all of them ran under valgrind"
done_testing
