#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: profile session values target
# engines: bpf
#
# --calls http: the request line of a call of httpuv is read while the call runs, without its query,
# and is of that call. Of an API of plumber under load, the slow requests come first.
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

# --- plumber under load ---

why=$(in_all_else "$(missing r-package plumber)" "only in make test-all")
if [ -n "$why" ]; then
	skip "$why" "plumber"
else
	target_start host plumber
	port=$(cat "$TARGET_DIR/port")
	# the first requests load and compile functions
	curl -s "http://127.0.0.1:$port/fast" "http://127.0.0.1:$port/sleeping" "http://127.0.0.1:$port/slow/0" >/dev/null
	prof_start_whole "$WORK/plumber.pb.gz" -p "$TARGET_PID" --calls http
	clients=()
	for client in 1 2 3 4; do
		for path in fast sleeping slow/$client fast sleeping fast; do
			curl -s "http://127.0.0.1:$port/$path?token=secret" >/dev/null || echo "$path" >>"$WORK/refused"
		done &
		clients+=($!)
	done
	wait "${clients[@]}"
	prof_stop
	is "$(cat "$WORK/refused" 2>/dev/null)" "" "plumber answers all requests"
	check_stats "$PROF_OUT.stats" "plumber"
	"$XRPROF" report --calls --json --top 0 "$PROF_OUT" >"$WORK/plumber.json"
	# A slow one computes for ten times as long as one sleeps.  A wait of 50 ms is always a sample.
	said=$(python3 -c '
import json, sys
calls = json.load(open(sys.argv[1]))["slowest"]
print(*sorted(str(c["request"]) for c in calls[:4]), sep=", ")
print(sum(c["ms"] + c["error_ms"] >= 50 for c in calls) >= 12)' "$WORK/plumber.json")
	is "$said" "GET /slow/1, GET /slow/2, GET /slow/3, GET /slow/4
True" "plumber: the slow requests come first, and all that sleep are found" || diag "$(cat "$WORK/plumber.json")"
	figure "plumber: $("$XRPROF" report --calls --top 1 "$PROF_OUT" | sed -n 4p)"
	target_kill
fi
done_testing
