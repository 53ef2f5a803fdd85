#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: output profile
# timeout: 300
#
# Other programs read our files: summaryRprof() and profvis, `go tool pprof`, and in make test-all
# speedscope's own page in Chromium. They show the functions and the lines, and every sample is in the
# files. (Labels: live:labels. Comments: unit:output/encode.)
# else: ptrace vmread
. "$(dirname "$0")/../lib/live.sh"
export HOME=$WORK PPROF_TMPDIR=$WORK # where pprof keeps what it downloads, which is nothing

target_start host work 600 exit
target_go
first=$TARGET_PID
# Its line 5 is where it computes, called from line 10.
target_start host lines_hot
hot=$TARGET_PID

# record NAME OPTION...: the profile $WORK/NAME, whose name chooses the format, of so long that there are
# a hundred samples. Sets samples. CPU time: where a program that waits for a CPU waits says more of the
# machine than of the program.
record() {
	local out=$WORK/$1 seconds status
	for seconds in 2 10 50; do
		prof --clock cpu -F 499 -d $seconds -o "$out" --stats "$out.stats" "${@:2}" 2>"$out.err"
		status=$?
		samples=$(($(stat_of "$out.stats" written) + $(stat_of "$out.stats" no_r_frames)))
		[ "$samples" -lt 100 ] || break
	done
	is $status 0 "$1: exit status 0" || diag "$(cat "$out.err")"
}

# --- R ---

record Rprof.out -p "$first"
check_rprof "$WORK/Rprof.out" "Rprof.out"
check "summaryRprof() reads it" Rscript --vanilla - "$WORK/Rprof.out" <<-'R'
	path <- commandArgs(TRUE)
	s <- summaryRprof(path)
	n <- length(readLines(path)) - 1
	stopifnot(isTRUE(all.equal(s$sample.interval, 1 / 499, tolerance = 1e-3)),
	    isTRUE(all.equal(s$sampling.time, n * s$sample.interval, tolerance = 1e-2)),
	    c("\"inner\"", "\"middle\"", "\"outer_most\"") %in% rownames(s$by.total),
	    s$by.total["\"outer_most\"", "total.pct"] > 90,
	    # from outside, on a busy machine, a program is often found where it may lose its CPU: in its system calls
	    s$by.self["\"inner\"", "self.pct"] > 20)
R
part_needs "profvis reads it" r-package profvis && check "profvis reads it" Rscript --vanilla - "$WORK/Rprof.out" <<-'R'
	v <- profvis::profvis(prof_input = commandArgs(TRUE))
	prof <- v$x$message$prof
	stopifnot(inherits(v, "htmlwidget"), length(prof$label) > 100,
	    c("inner", "middle", "outer_most") %in% prof$label,
	    max(unlist(prof$depth)) >= 3)
R
record lines.out -l -p "$hot"
check "summaryRprof() reads the lines" Rscript --vanilla - "$WORK/lines.out" <<-'R'
	path <- commandArgs(TRUE)
	stopifnot("hot.R#5" %in% rownames(summaryRprof(path, lines = "show")$by.line),
	    c("\"hot\"", "hot.R#10") %in% rownames(summaryRprof(path, lines = "both")$by.total))
R

# --- go tool pprof ---

if part_needs "go tool pprof" program go; then
	record two.pb.gz -l -p "$first,$hot"
	top=$(go tool pprof -sample_index=samples -top "$WORK/two.pb.gz" 2>"$WORK/pprof.err")
	is $? 0 "go tool pprof -top" || diag "$(cat "$WORK/pprof.err")"
	like "$top" "inner" "-top shows the functions"
	# "Showing nodes accounting for 100, 99% of 100 total"
	is "$(sed -n 's/.* of \([0-9]*\) total$/\1/p' <<<"$top")" "$samples" "every sample is in it"
	like "$(go tool pprof -top "$WORK/two.pb.gz" 2>&1)" "Type: (cpu|wall)" "it shows time by default"
	lines=$(go tool pprof -lines -top "$WORK/two.pb.gz" 2>&1)
	like "$lines" " hot .*hot\.R:5" "the line being executed"
	like "$lines" " begin .*hot\.R:10" "and the line of the call"
fi

# --- speedscope ---

record two.speedscope.json -l -p "$hot,$first"
check "one profile a process, every sample in it, lines with their files" python3 - "$WORK/two.speedscope.json" "$samples" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
frames = d["shared"]["frames"]
assert len(d["profiles"]) == 2, len(d["profiles"])
period = 1000000000 // 499
assert sum(sum(p["weights"]) for p in d["profiles"]) == int(sys.argv[2]) * period
for p in d["profiles"]:
    assert p["type"] == "sampled" and p["unit"] == "nanoseconds", p["type"]
    assert len(p["samples"]) == len(p["weights"]) and p["endValue"] == sum(p["weights"])
    assert all(0 <= i < len(frames) for s in p["samples"] for i in s)
hot = [f for f in frames if f["name"] == "hot"]
assert any(f.get("file") == "hot.R" and f.get("line") == 5 for f in hot), hot
# outermost first
stacks = {tuple(frames[i]["name"] for i in s) for p in d["profiles"] for s in p["samples"]}
assert any("outer_most" in s and "inner" in s and s.index("outer_most") < s.index("inner") for s in stacks), stacks
PY
if in_all && part_needs "speedscope's page" program chromium; then
	release=$("$tests/lib/speedscope") || bail "speedscope cannot be fetched"
	record one.speedscope.json -l -p "$hot"
	for rows in "two|R $hot|R $first" 'one|%.* hot|%.* begin'; do
		IFS='|' read -r file one other <<<"$rows"
		shown=$(python3 "$tests/live/speedscope.py" "$release" "$WORK/$file.speedscope.json" "$WORK" 2>&1)
		like "$shown" "row .*$one" "speedscope, $file: $one"
		like "$shown" "row .*$other" "speedscope, $file: $other"
		is "$(grep complaint <<<"$shown")" "" "speedscope, $file: no complaints"
	done
fi
done_testing
