#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: fuzz base cmd os output profile serve session target engine include
# timeout: 900
#
# Each fuzz target (make fuzz) runs once through its corpus, which has all inputs that ever broke
# one.
# The run reports a broken target.
. "$(dirname "$0")/../lib/tap.sh"

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 1
export BUILD=${BUILD:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check "they are built" make -s -j2 fuzz-programs || {
	done_testing
	exit 1
}
tests/fuzz/run >"$work/out" 2>&1
status=$?
while read -r verdict name runs _; do
	[ "$verdict" = ok ] && [ "$runs" -gt 0 ]
	ok $? "$name, $runs inputs" || diag "$(cat "$work/out" "$BUILD/fuzz/$name.log" | tail -n 40)"
done < <(grep -E '^(ok|FAILED) ' "$work/out")
targets=$(find tests/fuzz -maxdepth 1 \( -name '*.c' -o -name '*.R' \) ! -name seeds.c | wc -l)
is "$status $(tail -n 1 "$work/out")" "0 $targets passed, 0 failed" "all of $targets targets"

printf '#!/bin/sh\necho "fuzz: broken" >&2\nexit 77\n' >"$work/broken"
chmod +x "$work/broken"
mkdir -p "$work/fuzz/bin"
cp "$work/broken" "$work/fuzz/bin/btf"
like "$(BUILD=$work tests/fuzz/run btf; echo "status $?")" \
	"FAILED btf .*fuzz: broken.*0 passed, 1 failed.*status 1" "fuzz/run reports a broken target"
done_testing
