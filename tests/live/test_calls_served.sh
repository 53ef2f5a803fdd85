#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: profile/calls serve cmd/linux output/page
# engines: bpf
#
# Single calls while a program runs: the histogram of `serve` in /metrics beside the program's log, a call in two
# intervals, and `top`.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"
needs program curl

metrics() {
	curl -s --unix-socket "$WORK/socket" http://localhost/metrics
}

# counted FUNCTION N: does the histogram have N calls of it?
counted() {
	metrics | grep -qE "^xrprof_call_seconds_count\{function=\"$1\",service=\"[^\"]*\"\} $2\$"
}

dir=$WORK/profiles
target_start host calls_held
serve_start -p "$TARGET_PID" --calls quick --calls held -F 99 --max-cpu 0 --interval "$(long_interval)" --dir "$dir" --listen "unix:$WORK/socket" ||
	bail "serve does not run"
check "the program is sampled" wait_until 120 eval 'metrics | grep -qx "xrprof_processes 1"'
target_go
check "the calls that ended are in /metrics" wait_until 120 counted quick 5 || diag "$(metrics | grep call_)"
metrics >"$WORK/metrics"
check "one that goes on is not" eval '! grep -q "function=\"held\"" "$WORK/metrics"'
if part_needs "promtool check metrics" program promtool; then
	is "$(promtool check metrics <"$WORK/metrics" 2>&1; echo "status $?")" "status 0" "promtool check metrics has nothing to say"
fi

# --- top ---

"$XRPROF" top -p "$TARGET_PID" --calls held --batch 3 >"$WORK/top" 2>"$WORK/top.err"
is $? 0 "top --calls" || diag "$(cat "$WORK/top.err")"
tail -n +2 "$WORK/top" | awk '/^xrprof-bpf top/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' >"$WORK/last"
check "top shows the call in progress" grep -qE "^ *$TARGET_PID +[0-9.]+ m?s\+ held$" "$WORK/last" || diag "$(cat "$WORK/top")"
check "and how many there are" grep -q "CALLS IN PROGRESS (1)" "$WORK/last"

# --- a call in two intervals ---

kill -USR1 "$SERVE_PID"
check "an interval ends while a call goes on" wait_until 60 have 1
# the call waits in short naps, each of which is a sample: the second interval has one, too
naps() {
	awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$TARGET_PID/status"
}
before=$(naps)
wait_until 60 eval "[ \"\$(naps)\" -ge $((before + 3)) ]"
touch "$TARGET_DIR/release"
check "the call ends" target_await_done 120
check "and it is in /metrics" wait_until 120 counted held 1 || diag "$(metrics | grep call_)"
serve_stop
is "$SERVE_STATUS" 0 "serve: exit status 0" || diag "$(cat "$SERVE_ERR")"
mapfile -t files < <(intervals_in "$dir")
is "${#files[@]}" 2 "two intervals" || diag "$(cat "$SERVE_ERR")"

# --- the durations ---

"$XRPROF" report --calls --json --top 0 "${files[@]}" >"$WORK/calls.json" 2>"$WORK/report.err"
is $? 0 "report --calls reads them" || diag "$(cat "$WORK/report.err")"
"$XRPROF" report --calls --json --top 0 "${files[0]}" >"$WORK/first.json"
# with two numbers it would be two calls
is "$(python3 -c '
import json, sys
for path in sys.argv[1:]:
    print(*[call["running"] for call in json.load(open(path))["slowest"] if call["function"] == "held"])
' "$WORK/first.json" "$WORK/calls.json")" $'True\nFalse' "a call in two intervals runs at the end of the first, and is one call of both"
said=$(python3 -c '
import json, re, sys
errors = [(c["error_ms"] + 1) / 1000 for c in json.load(open(sys.argv[1]))["slowest"] if c["function"] == "quick"]
log = [tuple(map(float, line.split())) for line in open(sys.argv[3])]
metrics = open(sys.argv[2]).read()
least, most = (sum(one[i] for one in log) for i in (0, 1))
got = float(re.search(r"^xrprof_call_seconds_sum\{function=.quick.,.*\} (\S+)$", metrics, re.M).group(1))
wrong = not least - sum(errors) <= got <= most + sum(errors)
buckets = re.findall(r"^xrprof_call_seconds_bucket\{function=.quick.,.*le=.([0-9.]+).\} (\d+)$", metrics, re.M)
for le, n in buckets:
    surely, perhaps = (sum(one[i] + sign * max(errors) <= float(le) for one in log) for i, sign in ((1, 1), (0, -1)))
    wrong = wrong or not surely <= int(n) <= perhaps
counts = " ".join(n for _, n in buckets)
print(f"{got:.3f} s of {least:.3f} to {most:.3f} s, error {sum(errors):.3f} s, buckets {counts}")
sys.exit(wrong or len(buckets) < 10)
' "$WORK/calls.json" "$WORK/metrics" "$TARGET_DIR/log" 2>&1)
ok $? "the histogram in /metrics is that of the program, within the error that the profile states" || diag "$said"
figure "five calls: $said"
done_testing
