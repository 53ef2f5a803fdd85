#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: serve output
# timeout: 300
# engines: bpf
#
# serve with two servers: what it samples arrives at both, sample for sample, also when they were away or failed meanwhile,
# and when it was killed with profiles that no server had taken. Tokens are in no command line.
# shellcheck disable=SC2034 # what eval sees
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

python=/usr/bin/python3

# taken NAME: bodies of the requests that it said it took
taken() {
	[ ! -e "$WORK/$1/requests" ] || "$python" -c '
import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["was"] in ("ok", "body"):  # both are a status of 200
        print(sys.argv[2] + str(r["n"]))' "$WORK/$1/requests" "$WORK/$1/body."
}

count() {
	taken "$1" | wc -l
}

waits() {
	find "$WORK/spool" -type f -name '[!.]*' ! -name 'lock*' | wc -l
}

receiver_start pyroscope
receiver_start otlp
(umask 077 && echo "Authorization: Bearer secret-$$-token" >"$WORK/headers")
ways=(--pyroscope "$(receiver_url pyroscope)" --pyroscope-header "$WORK/headers" --otlp "$(receiver_url otlp)" --spool "$WORK/spool" --label dc=east)

target_start host spin
(umask 077 && echo "token-of-$$-0123456789" >"$WORK/token")
serve_start --pid "$TARGET_PID" --interval 1 -F 199 --max-cpu 0 "${ways[@]}" \
	--listen "unix:$WORK/socket" --token-file "$WORK/token"
ok $? "serve starts"
wait_until 120 eval '[ "$(count pyroscope)" -ge 2 ] && [ "$(count otlp)" -ge 2 ]'
ok $? "profiles arrive at both"
is "$(grep -vc "secret-$$-token" "$WORK/pyroscope/requests")" 0 "with the token"
is "$(grep -c "secret-$$-token" "$WORK/otlp/requests")" 0 "that is not for the other one"
check "which no command line has" eval '! grep -qa "secret-$$-token" /proc/[0-9]*/cmdline'
check "for the service, with labels" grep -q 'name=spin.R%7B.*dc%3Deast' "$WORK/pyroscope/requests"

receiver_stop pyroscope otlp
check "missing servers are reported" serve_says 'pyroscope http.*: '
check "of both" serve_says 'otlp http.*: '
health() {
	curl -sS -m 60 --unix-socket "$WORK/socket" "$@" http://localhost/healthz
}
like "$(health -H "Authorization: Bearer $(cat "$WORK/token")")" $'^ok\npyroscope: .*\notlp: ' \
	"/healthz names both to a client with the token"
is "$(health)" ok "/healthz names no server to other clients"
before=$(waits)
check "profiles wait" wait_until 60 eval '[ "$(waits)" -ge $((before + 4)) ]'
receiver_start pyroscope
echo "500 503:1 reset body" >"$WORK/otlp/behave"
receiver_start otlp
check "returned servers are reported" serve_says 'pyroscope http.*: works again' 120
check "of both" serve_says 'otlp http.*: works again' 120
check "nothing waits any more" wait_until 120 eval '[ "$(waits)" -le 2 ]'
serve_stop
is "$SERVE_STATUS" 0 "exit status"
# shellcheck disable=SC2046 # names without blanks
is "$(count_of $(taken pyroscope))" "$(serve_summary)" "all samples arrived as pprof"
# 500 is an answer by which OTLP gives a profile up: that is counted
given_up=$(sed -nE 's/.*otlp: .* profiles? with ([0-9]+) samples? dropped.*/\1/p' "$SERVE_ERR" | tail -n 1)
# shellcheck disable=SC2046 # names without blanks
otlp_samples=$("$python" "$tests/lib/otlp.py" --sums $(taken otlp) | awk '{ n += $2 } END { print n + 0 }')
is "$((otlp_samples + given_up))" "$(serve_summary)" \
	"and by OTLP, except $given_up that were dropped and counted"
is "$(waits)" 0 "the spool is empty"

# --- killed, with profiles that no server has taken ---

receiver_stop pyroscope otlp
serve_start --pid "$TARGET_PID" --interval 1 -F 199 --max-cpu 0 "${ways[@]}"
ok $? "serve starts while they are away"
check "profiles wait" wait_until 60 eval '[ "$(waits)" -ge 4 ]'
front=$(serve_front)
kill -KILL "$SERVE_PID"
wait "$SERVE_PID" 2>/dev/null
check "the process that sends has ended, too" wait_until 60 gone "$front"
left=$(waits)
check "they wait on: $left" [ "$left" -ge 4 ]
receiver_start pyroscope
receiver_start otlp
taken_before=$(($(count pyroscope) + $(count otlp)))
serve_start --pid "$TARGET_PID" --interval "$(long_interval)" -F 199 --max-cpu 0 "${ways[@]}"
ok $? "serve starts again"
check "and sends them" wait_until 60 eval '[ "$(waits)" -eq 0 ]'
is "$(($(count pyroscope) + $(count otlp) - taken_before))" "$left" "each once"
serve_stop
done_testing
