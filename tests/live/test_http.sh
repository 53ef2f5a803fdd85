#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: serve
# timeout: 300
# engines: bpf
#
# What `serve` listens with, alone (tests/fixtures/http_serve.c): what is answered, who may ask, what
# others make it do. Slow clients, a thousand of them, endless headers, requests in one go, clients
# that go away; memory stays what it is. (Garbage: fuzz:http.)
. "$(dirname "$0")/../lib/live.sh"

server=$BUILD/http-serve
[ -x "$server" ] || bail "$server is not there: make unit-tests"

# serve NAME ADDRESS [TOKEN-FILE]: start it. Sets PID, OUT and ADDRESS, the one that it has.
serve() {
	OUT=$WORK/$1.out
	shift
	"$server" "$@" >"$OUT" 2>&1 </dev/null &
	PID=$!
	live_pids+=("$PID")
	wait_until 60 [ -s "$OUT" ] || bail "$server does not start"
	ADDRESS=$(head -n 1 "$OUT")
}

# ask PATH ARG...: sets CODE, HEAD and BODY
ask() {
	local path=$1
	shift
	CODE=$(curl -sS -m 60 -o "$WORK/body" -D "$WORK/head" -w '%{http_code}' "$@" "http://$ADDRESS$path" 2>"$WORK/curl")
	HEAD=$(tr -d '\r' <"$WORK/head")
	BODY=$(tr -d '\0' <"$WORK/body")
}

# health WANTED [ARG...]: are this the status and the text of /healthz?
health() {
	ask /healthz "${@:2}"
	[ "$CODE $BODY" = "$1" ]
}

rss() {
	sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$PID/status"
}

# --- what is answered ---

serve open 127.0.0.1:0
like "$ADDRESS" '^127\.0\.0\.1:[1-9][0-9]+$' "the kernel chose a port, and serve reports it"
ask /
is "$CODE" 200 "/"
like "$BODY" '/metrics .*/healthz .*/debug/pprof/profile' "/ says what there is"
kill -USR1 "$PID"
check "/healthz, when something is wrong" wait_until 60 health "503 the directory is full"
kill -USR1 "$PID"
check "/healthz, when it is healthy again" wait_until 60 health "200 ok"
ask /metrics
is "$CODE" 200 "/metrics"
like "$HEAD" 'Content-Type: text/plain; version=0\.0\.4; charset=utf-8' "/metrics: its type"
like "$HEAD" 'Cache-Control: no-store' "/metrics: no cache keeps it"
like "$HEAD" 'X-Content-Type-Options: nosniff' "/metrics: no browser guesses"
if part_needs "promtool check metrics" program promtool; then
	is "$(promtool check metrics <"$WORK/body" 2>&1; echo "status $?")" "status 0" "promtool check metrics has nothing to say"
fi
is "$(sed -n 's/^# HELP \(xrprof_[a-z_]*\) .*/\1/p' "$WORK/body")" \
	"$(sed -n 's/^| `\(xrprof_[a-z_]*\)[{`].*/\1/p' "$tests/../docs/reference/service.md" | grep -vx xrprof_call_seconds)" "each metric is in docs/reference/service.md"
length=$(wc -c <"$WORK/body")
ask /metrics -I
is "$CODE $(sed -n 's/^Content-Length: //p' <<<"$HEAD")" "200 $length" "HEAD /metrics: the same length"
ask '/debug/pprof/profile?seconds=2'
is "$CODE $(wc -c <"$WORK/body")" "200 2048" "a profile"
like "$HEAD" 'Content-Disposition: attachment; filename="profile\.pb\.gz"' "a profile: a name to save it under"
like "$HEAD" 'Content-Type: application/octet-stream' "a profile: its type"
# unit:serve/linux/http_rules, token and listen have each case; here each header and method gets there
ask '/debug/pprof/profile?seconds=601'
is "$CODE $BODY" "400 seconds: a whole number from 1 to 600" "seconds=601"
ask /metrics -X POST
is "$CODE $(grep ^Allow: <<<"$HEAD")" "405 Allow: GET, HEAD" "POST"
ask /debug/pprof/profile -I
is "$CODE $(grep ^Allow: <<<"$HEAD")" "405 Allow: GET" "HEAD of a profile: none is taken for it"
for header in 'Host: rebound.example' 'Origin: http://page.example' 'Sec-Fetch-Site: cross-site'; do
	ask /metrics -H "$header"
	is "$CODE" 403 "a page could have asked: $header"
done
ask '/metrics%00x'
is "$CODE" 400 "a NUL in the path"

# --- abuse ---

ask /metrics
before=$(rss)
for how in slow many pipelined half_closed unread headers bodies gone; do
	check "abuse: $how" timeout -k 5 200 python3 "$tests/live/http_abuse.py" "$ADDRESS" "$how" ||
		diag "$(cat "$OUT")"
done
is "$(grep -c '^gone$' "$OUT")" 12 "serve sees that the client of each profile has left"
after=$(rss)
figure "resident memory: $before KiB, $after KiB after the abuse"
# 32 clients of 16 KiB each, and answers
check "memory stays within 2 MiB: $before KiB, $after KiB" [ $((after - before)) -le 2048 ]
check "no descriptor is left" wait_until 60 eval '[ "$(ls /proc/'"$PID"'/fd | wc -l)" -le 12 ]'
kill -TERM "$PID"
wait "$PID"
is $? 0 "it ends"
like "$(tail -n 1 "$OUT")" '^requests [1-9][0-9]+ refused [1-9][0-9]+$' "it counted"

# --- at the end ---

serve ends 127.0.0.1:0
exec {client}<>"/dev/tcp/127.0.0.1/${ADDRESS##*:}"
printf 'GET /debug/pprof/profile?seconds=600 HTTP/1.1\r\nHost: localhost\r\n\r\n%.0s' 1 2 >&"$client"
check "a client asks, and asks again in the same breath" wait_until 60 grep -qx asked "$OUT"
kill -TERM "$PID"
wait "$PID"
is $? 0 "it ends, with a request that came while it did"
is "$(timeout 60 cat <&"$client" | tr -d '\r' | grep -c '^HTTP/1.1 503')" 2 \
	"both of its requests get 503"
exec {client}>&-

# --- a token ---

token=$(head -c 24 /dev/urandom | base64)
printf '%s\nanother line\n' "$token" >"$WORK/token"
chmod 600 "$WORK/token"
like "$({ timeout -k 5 60 "$server" 0.0.0.0:0 >/dev/null; } 2>&1)" '^0\.0\.0\.0:0 is open to other machines, which requires a token' "other machines: not without a token"
serve token 0.0.0.0:0 "$WORK/token"
ADDRESS=127.0.0.1:${ADDRESS##*:}
ask /metrics
is "$CODE $(grep ^WWW-Authenticate: <<<"$HEAD")" '401 WWW-Authenticate: Bearer realm="xrprof-bpf"' "without the token"
ask /metrics -H "Authorization: Bearer $token" -H 'Host: node1.example'
is "$CODE" 200 "with it, by any name"
own=$(hostname -I | awk '{ print $1 }')
if [[ $own == *.* ]]; then
	check "one address of others has 16 connections at most" timeout -k 5 200 \
		python3 "$tests/live/http_abuse.py" "$own:${ADDRESS##*:}" peers
else
	skip "this machine has no other address" "connections of one address"
fi
check "/healthz without it" health "200 ok"
kill -USR1 "$PID"
check "/healthz, when something is wrong, with it" wait_until 60 health "503 the directory is full" -H "Authorization: Bearer $token"
ask /healthz
like "$CODE $BODY" '^503 unhealthy .details require the token' "and without it"

done_testing
