#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd profile output
# timeout: 300
# engines: bpf
#
# report: R's own files in all modes, read without loss: as many samples of each function as summaryRprof() counts. From one
# format to another and back, every count stays. Several files, --diff, --fold, hostile names, rights.
# (Damaged files: unit:profile/read_rprof, read_folded, read_pprof.)
. "$(dirname "$0")/../lib/live.sh"

# rows FILE ARG...: the table's rows as "SELF<tab>TOTAL<tab>NAME", sorted
rows() {
	"$XRPROF" report "$@" --top 0 2>/dev/null | sed -E '1,2d; s/^ *([0-9]+) +[0-9.]+ +([0-9]+) +[0-9.]+  /\1\t\2\t/' | LC_ALL=C sort
}

# samples FILE: of its head line
samples() {
	"$XRPROF" report "$@" 2>/dev/null | sed -nE '1s/.*: ([0-9]+) samples.*/\1/p'
}

# --- R's own files ---

dirs=()
for place in $(all_places host trixie); do
	target_start "$place" rprofs
	dirs+=("$TARGET_DIR")
done
for dir in "${dirs[@]}"; do
	TARGET_DIR=$dir
	target_await_done || fail "Rprof() writes profiles: $(tail -n 5 "$dir/stderr")"
	for file in "$dir"/*.summary; do
		name=$(basename "$file" .summary)
		is "$(rows "$dir/$name.out" | grep -vP '\t<toplevel>$')" "$(sed 1d "$file" | LC_ALL=C sort)" \
			"${dir##*/}/$name: samples of each function are summaryRprof()'s"
		lines=$(grep -cvE 'sample[.]interval=|^#File ' "$dir/$name.out")
		is "$(samples "$dir/$name.out")" "$lines" "${dir##*/}/$name: all samples are there"
	done
done
[ "$place" != trixie ] || check "R 4.5 has events" [ -e "$TARGET_DIR/elapsed.out" ]

# --- from one format to another ---

for dir in "${dirs[@]}"; do
	for name in plain lines gc all; do
		in=$dir/$name.out
		at=${dir##*/}/$name
		sed -E 's/^:[0-9]+:[0-9]+:[0-9]+:[0-9]+://; s/^memory profiling: //; /^$/d' "$in" >"$WORK/as-it-is.out"
		report "$in" -o "$WORK/again.out"
		is "$STATUS" 0 "$at: to rprof: exit status"
		check "$at: to rprof: the same bytes, except memory counts" cmp \
			"$WORK/as-it-is.out" "$WORK/again.out"
		report "$in" -o "$WORK/x.folded"
		report "$in" -o "$WORK/x.pb.gz"
		report "$WORK/x.pb.gz" -f folded
		is "$(LC_ALL=C sort <<<"$OUT")" "$(LC_ALL=C sort "$WORK/x.folded")" "$at: rprof to pprof to folded is rprof to folded"
		report "$WORK/x.folded" -F 500 -o "$WORK/back.out"
		report "$WORK/back.out" -o "$WORK/y.folded"
		check "$at: folded to rprof to folded" cmp "$WORK/x.folded" "$WORK/y.folded"
		is "$(rows "$WORK/x.folded" -l)" "$(rows "$in" -l)" "$at: the same by line"
		is "$(rows "$WORK/x.pb.gz" -l)" "$(rows "$in" -l)" "$at: and in pprof"
	done
done
is "$(rows - <"$in")" "$(rows "$in")" "standard input"

# --- names: unit:output/formats has each hostile name in each format ---
printf '%s\n' 'sample.interval=20000' $'"\033[2J" "gr\303\266\303\237e" "\351" ' '"<script>alert(1)</script>" "%s%n" "-rf" ' >"$WORK/names.out"
report "$WORK/names.out"
is "$(LC_ALL=C grep -c $'[\001-\011\013-\037]' <<<"$OUT")" 0 "hostile names: nothing acts on the terminal"

report "$WORK/names.out" -o "$WORK/of.speedscope.json"
is "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["name"])' "$WORK/of.speedscope.json")" "$WORK/names.out" "speedscope: its name is the file it is of"

# --- several files ---

mkdir "$WORK/several"
printf 'sample.interval=10000\n"g" "f" \n"f" \n' >"$WORK/several/Rprof.4711.out"
printf 'sample.interval=10000\n"g" "f" \n' >"$WORK/several/Rprof.4712.out"
report "$WORK/several"/Rprof.*.out --top 1
like "$OUT" ': 3 samples, 0.03 s, 2 processes'$'\n' "two files, two processes"
report "$WORK/several"/Rprof.*.out -f folded
is "$(LC_ALL=C sort <<<"$OUT")" $'R-4711;f 1\nR-4711;f;g 1\nR-4712;f;g 1' "folded: each below its root"
report "$WORK/several"/Rprof.*.out -o "$WORK/several/both.folded"
report -o "$WORK/several/out/" -F 100 "$WORK/several/both.folded" -f rprof
is "$(cat "$WORK/several/out/Rprof.4712.out")" $'sample.interval=10000\n"g" "f" ' "rprof into a directory: a file each"
report "$WORK/several"/Rprof.*.out -o "$WORK/several/one.out"
is "$(samples "$WORK/several/one.out")" 3 "rprof into a file: all of them"
report "$WORK/several"/Rprof.*.out -o "$WORK/several/x.pb.gz"
report "$WORK/several/x.pb.gz" -f folded
is "$(LC_ALL=C sort <<<"$OUT")" $'R-4711;f 1\nR-4711;f;g 1\nR-4712;f;g 1' "pprof: processes are labels"

# --- --diff, --fold, --packages ---

printf 'main;a 90\nmain;b 10\n' >"$WORK/before.folded"
printf 'main;a 30\nmain;b 10\nmain;c;<GC> 10\n' >"$WORK/after.folded"
report --diff "$WORK/before.folded" "$WORK/after.folded"
like "$OUT" 'before: .*before.folded: 100 samples.*after: .*after.folded: 50 samples.*Shares of each' "--diff: says of what"
is "$(sed '1,/CHANGE/d' <<<"$OUT")" '  90.0   60.0  -30.0    90.0   60.0  -30.0  a
   0.0   20.0  +20.0     0.0   20.0  +20.0  <GC>
  10.0   20.0  +10.0    10.0   20.0  +10.0  b
   0.0    0.0   +0.0     0.0   20.0  +20.0  c
   0.0    0.0   +0.0   100.0  100.0   +0.0  main' "--diff: shares of each, the largest change first"
report --diff "$WORK/before.folded" "$WORK/after.folded" -o "$WORK/diff.html"
is "$STATUS$OUT$ERR" 0 "--diff to a page" && like "$(head -c 200 "$WORK/diff.html")" "<!doctype html>" "--diff to a page: it is one"
printf 'main;tryCatch;tryCatchList;tryCatchOne;doTryCatch;lapply;FUN;stats::lm 3\nmain;base::lapply 2\n' >"$WORK/wrapped.folded"
report --fold "$WORK/wrapped.folded" -f folded
is "$OUT" $'main;stats::lm 3\nmain;base::lapply 2' "--fold: wrappers go, callers and the innermost stay"
is "$(rows "$WORK/wrapped.folded" --packages)" $'0\t5\t<unknown>\n2\t2\tbase\n3\t3\tstats' "--packages"

# --- what cannot be ---

# refused NAME STATUS REGEX ARG...
refused() {
	local name=$1 status=$2 regex=$3
	shift 3
	report "$@"
	is "$STATUS$OUT" "$status" "$name: exit status $status, nothing on stdout"
	check "$name: one line on stderr" one_line "$ERR"
	like "$ERR" "$regex" "$name: it says what is wrong"
}

refused "no file" 2 'no file to read'
refused "--diff to another format than a page" 2 'writes a table or a page' --diff \
	"$WORK/before.folded" "$WORK/after.folded" -f pprof -o "$WORK/diff.pb.gz"
refused "a file that is not there" 1 'cannot read .*nothing: No such file' "$WORK/nothing"
refused "a directory" 1 'cannot read .*: Is a directory' "$WORK"
refused "more lines than a file can have" 1 'choose another' -F 50 -f rprof - < <(echo 'f 9000000000000000')
"$XRPROF" report "$in" -f rprof 2>"$WORK/err" | head -n 1 >/dev/null
is "${PIPESTATUS[0]} $(grep -v memory "$WORK/err")" "0 " \
	"a reader that closes the pipe is not an error"
# a pipe that is read slowly: nothing is dropped
for ((i = 0; i < 20; i++)); do sed "s/\"f\"/\"f$i\"/" "$in"; done >"$WORK/long.out"
want=$(samples "$WORK/long.out")
is "$("$XRPROF" report "$WORK/long.out" -f rprof 2>/dev/null | { sleep 3 && cat; } | grep -cvE '=|^#')" "$want" "a slow reader gets all"

# --- no rights ---
chmod 700 "$WORK"
cp "$in" "$WORK/private.out"
chmod 600 "$WORK/private.out"
chmod 755 "$WORK"
cp "$XRPROF" "$WORK/own"
chown root "$WORK/private.out"
OUT=$(setpriv --reuid 65534 --clear-groups "$WORK/own" report "$WORK/private.out" 2>&1)
like "$OUT" 'cannot read .*: Permission denied' "another's file is not read"
setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_override,cap_dac_read_search+p "$WORK/own" 2>"$WORK/err" || diag "$(cat "$WORK/err")"
OUT=$(setpriv --reuid 65534 --clear-groups "$WORK/own" report "$WORK/private.out" 2>&1)
like "$OUT" 'cannot read .*: Permission denied' "nor with capabilities on the program's file"
OUT=$(setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
	"$BUILD/xrprof-bpf" report - <"$in" 2>/dev/null | head -n 1)
like "$OUT" "samples" "no rights are needed at all"
done_testing
