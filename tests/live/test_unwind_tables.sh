#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: target native
# timeout: 600
# engines: bpf
#
# The unwind tables (src/target/linux/unwind/) of R, of what it is linked with and of its packages, row by row against readelf.
# UNWIND_FILES=FILE: those that are named in it instead, one a line.
. "$(dirname "$0")/../lib/live.sh"

home=$(R RHOME)
files=${UNWIND_FILES:-$WORK/files}
[ -n "${UNWIND_FILES:-}" ] || {
	ldd "$home/lib/libR.so" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p'
	find "$home/lib" "$home/library" "$home/modules" -name '*.so'
	echo "$home/bin/exec/R"
} | sort -u >"$files"
xargs -d '\n' -a "$files" python3 "$tests/lib/unwind_tables.py" "$BUILD/unwind-dump" >"$WORK/out" 2>"$WORK/err"
ok $? "tables of $(wc -l <"$files") files" || diag "$(tail "$WORK/err")"
read -r _ n _ rows _ equal _ other _ expression _ differ < <(grep '^files ' "$WORK/out")
[ "$n" -ge 10 ] && [ "$rows" -gt 100000 ]
ok $? "of $n files $rows rows, $equal of them equal; the CFA is in another register in $other, an expression in $expression"
is "$differ" 0 "none differs" || diag "$(grep '^differs ' "$WORK/out")"
check "hardly any cannot be followed" [ $((other + expression)) -lt $((rows / 100)) ]
diag "$(awk '$1 == "file" {r += $3; b += $5; us += $6} END {print r " rows, " b " bytes, " us " us"}' "$WORK/out")"
done_testing
