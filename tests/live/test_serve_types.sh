#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: serve output profile
# timeout: 300
# engines: bpf
#
# `serve --memory` and `serve --event`: profiles over HTTP, in the directory and at servers have the
# same bytes and events, each under its sample type. Counts of samples contain samples only. SIGHUP
# restarts it all. pprof's own reader checks what is in a file. (Of which function they are:
# live:top_events.)
# shellcheck disable=SC2034 # what eval sees
. "$(dirname "$0")/../lib/live.sh"
needs program go
. "$tests/lib/serve.sh"

python=/usr/bin/python3
target_start host top_events

# sum_in DIR TYPE: of all files
sum_in() {
	# shellcheck disable=SC2046 # names without blanks
	sum_of "$2" $(intervals_in "$1")
}

# http FILE SECONDS
http() {
	curl -sS -m 60 --unix-socket "$WORK/socket" "http://localhost/debug/pprof/profile?seconds=$2" >"$1" 2>"$WORK/curl.err" || diag "$(cat "$WORK/curl.err")"
}

receiver_start pyroscope
receiver_start otlp

# serve_all DIR ARG...: to all places at once
serve_all() {
	mkdir "$1"
	rm -f "$WORK"/*/body.* "$WORK"/*/requests
	serve_start --dir "$1" --interval 1 --max-cpu 0 --pid "$TARGET_PID" --pyroscope "$(receiver_url pyroscope)" \
		--otlp "$(receiver_url otlp)" --spool "$WORK/spool" --listen "unix:$WORK/socket" "${@:2}"
	ok $? "serve ${*:2}" || bail "serve does not start: $(cat "$SERVE_ERR")"
}

# bodies NAME: what a server got, each once: SIGHUP may come between a profile and the answer to it, and it is sent again
bodies() {
	sha256sum "$WORK/$1"/body.* | sort -u -k 1,1 | sed 's/^[^ ]* *//'
}

# same NAME DIR TYPE UNIT: of each what is in the directory went to the servers, too, and there is some
same() {
	local total sum
	total=$(sum_in "$2" "$3")
	check "$1: there is some of $3" [ "$total" -gt 0 ]
	# shellcheck disable=SC2046 # names without blanks
	is "$(sum_of "$3" $(bodies pyroscope))" "$total" "$1: Pyroscope has the same $3"
	# shellcheck disable=SC2046 # names without blanks
	sum=$("$python" "$tests/lib/otlp.py" --sums $(bodies otlp) | awk -v type="$3/$4" '$1 == type { print $2 }')
	is "$sum" "$total" "$1: an OpenTelemetry collector has the same $3"
}

# --- memory ---

serve_all "$WORK/memory" --memory -F 999
# until R's counts are proven there are samples alone
memory_there() {
	http "$WORK/http.pb.gz" 2
	[ "$(sum_of cpu "$WORK/http.pb.gz")" -gt 0 ] && [ "$(sum_of alloc_space "$WORK/http.pb.gz")" -gt 0 ]
}
check "memory: bytes come over HTTP" wait_until 120 memory_there
is "$(raw "$WORK/http.pb.gz" | sed -n 1p | tr -s ' ')" "samples/count cpu/nanoseconds[dflt] alloc_space/bytes" "memory: they are a sample type"
ticks=$(($(sum_of cpu "$WORK/http.pb.gz") / 1001001)) # of ns
is "$(sum_of samples "$WORK/http.pb.gz")" "$ticks" "memory: samples are those of CPU time"
serve_stop
is "$SERVE_STATUS" 0 "memory: it ends" || diag "$(cat "$SERVE_ERR")"
is "$(sum_in "$WORK/memory" samples)" "$(serve_summary)" \
	"memory: files have as many samples as the last line"
"$XRPROF" report --dir "$WORK/memory" --list >"$WORK/list" 2>&1
is "$(awk -v pid="$TARGET_PID" '$2 == pid { print $1 }' "$WORK/list")" "$(serve_summary)" "memory: and so has the index" || diag "$(cat "$WORK/list")"
same memory "$WORK/memory" alloc_space bytes

# --- events ---

serve_all "$WORK/events" --event page-faults --event gc --off-cpu
like "$(cat "$SERVE_ERR")" ": profiling at page-faults,gc"$'(\n|$)' "events: it says at what"
gc_there() {
	http "$WORK/http.pb.gz" 1
	[ "$(sum_of gc "$WORK/http.pb.gz")" -gt 0 ]
}
check "events: collections come over HTTP" wait_until 120 gc_there
is "$(raw "$WORK/http.pb.gz" | sed -n 1p | tr -s ' ' | sed 's/\[dflt\]//')" "samples/count off_cpu/nanoseconds page-faults/count gc/bytes" "events: each is a sample type"
# what opened them gave up what it no longer needs
kill -HUP "$SERVE_PID"
check "events: SIGHUP restarts the session" wait_until 120 eval \
	'[ "$(grep -c ": profiling at page-faults,gc" "$SERVE_ERR")" = 2 ]' ||
	diag "$(cat "$SERVE_ERR")"
check "events: and collections come again" wait_until 120 gc_there
serve_stop
is "$SERVE_STATUS" 0 "events: it ends" || diag "$(cat "$SERVE_ERR")"
same events "$WORK/events" gc bytes
same events "$WORK/events" page-faults count

target_kill
done_testing
