#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: output session cmd
# timeout: 400
# engines: bpf
#
# record where it runs for long: again and again into one directory.
. "$(dirname "$0")/../lib/live.sh"
chmod 755 "$WORK"

target_start host all_spin spinning
pid=$TARGET_PID
folder=$WORK/again
first=$folder/Rprof.$pid.out

# --- what is there stays ---
prof -p "$pid" -d 0.5 -o "$folder/" 2>"$WORK/err"
is $? 0 "into a directory" || diag "$(cat "$WORK/err")"
check_rprof "$first" "the first run"
cp "$first" "$WORK/first"
prof -p "$pid" -d 0.5 -o "$folder/" 2>"$WORK/err"
is $? 0 "into the same directory" || diag "$(cat "$WORK/err")"
check "what was there stays as it was" cmp "$first" "$WORK/first"
check_rprof "$folder/Rprof.$pid.1.out" "the second run"
is "$(grep -c "Rprof.$pid.out is there already.*Rprof.$pid.1.out is written" "$WORK/err")" 1 \
	"the new name is reported, once" ||
	diag "$(cat "$WORK/err")"
for i in "" .1 .2; do
	prof -p "$pid" -d 0.3 -f folded -o "$folder/" 2>"$WORK/err"
	[ -s "$folder/profile$i.folded" ]
	ok $? "folded: profile$i.folded"
done
echo old >"$WORK/one.out"
prof -p "$pid" -d 0.5 -o "$WORK/one.out" 2>"$WORK/err"
check_rprof "$WORK/one.out" "a named file is overwritten"
is "$(grep -c "already" "$WORK/err")" 0 "without a message"

# Two at a time: each file is somebody's alone.
both=$WORK/both
mkdir "$both"
for i in 1 2 3 4; do
	prof -p "$pid" -d 1 --stats "$WORK/stats.$i" -o "$both/" 2>"$WORK/err.$i" &
	jobs[i]=$!
done
bad=
for i in 1 2 3 4; do
	wait "${jobs[i]}" || bad="$bad $i"
done
is "$bad" "" "four at a time into one directory"
is "$(find "$both" -name 'Rprof.*.out' | wc -l)" 4 "they are four files"
written=0 found=0
for i in 1 2 3 4; do
	written=$((written + $(stat_of "$WORK/stats.$i" written)))
done
for file in "$both"/*.out; do
	check_rprof "$file" "${file##*/}" && found=$((found + $(samples_in "$file")))
done
[ $found -gt 0 ] && [ $found -le $written ]
ok $? "no sample is in two of them: $found of $written"

# --- whose file is it? ---
target_start host all_spin ends 0.5 wait
ends=$TARGET_PID
index=$WORK/index/index.jsonl
"$XRPROF" -e "$XRPROF_ENGINE" -p "$pid,$ends" -o "$WORK/index/" --stats "$WORK/index.stats" --ready "$WORK/index.ready" \
	2>"$WORK/index.err" </dev/null &
prof=$!
live_pids+=("$prof")
wait_until 120 test -s "$WORK/index.ready"
target_go
check "the index has a process as soon as it has ended" wait_until 100 grep -qs "\"Rprof.$ends.out\"" "$index" ||
	diag "$(cat "$WORK/index.err")"
kill -INT "$prof"
wait "$prof"
is $? 0 "it ends well" || diag "$(cat "$WORK/index.err")"
check "the index says whose files they are, and how much is in them" python3 - "$WORK/index" "$pid" "$ends" <<-'PY'
	import json, os, sys
	folder, pids = sys.argv[1], [int(p) for p in sys.argv[2:]]
	lines = [json.loads(line) for line in open(folder + "/index.jsonl")]
	assert [line["pid"] for line in lines] == pids[::-1], lines
	for line in lines:
	    assert line["file"] == f"Rprof.{line['pid']}.out", line
	    samples = sum(1 for _ in open(os.path.join(folder, line["file"]))) - 1
	    assert line["samples"] == samples > 0, (line, samples)
	    assert line["comm"] == "R" and line["uid"] == os.getuid(), line
	    assert "all_spin.R" in line["command"], line
	    assert line["labels"]["service"], line
	running = lines[1]
	stat = open(f"/proc/{pids[0]}/stat").read().rsplit(")", 1)[1].split()
	boot = next(int(line.split()[1]) for line in open("/proc/stat") if line.startswith("btime"))
	assert abs(running["started"] - boot - int(stat[19]) / os.sysconf("SC_CLK_TCK")) < 5, running
	R = os.popen("R --version").read().split()[2]
	assert running["r_version"] == R, running
PY
prof -p "$pid" -d 0.5 -o "$WORK/index/" 2>"$WORK/err"
check "another run has a separate index" grep -q "\"Rprof.$pid.1.out\"" "$WORK/index/index.1.jsonl"
is "$(wc -l <"$index")" 2 "and the first one stays"
done_testing
