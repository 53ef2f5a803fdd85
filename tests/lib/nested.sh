# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For the tests with C and C++ functions that R calls and that call R (tests/fixtures/nested_calls.cpp). Source it after live.sh.

# nested_library PLACE: make $WORK/nested-PLACE.so: its R's headers, this machine's compiler
nested_library() {
	local root='' with=-DNESTED_THREAD
	[ "$1" = host ] || { with='' && root=$("${tests:?}/images/get" "$1"); } || return 1
	# shellcheck disable=SC2086 # it may be nothing
	g++ $with -O2 -fPIC -shared -fomit-frame-pointer -Wall -Wextra -Werror "-I$root/usr/share/R/include" -o "$WORK/nested-$1.so" \
		"$tests/fixtures/nested_calls.cpp"
}
