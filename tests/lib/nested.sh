# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For the tests with C and C++ functions that R calls and that call R (tests/fixtures/nested_calls.cpp). Source it after live.sh.

# nested_library PLACE [bare]: make $WORK/nested-PLACE.so: its R's headers, this machine's compiler; or $WORK/bare-PLACE.so, which
# has no unwind tables
nested_library() {
	local root='' what=${2:-nested}
	local with=(-O2 -fPIC -shared -fomit-frame-pointer -Wall -Wextra -Werror)
	if [ "$1" = host ]; then
		with+=(-DNESTED_THREAD)
	else
		root=$("${tests:?}/images/get" "$1") || return 1
	fi
	[ "$what" != bare ] || with+=(-DNESTED_BARE -fno-exceptions -fno-asynchronous-unwind-tables -fno-unwind-tables)
	g++ "${with[@]}" "-I$root/usr/share/R/include" -o "$WORK/$what-$1.so" "$tests/fixtures/nested_calls.cpp"
}

# nested_enough: does $PROF_OUT have $samples stacks with native frames?
nested_enough() {
	[ "$(grep '^"' "$PROF_OUT" 2>/dev/null | grep -vc '^"<no-native>"')" -ge "${samples:?}" ]
}

# nested_stat NAME: of the last profile's native frames
nested_stat() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["native"][sys.argv[2]])' "$PROF_OUT.stats" "$1"
}

# nested_whole: how many of the last profile's stacks go to the outermost frame, and of how many that have native frames
nested_whole() {
	python3 -c 'import json, sys
n = json.load(open(sys.argv[1]))["native"]
print(n["whole"], sum(n[k] for k in ("whole", "no_table", "no_rule", "bad_stack", "too_many")))' "$PROF_OUT.stats"
}
