#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: output
# timeout: 300
# engines: bpf
#
# tools/stackcollapse-Rprof.R: profiles written by hand, by R's own Rprof(), and by our two writers from one set of
# samples, which must come out the same. What Rprof() wrote must be what `report` makes of it.
. "$(dirname "$0")/../lib/live.sh"

tool=$tests/../tools/stackcollapse-Rprof.R

# collapse FILE ARG...: sets OUT, STATUS, ERR
collapse() {
	local file=$1
	shift
	OUT=$(Rscript --vanilla "$tool" "$@" "$file" 2>"$WORK/err")
	STATUS=$?
	ERR=$(cat "$WORK/err")
}

# --- by hand ---

printf '%s\n' 'sample.interval=20000' '"g" "f" ' '"f" ' '"g" "f" ' '"a b" "x[["k"]]" "s;t" ' '"f" ' \
	'"say "hi"" "f" ' '"[[" "lapply" ' >"$WORK/plain.out"
collapse "$WORK/plain.out"
is "$STATUS$ERR" 0 "plain: exit status 0, nothing to say"
is "$OUT" 'f;g 2
f 2
s\x3bt;x[["k"]];a b 1
f;say \x22hi\x22 1
lapply;[[ 1' "plain: outermost first, added up, in order, a semicolon and a quote escaped"

is "$(Rscript --vanilla "$tool" <"$WORK/plain.out")" "$OUT" "standard input gives the same"

printf '%s\n' 'GC profiling: line profiling: sample.interval=10000' '#File 1: dir/a b.R' \
	'"<GC>" 1#7 "g" 1#12 "f" 1#20 ' '#File 2: <text>' '"h" 2#5 "x[["k"]]" 2#3 "f" ' '2#9 ' '"<GC>" ' '1#7 "g" 1#12 "f" 1#20 ' \
	>"$WORK/lines.out"
collapse "$WORK/lines.out" --lines
is "$OUT" 'f (dir/a b.R:12);g (dir/a b.R:7);<GC> 1
f (<text>:3);x[["k"]] (<text>:5);h 1
<toplevel> (<text>:9) 1
<toplevel>;<GC> 1
f (dir/a b.R:12);g (dir/a b.R:7) 1' "--lines: each frame with the line executed in it"
collapse "$WORK/lines.out"
is "$OUT" 'f;g;<GC> 1
f;x[["k"]];h 1
<toplevel> 1
<toplevel>;<GC> 1
f;g 1' "without: lines are left out and equal stacks added up"

printf '%s\n' 'memory profiling: sample.interval=10000' ':12:345:6789:0:"g" "f" ' ':13:345:6789:2:"g" "f" ' \
	':14:345:6789:0:' 'line profiling: sample.interval=10000' '#File 1: a.R' '1#2 "f" 1#1 ' \
	'line profiling: sample.interval=10000' '#File 1: b.R' '1#2 "f" 1#1 ' >"$WORK/memory.out"
collapse "$WORK/memory.out" --lines
is "$OUT" 'f;g 2
<toplevel> 1
f (a.R:2) 1
f (b.R:2) 1' "memory counts go, profiles appended to each other keep their own files"

printf 'sample.interval=20000\n' >"$WORK/empty.out"
collapse "$WORK/empty.out"
is "$STATUS$OUT$ERR" 0 "a profile without samples"
printf 'sample.interval=20000\n"f\351" "\302\233" "\033[2J" "gr\303\266" \n' >"$WORK/bytes.out"
collapse "$WORK/bytes.out"
is "$OUT" $'gr\303\266;\\x1b[2J;\\xc2\\x9b;f\\xe9 1' "bytes that are not text, and what would act on a terminal"
printf 'sample.interval=20000\n"f" \nrubbish\n"f" \n' >"$WORK/rubbish.out"
collapse "$WORK/rubbish.out"
is "$STATUS$OUT" "0f 2" "a malformed line is skipped"
like "$ERR" "1 line" "and reported"

printf 'no profile\n' >"$WORK/no.out"
collapse "$WORK/no.out"
is "$STATUS$OUT" 1 "not a profile: exit status 1"
like "$ERR" "is not a profile" "not a profile: reported"
collapse "$WORK/none.out"
is "$STATUS$OUT" 1 "no such file: exit status 1"
collapse "$WORK/plain.out" --line
is "$STATUS$OUT" 2 "wrong usage: exit status 2"

# --- by our writers, of the same samples ---

for lines in "" lines; do
	"$BUILD/tests/unit/output" -x samples "$WORK/w.out" "$WORK/w.folded" $lines || fail "the writers write"
	collapse "$WORK/w.out" ${lines:+--lines}
	is "$OUT" "$(cat "$WORK/w.folded")" "collapsed rprof is folded${lines:+, with lines}"
done

# --- by R ---

target_start host rprofs
check "Rprof() makes profiles" target_await_done
for name in plain lines all; do
	collapse "$TARGET_DIR/$name.out" --lines
	check "Rprof() $name: exit status" [ "$STATUS" = 0 ]
	is "$(LC_ALL=C sort <<<"$OUT")" "$("$XRPROF" report -f folded "$TARGET_DIR/$name.out" 2>/dev/null | LC_ALL=C sort)" \
		"Rprof() $name: as report reads it, which live:report compares with summaryRprof()"
done

done_testing
