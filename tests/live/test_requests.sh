#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: profile session values target
# engines: bpf
#
# --calls http: the request line of a call of httpuv is read while the call runs, without its query,
# and is of that call. Of three endpoints under load the slow one comes first. (Shiny: live:calls_presets. Calls on the page:
# live:page.)
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

# --- under load ---

# load ID...: as many clients as there are IDs, each of which asks six times
load() {
	local client path clients=()
	for client; do
		for path in fast sleeping slow/$client fast sleeping fast; do
			curl -s "http://127.0.0.1:$port/$path?token=secret" >/dev/null || echo "$path" >>"$WORK/refused"
		done &
		clients+=($!)
	done
	wait "${clients[@]}"
}

# the first requests load and compile functions
load 0
prof_start_whole "$WORK/load.pb.gz" -p "$TARGET_PID" --calls http
load 1 2 3 4
prof_stop
target_kill
is "$(cat "$WORK/refused" 2>/dev/null)" "" "all requests are answered"
check_stats "$PROF_OUT.stats" "under load"
# what a call computes for is ten times as long as what another sleeps for; a wait of 50 ms is always a sample
"$XRPROF" report --calls --json --top 0 "$PROF_OUT" >"$WORK/load.json"
is "$(python3 -c '
import json, sys
calls = json.load(open(sys.argv[1]))["slowest"]
print(*sorted(c["request"] or c["function"] for c in calls[:4]), sep=", ")
print(sum(c["ms"] + c["error_ms"] >= 50 for c in calls) >= 12)' "$WORK/load.json")" $'GET /slow/1, GET /slow/2, GET /slow/3, GET /slow/4\nTrue' \
	"the slow calls come first, and those that sleep are found" || diag "$(cat "$WORK/load.json")"
figure "$("$XRPROF" report --calls --top 1 "$PROF_OUT" | sed -n 4p)"
done_testing
