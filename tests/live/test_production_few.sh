#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: output session
# timeout: 400
# engines: bpf
#
# Many short processes: those with few samples share a file, nothing of them is lost, and the index says whose they are.
. "$(dirname "$0")/../lib/live.sh"
chmod 755 "$WORK"

cat >"$WORK/forks.R" <<-R
	busy <- function(seconds) {
	    end <- sum(proc.time()[1:2]) + seconds
	    while (sum(proc.time()[1:2]) < end) for (i in 1:1000) sqrt(i)
	}
	# compiled and loaded before the fork: on a busy machine that alone is five samples
	busy(0.1)
	loadNamespace("tools")
	while (!file.exists("$WORK/go")) Sys.sleep(0.01)
	for (i in 1:31) {
	    p <- parallel:::mcfork(FALSE)
	    if (inherits(p, "masterProcess")) {
	        busy(if (i == 31) 1 else 0.01)
	        file.create(sprintf("$WORK/ended.%d", i))
	        tools::pskill(Sys.getpid(), tools::SIGKILL)
	    }
	    while (!file.exists(sprintf("$WORK/ended.%d", i))) Sys.sleep(0.01)
	}
	file.create("$WORK/done")
	while (!file.exists("$WORK/end")) Sys.sleep(0.01)
R

# run NAME ARG...: the program and its children into the directory NAME
run() {
	local name=$1
	shift
	rm -f "$WORK/go" "$WORK/done" "$WORK/end" "$WORK/ready" "$WORK"/ended.*
	R --vanilla --no-echo -f "$WORK/forks.R" >"$WORK/forks.out" 2>&1 </dev/null &
	parent=$!
	live_pids+=("$parent")
	"$XRPROF" -e "$XRPROF_ENGINE" -p "$parent" -o "$WORK/$name/" --stats "$WORK/$name.stats" --ready "$WORK/ready" "$@" \
		2>"$WORK/$name.err" </dev/null &
	local prof=$!
	live_pids+=("$prof")
	wait_until 120 test -s "$WORK/ready" || diag "$(cat "$WORK/$name.err")"
	: >"$WORK/go"
	wait_until 200 test -e "$WORK/done" || diag "$(cat "$WORK/forks.out")"
	: >"$WORK/end"
	wait "$parent"
	wait "$prof"
	is $? 0 "$name: it ends well" || diag "$(cat "$WORK/$name.err")"
	check_stats "$WORK/$name.stats" "$name"
}

# agree NAME LEAST: files, index, statistics and messages.
agree() {
	python3 - "$WORK/$1" "$2" "$parent" <<-'PY'
		import json, os, re, sys
		folder, least, parent = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
		stats = json.load(open(folder + ".stats"))
		said = open(folder + ".err").read()
		lines = [json.loads(line) for line in open(folder + "/index.jsonl")]
		files = {name for name in os.listdir(folder) if name.endswith(".out")}
		count = {name: sum(1 for _ in open(os.path.join(folder, name))) - 1 for name in files}
		assert sum(count.values()) == stats["written"] > 0, (count, stats["written"])
		listed = {}
		for line in lines:
		    listed[line["file"]] = listed.get(line["file"], 0) + line["samples"]
		assert listed == count, (listed, count)
		few = [line for line in lines if line["file"] == "Rprof.others.out"]
		own = [line for line in lines if line["file"] != "Rprof.others.out"]
		assert all(0 < line["samples"] < least for line in few), few
		assert all(line["samples"] >= least or line["pid"] == parent for line in own), own
		assert f"Rprof.{parent}.out" in files, files
		assert len({line["pid"] for line in lines}) == len(lines), lines
		told = re.search(r"Rprof.others.out has the (\d+) samples of (\d+) processes", said)
		if least > 1:
		    assert few and any(line["samples"] >= 5 and line["pid"] != parent for line in own), lines
		    assert told and int(told[1]) == count["Rprof.others.out"] and int(told[2]) == len(few), said
		else:
		    assert not few and not told, (few, said)
		print(f"# {len(files)} files of {len(lines)} processes")
	PY
}
run few
check "few samples: in one file, listed, counted, and none is lost" agree few 5
check_rprof "$WORK/few/Rprof.others.out" "the common file"
check "R reads it" Rscript --vanilla -e 'stopifnot(summaryRprof(commandArgs(TRUE))$sampling.time > 0)' "$WORK/few/Rprof.others.out"
run each --min-samples 1
check "--min-samples 1: a file each" agree each 1
done_testing
