#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: cmd profile output serve
# timeout: 300
# engines: bpf
#
# report --dir: profiles of real R programs under the names that a directory has are added up, count for count as go tool
# pprof adds them up; spans, gaps, --diff, --process, --list with an index and without, what is damaged, and a week of them.
. "$(dirname "$0")/../lib/live.sh"
needs program go
export TZ=Europe/Berlin

dir=$WORK/profiles
mkdir "$dir"

# head_of: samples in the head of the table
head_of() {
	sed -n '1s/.*: \([0-9]*\) samples.*/\1/p' <<<"$OUT"
}

# counts NAME WANTED DIR ARG...: report --dir has WANTED samples
counts() {
	report --dir "${@:3}" --top 0
	is "$STATUS $(head_of)" "0 $2" "$1" || diag "$ERR"
}

# lists NAME WANTED DIR ARG...: "SAMPLES PID" of each process of report --dir --list
lists() {
	report --dir "${@:3}" --list
	is "$STATUS $(awk 'NR > 2 { print $1, $2 }' <<<"$OUT" | xargs)" "0 $2" "$1" || diag "$ERR"
}

# index_line INTERVAL PID SAMPLES [MORE]: of the index of a directory
index_line() {
	echo "{\"file\":\"$1.pb.gz\",\"pid\":$2,\"comm\":\"R\",\"started\":1768610000,\"samples\":$3${4-}}"
}

# pprof_sum FILE...: samples that go tool pprof counts in all of them
pprof_sum() {
	go tool pprof -raw -sample_index=samples "$@" 2>/dev/null |
		awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 } on && /^ *[0-9]+ +[0-9]+:/ { n += $1 } END { print n + 0 }'
}

# pprof_flat FILE...: "SELF NAME" of each function, as it counts
pprof_flat() {
	go tool pprof -top -flat -nodecount=100000 -nodefraction=0 -sample_index=samples "$@" 2>/dev/null |
		awk 'on && $1 > 0 { sub(/^\[R\]$/, "<GC>", $6); print $1, $6 } /flat%/ { on = 1 }' | LC_ALL=C sort # it takes <GC> for a template's arguments
}

table_flat() {
	awk 'NR > 2 && $1 > 0 { print $1, $5 }' <<<"$OUT" | LC_ALL=C sort
}

work='f <- function() { s <- 0; for (i in 1:2e7) s <- s + i; s }; g <- function() f(); g()'
other='h <- function() { s <- 0; for (i in 1:2e7) s <- s + i; s }; h()'
one() {
	prof -s -o "$WORK/$1.pb.gz" -- Rscript --vanilla -e "$2" >"$WORK/out" 2>"$WORK/err" || bail "$(cat "$WORK/err")"
}
one a "$work"
one b "$work"
one c "$other"

# The day is one in the past, whatever today is: the names say when.
cp "$WORK/a.pb.gz" "$dir/20260117T011000Z-60.pb.gz"
cp "$WORK/b.pb.gz" "$dir/20260117T011100Z-60.pb.gz"
cp "$WORK/c.pb.gz" "$dir/20260118T011000Z-60.pb.gz"
cp "$WORK/c.pb.gz" "$dir/20260118T011000Z-60.1.pb.gz"
: >"$dir/README"
: >"$dir/.20260118T011100Z-60.pb.gz.tmp"
a=$(pprof_sum "$WORK/a.pb.gz") b=$(pprof_sum "$WORK/b.pb.gz") c=$(pprof_sum "$WORK/c.pb.gz")
check "R was sampled: $a, $b, $c" [ $((a > 10 && b > 10 && c > 10)) = 1 ]

# --- all of it, and spans ---

counts "all: as many samples as go tool pprof counts in the files" $((a + b + 2 * c)) "$dir"
like "$ERR" '4 profiles of 2026-01-17 02:10:00 \+0100 to 2026-01-18 02:11:00 \+0100' \
	"the span is reported, in local time"
like "$ERR" 'nothing was recorded from 2026-01-17 02:12:00 \+0100 to 2026-01-18 02:10:00 \+0100' "and what is missing in it"
counts "a span of local time: the second time is of the same day" $((a + b)) "$dir" --since "2026-01-17 02:10" --until 02:20
is "$(table_flat)" "$(pprof_flat "$WORK/a.pb.gz" "$WORK/b.pb.gz")" "each function has as many as go tool pprof counts"
counts "what begins at the end of the span is not of it" "$b" "$dir/" --since "2026-01-17 02:11" --until "2026-01-18 02:10"
report --dir "$dir" --since "2026-01-17 02:10" --until 02:20 -f pprof -o "$WORK/both.pb.gz"
is "$STATUS $(pprof_sum "$WORK/both.pb.gz")" "0 $((a + b))" "as pprof: go tool pprof counts the same in it"

# The last one is short, as after a signal, and a clock was a day ahead once.
at() {
	date -u -d "@$1" "+%Y%m%dT%H%M%SZ-$2.pb.gz"
}
mkdir "$WORK/now"
now=$(date +%s)
for row in "a -2300 600" "a -1700 600" "b -1100 600" "a -500 5" "c 86400 600"; do
	read -r profile when seconds <<<"$row"
	cp "$WORK/$profile.pb.gz" "$WORK/now/$(at $((now + when)) "$seconds")"
done
counts "a span without an end ends now, also where a clock was ahead" $((2 * a + b)) "$WORK/now" --since -30m
is "$(grep -c 'nothing was recorded' <<<"$ERR")" 0 "what is being recorded now is not missing, also after a short profile"
# seven holes: five are reported one by one
mkdir "$WORK/holes"
for ((i = 0; i < 7; i++)); do
	cp "$WORK/a.pb.gz" "$WORK/holes/$(at $((1768600800 + 600 * i)) 60)"
done
report --dir "$WORK/holes"
like "$ERR" 'nothing was recorded in 1 more span; 3240 s are missing in total' "holes beyond five are counted"

# --- --diff ---

report --dir "$dir" --since "2026-01-18 02:10" --until 02:20 --diff yesterday --top 0
is "$STATUS" 0 "--diff yesterday: exit status"
like "$OUT" "before: .*2026-01-17 02:10:00 to 02:12:00 .*: $((a + b)) samples.*after: .*2026-01-18 02:10:00 to 02:11:00 .*: $((2 * c)) samples" "the same span a day before"
diff=$OUT
report --diff "$WORK/both.pb.gz" "$WORK/c.pb.gz" --top 0
is "$(sed '1,/CHANGE/d' <<<"$OUT")" "$(sed '1,/CHANGE/d' <<<"$diff")" "the table is that of files that hold the same"

# --- --process, --list ---

pid=$(go tool pprof -raw "$WORK/c.pb.gz" 2>/dev/null | sed -n 's/.*pid:\[\([0-9]*\)\].*/\1/p' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
pid_sum=$(go tool pprof -raw -sample_index=samples "$WORK/c.pb.gz" 2>/dev/null |
	awk -v pid="$pid" '/^ *[0-9]+ +[0-9]+:/ { n = $1 } $0 ~ "pid:\\[" pid "\\]" { sum += n } END { print sum + 0 }')
counts "--process PID" $((2 * pid_sum)) "$dir" --process "$pid"
counts "--process PATTERN, more than one" $((a + b + 2 * c)) "$dir" --process 'R*' --process nothing
report --dir "$dir" --process nothing
is "$STATUS$OUT" 1 "--process that matches no process"
like "$ERR" 'no sample is of a process that matches --process' "this is reported"
report --dir "$dir" --list
# R's own children may have a sample or two
is "$STATUS $(awk 'NR > 2 { n += $1 } END { print n }' <<<"$OUT")" "0 $((a + b + 2 * c))" "--list without an index: the profiles are read"
is "$(awk -v pid="$pid" 'NR > 2 && $2 == pid { print $1 }' <<<"$OUT")" $((2 * pid_sum)) "each process has its own"
like "$ERR" '4 of 4 profiles had no entry in the index' "a missing index is reported"
# an index of others' making: members one after another
api=',"service":"api","uid":1000,"r_version":"4.2.2","command":"R -f /srv/api.R"'
{
	index_line 20260117T011000Z-60 17 "$a" "$api" | gzip
	{
		index_line 20260117T011100Z-60 17 $((b - 5)) "$api"
		index_line 20260117T011100Z-60 18 5 ",\"container\":\"$(printf 'c0ffee%.0s' {1..10})\",\"command\":\"Rscript \\u001b[2Jnight.R\""
	} | gzip
	index_line 20260116T235900Z-60 19 1000 | gzip
} >"$dir/index-20260117.jsonl.gz"
day=(--since "2026-01-17 00:00" --until "2026-01-18 00:00")
lists "--list: processes by samples, from the index" "$((a + b - 5)) 17 5 18" "$dir" "${day[@]}"
like "$OUT" 'SERVICE.*api.*2026-01-17 01:33:20 *R -f /srv/api.R' "service, start and command"
like "$OUT" 'c0ffeec0ffee ' "a container, as far as others show it"
check "nothing that acts on a terminal" eval '! grep -q $'"'\x1b'"' <<<"$OUT"'
is "$(grep -c "index" <<<"$ERR")" 0 "the index has them all"
for pattern in api.R 'R -f *' api '*/api.R'; do
	lists "--process $pattern" "$((a + b - 5)) 17" "$dir" --process "$pattern" "${day[@]}"
done
lists "--process of a container" "5 18" "$dir" --process c0ffeec0ffee "${day[@]}"
# a crash tore its end off
truncate -s -60 "$dir/index-20260117.jsonl.gz"
report --dir "$dir" --list "${day[@]}"
is "$STATUS $(head_of)" "0 $((a + b))" "an index that is damaged: no count is lost"
like "$ERR" 'index-20260117.jsonl.gz is damaged' "the damaged index is reported"

# Of a command the index alone knows.
mkdir "$WORK/commands"
cp "$WORK/c.pb.gz" "$WORK/commands/20260117T011000Z-60.pb.gz"
cp "$WORK/a.pb.gz" "$WORK/commands/20260117T011100Z-60.pb.gz"
echo "{\"file\":\"20260117T011000Z-60.pb.gz\",\"pid\":$pid,\"comm\":\"R\",\"samples\":$pid_sum,\"command\":\"R -f /srv/night.R\"}" |
	gzip >"$WORK/commands/index-20260117.jsonl.gz"
counts "--process of a command: the samples of that process" "$pid_sum" "$WORK/commands" --process night.R
lists "and --list has the same" "$pid_sum $pid" "$WORK/commands" --process night.R

# Facts that arrive later, namespaces, an interval without processes (a profile of types and their names), and a malformed line.
mkdir "$WORK/later"
cp "$WORK/c.pb.gz" "$WORK/later/20260117T011000Z-60.pb.gz"
cp "$WORK/c.pb.gz" "$WORK/later/20260117T011100Z-60.pb.gz"
printf '\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x07samples\x32\x05count' | gzip >"$WORK/later/20260117T011200Z-60.pb.gz"
{
	index_line 20260117T011000Z-60 17 $((c - 3))
	index_line 20260117T011000Z-60 18 3 ',"container":"ns:4026532233"'
	index_line 20260117T011100Z-60 17 "$c" ',"service":"api","uid":1000,"r_version":"4.2.2","command":"R -f late.R"'
} | gzip >"$WORK/later/index-20260117.jsonl.gz"
lists "--list: each has its own" "$((2 * c - 3)) 17 3 18" "$WORK/later"
like "$OUT" " 17 +R +api .*4.2.2 .*R -f late.R" "what only a later profile says is shown"
like "$OUT" 'ns:4026532233 ' "a namespace is not cut"
is "$(grep -c 'no entry in the index' <<<"$ERR")" 0 \
	"an interval without processes is not missing in the index"
lists "--process of a namespace" "3 18" "$WORK/later" --process ns:4026532233
report --dir "$WORK/later" --list --process ns:402653223
is "$STATUS" 1 "and not of a part of its name"
echo rubbish | gzip >>"$WORK/later/index-20260117.jsonl.gz"
report --dir "$WORK/later" --list
is "$STATUS $(head_of)" "0 $((2 * c))" "a malformed line: no count is lost"
like "$ERR" '1 of 3 profiles had no entry in the index' "the profile that it may be of is read itself"

# --- what is damaged ---

head -c $(($(stat -c %s "$WORK/a.pb.gz") / 2)) "$WORK/a.pb.gz" >"$dir/20260117T011200Z-60.pb.gz"
: >"$dir/20260117T011300Z-60.pb.gz"
echo rubbish >"$dir/20260117T011400Z-60.pb.gz"
counts "damaged ones among them: the others are shown" $((a + b)) "$dir" --since "2026-01-17 02:10" --until 02:20
like "$ERR" '011200Z-60.pb.gz ends early.*left out.*3 of 5 profiles cannot be read, or not completely' "each is reported, and they are counted"
report --dir "$dir" --since "2026-01-17 02:12" --until 02:15
is "$STATUS$OUT" 1 "nothing but damaged ones"
report "$WORK/a.pb.gz" "$dir/20260117T011400Z-60.pb.gz"
is "$STATUS$OUT" 1 "a file that was named must be one"

# --- what cannot be asked ---

refused() {
	local status=$1 regex=$2
	shift 2
	report "$@"
	is "$STATUS$OUT" "$status" "refused: $*"
	like "$ERR" "$regex" "it says why"
}
refused 1 'no profile in .* from 2026-02-01 .*; its profiles are from 2026-01-17' --dir "$dir" --since 2026-02-01
refused 2 'is not after' --dir "$dir" --since 2026-01-18 --until 2026-01-17
refused 2 'exclude each other' --dir "$dir" x.out
refused 2 'needs a time' --dir "$dir" --diff --since 02:10
refused 1 'cannot read the directory .*: No such file' --dir "$WORK/nothing"
mkdir "$WORK/empty"
refused 1 'has no profiles' --dir "$WORK/empty"

# --- a week ---

mkdir "$WORK/week"
read -r took peak < <(python3 - "$WORK/week" "$WORK/c.pb.gz" "$WORK/week.out" "$XRPROF" 2>"$WORK/week.err" <<'PY'
import datetime, os, resource, subprocess, sys, time
week, profile, path, program = sys.argv[1:]
at = datetime.datetime(2026, 1, 10)
for i in range(7 * 1440):
    os.link(profile, f"{week}/{at + datetime.timedelta(minutes=i):%Y%m%dT%H%M%SZ}-60.pb.gz")
began = time.monotonic()
with open(path, "w") as out:
    subprocess.run([program, "report", "--dir", week, "--top", "1"], stdout=out, timeout=250, check=True)
print(f"{time.monotonic() - began:.1f}", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
)
figure "10,080 files: $took s, $peak KiB at most"
OUT=$(cat "$WORK/week.out")
is "$(head_of)" $((c * 7 * 1440)) "a week, a file a minute: no sample is lost"
check "and in little memory: $peak KiB" [ "${peak:-65536}" -lt 65536 ]
done_testing
