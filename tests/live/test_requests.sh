#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: profile session values target output/page
# engines: bpf
#
# --calls http: the request line of a call of httpuv is read while the call runs, without its query,
# and is of that call. Of three endpoints under load, in httpuv and in plumber, and of three outputs of shiny, the slow one
# comes first, in a terminal and on the page, and the difference has what it does.
. "$(dirname "$0")/../lib/live.sh"
needs r-package httpuv

target_start host requests
port=$(cat "$TARGET_DIR/port")
prof_start_whole "$WORK/http.pb.gz" -p "$TARGET_PID" --calls http -v
curl -s "http://127.0.0.1:$port/held?token=secret" >"$WORK/answer" &
curl=$!
live_pids+=("$curl")
check "the request is read while it is served" wait_until 120 grep -q 'request was read' "$PROF_OUT.err" ||
	diag "$(cat "$PROF_OUT.err")"
touch "$TARGET_DIR/release"
wait "$curl"
is "$(cat "$WORK/answer")" /held "the server answers as ever"
curl -s "http://127.0.0.1:$port/quick" >"$WORK/answer"
is "$(cat "$WORK/answer")" /quick "and the next request too"
prof_stop
is "$PROF_STATUS" 0 "exit status 0" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "requests"

gzip -dc "$PROF_OUT" | strings >"$WORK/strings"
check "the request line is in the profile" grep -q 'GET /held' "$WORK/strings"
check "the query is not" eval '! grep -q -e secret -e token "$WORK/strings"'
requests=$(WORK=$WORK python3 -c '
import sys
sys.path.insert(0, sys.argv[2])
import raw_pprof
for s in raw_pprof.read(sys.argv[1])[0]:
    if any("held" in f for f in s.stack):
        print("computes" if any("computes" in f for f in s.stack) else "waits", s.labels.get("call_request"))
' "$PROF_OUT" "$tests/lib" | sort -u)
is "$requests" "$(printf 'computes GET /held\nwaits GET /held')" "all samples of the handler that served it have it"
target_kill

# --- under load ---

# load_http PORT ID...: as many clients as there are IDs, each of which asks six times
load_http() {
	local port=$1 client path clients=()
	shift
	for client; do
		for path in fast sleeping slow/$client fast sleeping fast; do
			curl -s "http://127.0.0.1:$port/$path?token=secret" >/dev/null || echo "$path" >>"$WORK/refused"
		done &
		clients+=($!)
	done
	wait "${clients[@]}"
}

# load_shiny PORT N...: a browser that changes an input N times
load_shiny() {
	python3 "$tests/lib/shiny.py" "$1" $(($# - 1)) fast sleeping slow || echo shiny >>"$WORK/refused"
}

# slow_first PROGRAM LOAD NAME N SLOW: record NAME's calls of PROGRAM under LOAD: N or more take 50 ms, the slowest are SLOW
slow_first() {
	local program=$1 load=$2 name=$3 n=$4 slow=$5 first
	target_start host "$program"
	# the first requests load and compile functions
	"$load" "$(cat "$TARGET_DIR/port")" 0
	prof_start_whole "$WORK/$program.pb.gz" -p "$TARGET_PID" --calls "$name"
	"$load" "$(cat "$TARGET_DIR/port")" 1 2 3 4
	prof_stop
	target_kill
	is "$(cat "$WORK/refused" 2>/dev/null)" "" "$program answers all requests"
	check_stats "$PROF_OUT.stats" "$program"
	# what a call computes for is ten times as long as what another sleeps for; a wait of 50 ms is always a sample
	"$XRPROF" report --calls --json --top 0 "$PROF_OUT" >"$WORK/$program.json"
	first=$(python3 -c '
import json, sys
calls = json.load(open(sys.argv[1]))["slowest"]
print(*sorted(c["request"] or c["function"] for c in calls[:4]), sep=", ")
print(sum(c["ms"] + c["error_ms"] >= 50 for c in calls) >= int(sys.argv[2]))' "$WORK/$program.json" "$n")
	is "$first" "$slow
True" "$program: the slow calls come first, and those that sleep are found" || diag "$(cat "$WORK/$program.json")"
	figure "$program: $("$XRPROF" report --calls --top 1 "$PROF_OUT" | sed -n 4p)"
	"$XRPROF" report "$PROF_OUT" -o "$WORK/$program.html" 2>"$WORK/report.err"
	is $? 0 "$program: a page of them" || diag "$(cat "$WORK/report.err")"
	[ -n "$browser" ] || return 0
	is "$(python3 "$tests/live/requests.py" "$WORK" "$WORK/$program.html" computes naps 2>&1)" "${slow//, /,},bars,computes more,naps less" \
		"$program: so they do on the page, and they compute more and sleep less than the others"
}

browser=
! { in_all && part_needs "the page" program chromium; } || browser=yes
slow_first requests load_http http 12 "GET /slow/1, GET /slow/2, GET /slow/3, GET /slow/4"
if ! in_all; then
	skip "only in make test-all" "plumber and shiny"
else
	! part_needs plumber r-package plumber || slow_first plumber load_http http 12 "GET /slow/1, GET /slow/2, GET /slow/3, GET /slow/4"
	! part_needs shiny r-package shiny || slow_first shiny load_shiny 'output$*' 8 'output$slow, output$slow, output$slow, output$slow'
fi
done_testing
