#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: serve output
# timeout: 600
# engines: bpf
#
# The part of serve that sends (tests/fixtures/push_drive.c) to a server that behaves badly (tests/lib/receiver.py): what was
# accepted arrives, in order and once, or is counted. What arrives is read by `go tool pprof` and tests/lib/raw_pprof.py, and
# by OTLP's fields as the OpenTelemetry Collector has them (tests/lib/otlp.py).
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

python=/usr/bin/python3
fixture "$WORK/push-drive" push_drive.c -std=gnu11 -Wall -Wextra -Werror -I"$tests/../include" -I"$tests/../src" -I"$BUILD" \
	"$BUILD/libxrprof.a" -lprotobuf-c -lz -lpthread -ldl

# --- the server ---

# server [CERTIFICATE KEY]: a new server in a new folder; sets SERVER and PORT
servers=0
server() {
	servers=$((servers + 1))
	SERVER=$WORK/server$servers
	receiver_start "server$servers" "$@"
	PORT=$(cat "$SERVER/port")
}

behave() {
	echo "$*" >"$SERVER/behave"
}

# requests WHAT: of each request so far
requests() {
	[ ! -e "$SERVER/requests" ] || "$python" -c "
import json, sys, urllib.parse
for line in open(sys.argv[1]):
    r = json.loads(line)
    url = urllib.parse.urlsplit(r['path'])
    q = dict(urllib.parse.parse_qsl(url.query, strict_parsing=bool(url.query)))
    print($1)" "$SERVER/requests"
}

# arrived: which items did, as their `from` says, those that the server took
arrived() {
	requests 'q["from"] if r["was"] == "ok" else ""' | grep . | paste -sd ' '
}

has_arrived() {
	[ "$(arrived)" = "$1" ]
}

# --- the sender ---

drives=0
# drive KIND URL SPOOL OPTION...: sets DRIVE_PID, DRIVE_IN, DRIVE_OUT
drive() {
	drives=$((drives + 1))
	mkfifo "$WORK/in.$drives" "$WORK/out.$drives"
	"$WORK/push-drive" "$@" <"$WORK/in.$drives" >"$WORK/out.$drives" 2>"$WORK/drive.err" &
	DRIVE_PID=$!
	live_pids+=("$DRIVE_PID")
	exec {DRIVE_IN}>"$WORK/in.$drives" {DRIVE_OUT}<"$WORK/out.$drives"
	read -r REPLY <&"$DRIVE_OUT"
	[ "$REPLY" = ready ]
}

say() {
	echo "$*" >&"$DRIVE_IN"
	read -r REPLY <&"$DRIVE_OUT"
	echo "$REPLY" >>"$WORK/said"
	[ "$REPLY" = ok ]
}

# state NAME: of its status
state() {
	say status
	sed -nE "s/.*\"$1\": (\"([^\"]*)\"|([0-9]+)).*/\2\3/p" <<<"$REPLY"
}

state_is() {
	[ "$(state "$1")" = "$2" ]
}

state_above() {
	[ "$(state "$1")" -gt "$2" ]
}

drive_end() {
	exec {DRIVE_IN}>&- {DRIVE_OUT}<&-
	wait "$DRIVE_PID" 2>/dev/null
}

# pushes NAME KIND BEHAVIOUR...: a new sender with a new spool, whose server behaves like that
pushes() {
	local kind=$1
	shift
	server
	behave "$*"
	drive "$kind" "http://127.0.0.1:$PORT" "$WORK/spool.$drives" back-off=10 back-off-max=40 timeout=30000
}

# The server first: one that was started later has the sender's input open, too.
pushed() {
	receiver_stop "server$servers"
	drive_end
}

# item BEGAN ENDED SAMPLES: add a profile of these
item() {
	say add "$@"
}

# --- what arrives ---

pushes pyroscope
item 1700000000 1700000060 21
check "a profile for Pyroscope arrives" wait_until 60 state_is sent 1
is "$(requests 'url.path, q["format"], q["spyName"], q["from"], q["until"], q["name"]')" \
	"/ingest pprof xrprof-bpf 1700000000 1700000060 web{host=host-1,weird=a b&c=ü}" "where Pyroscope wants it, with its name and its time"
is "$(requests 'r["headers"]["content-type"], r["headers"]["user-agent"].split("/")[0], "content-encoding" in r["headers"], "expect" in r["headers"]')" \
	"application/octet-stream xrprof-bpf False False" "its headers"
is "$("$python" "$tests/lib/raw_pprof.py" service=web "$SERVER/body.0" | grep ^pid=) $(sum_of cpu "$SERVER/body.0")" \
	$'pid=12\t21 1105263159' "a reader of pprof's schema reads it"
part_needs "go tool pprof opens it" program go && like "$(go tool pprof -top -sample_index=samples "$SERVER/body.0" 2>&1)" "21 +100% +f" "go tool pprof opens it"
pushed

pushes otlp
item 1700000000 1700000060 21
check "a request for OTLP arrives" wait_until 60 state_is sent 1
is "$(requests 'r["path"], r["headers"]["content-type"], r["headers"]["content-encoding"]')" \
	"/v1development/profiles application/x-protobuf gzip" "where OTLP wants it"
gunzip <"$SERVER/body.0" >"$WORK/got"
is "$("$python" "$tests/lib/otlp.py" "$WORK/got" | "$python" -c '
import json, sys
r = json.load(sys.stdin)
p = r["resources"][0]
print(r["wrong"], p["type"], p["period"], p["resource"]["service.name"], [s["values"] for s in p["samples"]],
      [f["name"] for f in p["samples"][0]["stack"]], p["samples"][0]["attributes"]["process.pid"])')" \
	"[] ['samples', 'count'] ['cpu', 'nanoseconds', 52631579] web [[21]] ['<GC>', 'p::FUN', 'f'] 12" "and read as its receivers read it"
pushed

# --- a server that is away ---

server
away=server$servers
receiver_stop "$away"
drive pyroscope "http://127.0.0.1:$PORT/" "$WORK/spool.away" back-off=10 back-off-max=40
for i in 1 2 3 4 5; do
	item "$i" "$((i + 1))" 10 || fail "item $i is accepted while the server is away"
done
check "it is tried again and again" wait_until 60 state_above failed 5
is "$(state waiting) $(state sent) $(state dropped)" "5 0 0" "all wait"
like "$(state error)" "onnect" "the error has the reason: $(state error)"
receiver_start "$away"
check "when it is back all arrive" wait_until 60 state_is sent 5
is "$(arrived)" "1 2 3 4 5" "in order, once"
is "$(state waiting) $(state dropped) $(state error)" "0 0 " "nothing waits, nothing is lost"
receiver_stop "$away"
item 6 7 10
say drain 60000
is "$(state waiting)" 1 "at the end it is tried again, and what is left stays"
drive_end
receiver_start "$away"
drive pyroscope "http://127.0.0.1:$PORT" "$WORK/spool.away"
check "for the next start" wait_until 60 has_arrived "1 2 3 4 5 6"
pushed

# --- a server that behaves badly ---

# counts: sent, failed, dropped, dropped samples
counts() {
	say status
	sed -nE 's/.*"sent": ([0-9]+), "failed": ([0-9]+), "dropped": ([0-9]+), "dropped_samples": ([0-9]+),.*/\1 \2 \3 \4/p' <<<"$REPLY"
}

counts_are() {
	[ "$(counts)" = "$1" ]
}

# becomes KIND NAME COUNTS REQUESTS BEHAVIOUR...: of two items, of 10 and 20 samples, for a server with that behaviour
becomes() {
	pushes "$1" "${@:5}"
	item 1 2 10
	item 2 3 20
	wait_until 60 counts_are "$3"
	is "$(counts) $(requests 'r["was"]' | paste -sd ' ')" "$3 $4" "$2"
	pushed
}

for fault in 429 502 503 504 401 403 407 reset status head garbage heads; do
	becomes otlp "$fault: it is tried again until it arrives, in order, once" "2 2 0 0" "$fault $fault ok ok" $fault $fault
done
for fault in 400=no_name 404 413 415 500; do
	becomes otlp "$fault: it is dropped, counted with its samples, and the next one sent" "1 1 1 10" "$fault ok" $fault
done
becomes otlp "what OTLP refuses in a 200 is counted as lost" "1 0 1 10" "partial ok" partial
pushes otlp partial
item 1 2 10
wait_until 60 state_is dropped 1
like "$(state error)" "refused 1 of its profiles: no stacks" "and said"
pushed
for fault in 500 422 408; do
	becomes pyroscope "Pyroscope's $fault: it is tried again" "2 3 0 0" "$fault $fault $fault ok ok" $fault $fault $fault
	becomes pyroscope "Pyroscope's $fault: it is dropped after four tries" "1 4 1 10" \
		"$fault $fault $fault $fault ok" $fault $fault $fault $fault
done
for fault in body huge; do
	becomes pyroscope "a 200 whose body is $fault: it was taken, and is not sent twice" "2 0 0 0" "$fault ok" $fault
done
for fault in slow drip; do
	server
	behave $fault
	drive pyroscope "http://127.0.0.1:$PORT" "$WORK/spool.$drives" back-off=10 timeout=300
	item 1 2 10
	check "a server that is $fault is not waited for, and is asked again" wait_until 60 state_is sent 1
	# (an answer that is late is waited for no longer, and the server has it twice)
	is "$(requests 'r["was"], q["from"]' | uniq | paste -sd ' ')" "$fault 1 ok 1" "and has what it was asked with"
	pushed
done
pushes pyroscope 429:1 "503:$(date -ud '1000 hours' '+%a,_%d_%b_%Y_%T_GMT')"
item 1 2 10
wait_until 60 state_is failed 2
is "$(requests 'r["at"]' | paste -sd ' ' | awk '{ print ($2 - $1 >= 1) }')" 1 "Retry-After is kept to"
say wait
check "for an hour at most: $REPLY ms" test "$REPLY" -gt 3000000 -a "$REPLY" -le 3600100
pushed
pushes pyroscope "302>/elsewhere"
item 1 2 10
check "where a server sends us to" wait_until 60 state_is dropped 1
is "$(state error)" "HTTP 302 is a redirect, and redirects are not followed: the profile is dropped" "we do not go"
pushed

# --- something on the way that always breaks on one profile ---

pushes pyroscope
echo "reset from=1&" >"$SERVER/always"
for i in 1 2 3 4; do item "$i" "$((i + 1))" "$((10 * i))"; done
check "a profile that is always reset does not block those behind it" wait_until 60 has_arrived "2 3 4"
is "$(counts) $(state waiting)" "3 9 1 10 0" "after nine tries it is dropped, and counted with its samples"
is "$(requests 'q["from"]' | grep -v 1 | sort | paste -sd ' ')" "2 3 4" "each of the others is sent once"
pushed
pushes pyroscope
echo "reset from=" >"$SERVER/always"
for i in 1 2; do item "$i" "$((i + 1))" 10; done
wait_until 60 state_above failed 20
is "$(state dropped) $(state waiting)" "0 2" "if all are reset, the server is away: all wait"
rm "$SERVER/always"
check "and arrive when it is back" wait_until 60 eval '[ "$(arrived | wc -w)" -eq 2 ]'
is "$(arrived | tr ' ' '\n' | sort | paste -sd ' ') $(state waiting)" "1 2 0" "each once"
pushed

# shellcheck disable=SC2046 # words
pushes pyroscope $(printf 'reset %.0s' 1 2 3 4 5 6 7 8) 500 reset reset 500 reset reset 500 reset reset 500 500 # libcurl tries a kept connection's again
for i in 1 2; do item "$i" "$((i + 1))" 10; done
check "answers to the next one do not count as tries of the first" wait_until 60 has_arrived "2 1"
is "$(state dropped) $(state waiting)" "0 0" "none is dropped"
pushed

# --- whom we talk to ---

(
	cd "$WORK" || exit
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.crt
	for name in localhost elsewhere; do
		openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout "$name.key" -out "$name.csr"
		openssl x509 -req -days 2 -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -out "$name.crt" \
			-extfile <(echo "subjectAltName=DNS:$name")
	done
) >"$WORK/openssl.log" 2>&1 || bail "openssl: $(cat "$WORK/openssl.log")"
server "$WORK/localhost.crt" "$WORK/localhost.key"
drive otlp "https://localhost:$PORT" "$WORK/spool.tls" ca="$WORK/ca.crt"
item 1 2 3
check "TLS, with an authority that is named" wait_until 60 state_is sent 1
drive_end
drive otlp "https://localhost:$PORT" "$WORK/spool.tls"
item 1 2 3
wait_until 60 state_is failed 1
is "$(state sent) $(state waiting)" "0 1" "with another it is not sent"
like "$(state error)" "certificate" "the error names the certificate: $(state error)"
pushed
server "$WORK/elsewhere.crt" "$WORK/elsewhere.key"
drive otlp "https://localhost:$PORT" "$WORK/spool.tls" ca="$WORK/ca.crt"
wait_until 60 state_is failed 1
is "$(state sent) $(state waiting) $(requests 1)" "0 1 " "nor to a server of another name"
pushed

# --- headers ---

secret=s3cr3t-$RANDOM
printf '# of the test\n\nAuthorization: Bearer %s\r\nX-Scope-OrgID:   team a  \n' $secret-1 >"$WORK/headers"
chmod 600 "$WORK/headers"
server
drive pyroscope "http://127.0.0.1:$PORT" "$WORK/spool.headers" headers="$WORK/headers" back-off=10
item 1 2 3
wait_until 60 state_is sent 1
is "$(requests 'r["headers"]["authorization"], r["headers"]["x-scope-orgid"]')" "Bearer $secret-1 team a" "headers from a file"
chmod 604 "$WORK/headers"
printf 'Authorization: Bearer %s\n' $secret-2 >"$WORK/headers"
behave 500
item 2 3 3
wait_until 60 state_is sent 2
is "$(requests 'r["headers"]["authorization"]' | tail -n 1)" "Bearer $secret-1" "one that all can read is not taken: what was known is sent"
like "$(state error)" "others may access it .mode 0604" "which is reported for as long as it is so"
chmod 600 "$WORK/headers"
item 3 4 3
wait_until 60 state_is sent 3
is "$(requests 'r["headers"]["authorization"]' | tail -n 1)|$(state error)" "Bearer $secret-2|" "until it is not: a token that is renewed is the next one's"
is "$(grep -c "$secret" "$WORK/said")" 0 "no status has the token"
pushed
done_testing
