#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: profile/calls cmd/options
# tier: all
# engines: bpf
#
# The presets of --calls, each on the program that it is for: what waits for 50 ms or more is found, once, and nothing else. `http` has
# live:requests. No stack is cut: a call is not in a sample that lacks it, and one of 50 ms may have no other.
. "$(dirname "$0")/../lib/live.sh"

# presets_found PRESET WANTED: the profile has the calls WANTED, "FUNCTION NUMBER" a line. A wait of 50 ms is always a sample; times are rounded.
presets_found() {
	prof_stop
	is "$PROF_STATUS" 0 "$1: exit status 0" || diag "$(cat "$PROF_OUT.err")"
	check_stats "$PROF_OUT.stats" "$1"
	"$XRPROF" report --calls --json --top 0 "$PROF_OUT" >"$PROF_OUT.json" 2>"$PROF_OUT.report"
	is "$(python3 -c '
import collections, json, sys
calls = json.load(open(sys.argv[1]))["slowest"]
found = collections.Counter(c["function"] for c in calls if c["ms"] + c["error_ms"] >= 48)
print(*sorted(f"{name} {n}" for name, n in found.items()), sep="\n")' "$PROF_OUT.json" 2>&1)" "$2" "$1: its calls are found" ||
		diag "$(cat "$PROF_OUT.report" "$PROF_OUT.json")"
}

if part_needs shiny r-package shiny; then
	target_start host shiny
	prof_start_whole "$WORK/shiny.pb.gz" -p "$TARGET_PID" --calls shiny --max-sample-time 1000000
	check "shiny: a session with three values of its input" python3 "$tests/lib/shiny.py" "$(cat "$TARGET_DIR/port")" 3 sleeping
	# an output is run by an observer
	presets_found shiny $'<observer:output$sleeping> 3\n<observer:watch> 3\n<reactive:rests> 3\noutput$sleeping 3'
	target_kill
fi

if part_needs rserve r-package Rserve && part_needs rserve r-package RSclient; then
	target_start host rserve
	check "rserve: it listens" wait_until 60 test -S "$TARGET_DIR/socket"
	prof_start_whole "$WORK/rserve.pb.gz" -s -p "$TARGET_PID" --calls rserve --max-sample-time 1000000
	check "rserve: four requests" Rscript -e "server <- RSclient::RS.connect('$TARGET_DIR/socket', port = 0L)" \
		-e "for (i in 1:4) RSclient::RS.eval(server, Sys.sleep(0.06))" -e "RSclient::RS.close(server)"
	presets_found rserve "Sys.sleep 4"
	target_kill
fi

target_start host cluster
workers=$(cat "$TARGET_DIR/workers")
live_pids+=("${workers%,*}" "${workers#*,}")
prof_start_whole "$WORK/task.pb.gz" -p "$workers" --calls task --max-sample-time 1000000
target_go
check "task: the workers of parallel are done" target_await_done
presets_found task "do.call 6"
target_kill
done_testing
