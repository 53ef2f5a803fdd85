#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: serve output
# timeout: 200
# engines: bpf
#
# serve --listen: go tool pprof takes a profile of a busy R from it, as Parca and Alloy do; Prometheus' numbers grow with the
# samples; what listens goes away with the service.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"
needs program go
export HOME=$WORK PPROF_TMPDIR=$WORK

target_start host work 600 exit
target_go

serve_start --pid "$TARGET_PID" --listen 127.0.0.1:0 -F 99 || bail "serve does not start"
# listens: sets address
listens() {
	address=$(sed -nE 's/.*listening on (127\.0\.0\.1:[1-9][0-9]*).*/\1/p' "$SERVE_ERR" | head -n 1)
	[ -n "$address" ] || gone "$SERVE_PID"
}
wait_until 60 listens
check "it listens, and says where" [ -n "$address" ] || bail "$(cat "$SERVE_ERR")"

# metric NAME: its value, 0 if there is none
metric() {
	curl -sS -m 60 "http://$address/metrics" | awk -v name="$1" '$1 == name { value = $2 } END { print value + 0 }'
}

is "$(curl -sS -m 60 -w '%{http_code}' "http://$address/healthz")" $'ok\n200' "/healthz"
top=$(go tool pprof -sample_index=samples -top "http://$address/debug/pprof/profile?seconds=3" 2>"$WORK/pprof.err")
is $? 0 "go tool pprof takes a profile" || diag "$(cat "$WORK/pprof.err" "$SERVE_ERR")"
like "$top" "inner" "the busy function is in it"
curl -sS -m 60 -o "$WORK/one.pb.gz" "http://$address/debug/pprof/profile?seconds=2"
own=$(go tool pprof -sample_index=samples -top -tagfocus="pid=$TARGET_PID" "$WORK/one.pb.gz" 2>>"$WORK/pprof.err")
check "and its caller is in nearly all of that process" awk '
	/ of [0-9]+ total$/ { for (i = 1; i < NF; i++) if ($i == "for") of = $(i + 1) + 0 }
	$NF ~ /outer_most$/ { cum = $4 + 0 } END { print cum, of; exit !(of > 0 && cum > 0.8 * of) }' <<<"$own" || diag "$own"
total=$(sed -n 's/.* of \([0-9]*\) total$/\1/p' <<<"$top")
[ "${total:-0}" -gt 0 ] && [ "$total" -le "$(metric xrprof_seen_ticks_total)" ]
ok $? "its samples ($total) are some of those that were counted"

curl -sS -m 60 "http://$address/metrics" >"$WORK/metrics"
# (promtool check metrics: unit:serve/metrics, live:http)
check "the outcomes are all ticks" awk '/^xrprof_ticks_total[{]/ { sum += $2 } /^xrprof_seen_ticks_total / { all = $2 }
	END { print sum, all; exit !(all > 0 && sum == all) }' "$WORK/metrics"
before=$(metric xrprof_samples_total)
more() {
	[ "$(metric xrprof_samples_total)" -gt "$before" ]
}
check "samples go on" wait_until 60 more
check "a process is sampled" [ "$(metric xrprof_processes)" -ge 1 ]
check "/metrics has the memory of both processes" [ \
	"$(metric 'xrprof_process_resident_memory_bytes{process="front"}')" -gt 0 ] &&
	check "and not by chance" [ "$(metric 'xrprof_process_resident_memory_bytes{process="sampler"}')" -gt 0 ]

serve_stop
is "$SERVE_STATUS" 0 "it ends, with exit status 0"
curl -sS -m 60 "http://$address/healthz" >/dev/null 2>&1
is $? 7 "no process listens any more"

# A service that may not read R is healthy, and reports it.
chmod 755 "$WORK"
install -m 755 "$XRPROF" "$WORK/xrprof-bpf"
SERVE_ERR=$WORK/unread.err
: >"$SERVE_ERR"
env --default-signal setpriv --reuid=54321 --regid=54321 --clear-groups --inh-caps=-all \
	"$WORK/xrprof-bpf" serve -e ptrace --listen 127.0.0.1:0 >"$WORK/unread.out" 2>"$SERVE_ERR" </dev/null &
SERVE_PID=$!
live_pids+=("$SERVE_PID")
wait_until 60 listens
unread() {
	body=$(curl -sS -m 60 -w '%{http_code}' "http://$address/healthz")
	[ "$(wc -l <<<"$body")" -gt 2 ]
}
wait_until 60 unread
is "$body" $'ok\nsampler: an R process could not be profiled; the log has the reason\n200' \
	"/healthz has a line if an R may not be read"
serve_stop
done_testing
