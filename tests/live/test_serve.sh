#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: serve session output cmd
# timeout: 600
# else: ptrace
#
# serve: intervals become files, and every sample is in one of them; SIGUSR1 ends an interval, SIGHUP reads the
# configuration again, SIGTERM writes what there is. The process that writes can be lost and comes back. Nothing that is
# wrong with the configuration ends what runs.
# shellcheck disable=SC2034 # what eval sees
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

# refused PATTERN ARG...: serve does not start, and reports it in one line
refused() {
	local pattern=$1 text
	shift
	text=$(timeout -k 5 60 "$XRPROF" serve "$@" 2>&1)
	is $? "${STATUS:-2}" "serve $*: exit status"
	check "serve $*: $text" eval 'one_line "$text" && [[ $text =~ $pattern ]]'
}

refused 'no output: give --dir'
refused 'does not accept: give --spool' --pyroscope http://127.0.0.1:1
refused 'not a size such as' --dir "$WORK/d" --keep 7x
refused '--label novalue: give key=value' --dir "$WORK/d" --label novalue
refused 'the label pid always exists' --dir "$WORK/d" --label pid=1
refused '--label host=x: this label is set by --host' --dir "$WORK/d" --label host=x
refused '--label-env HOST: this label is set by --host' --dir "$WORK/d" --label-env HOST
refused '--label-env NODE=host: this label is set by --host' --dir "$WORK/d" --label-env NODE=host
refused 'give NAME or NAME=label' --dir "$WORK/d" --label-env 1X
refused 'not a share of a CPU' --dir "$WORK/d" --max-cpu lots
refused 'too long for --pyroscope' --pyroscope http://127.0.0.1:1 --spool "$WORK/d" --label "a=$(printf '%05000d' 0)"
refused 'cannot read --config' --config "$WORK/none.conf"
: >"$WORK/file"
STATUS=1 refused "$WORK/file" --dir "$WORK/file"
STATUS=1 refused 'process [0-9]+' --dir "$WORK/d" --pid $$
cp "$(command -v sleep)" "$WORK/R" # it could be R that is starting
"$WORK/R" 600 &
live_pids+=($!)
wait_until 60 grep -qx R "/proc/$!/comm"
STATUS=1 refused 'process [0-9]+ .R. does not run R' -q --dir "$WORK/d" --pid $!

# --- files ---

target_start host spin
dir=$WORK/profiles
cat >"$WORK/serve.conf" <<-CONF
	# what the test wants
	dir = $dir
	freq = 199
	max-cpu = 0
CONF
serve_start --config "$WORK/serve.conf" --pid "$TARGET_PID" -v
ok $? "serve starts"
check "the process that writes has no capabilities" grep -qE '^CapPrm:\s0+$' "/proc/$(serve_front)/status"

# Until R has computed for 0.3 s, which is some 60 samples: an interval without a sample has no file.
computes() {
	local used
	used=$(cpu_ticks "$TARGET_PID")
	wait_until 60 eval '[ "$(cpu_ticks "$TARGET_PID")" -ge $((used + 30)) ]'
}
computes
kill -USR1 "$SERVE_PID"
check "SIGUSR1: the interval is written" wait_until 60 have 1
check "it logs its counts" serve_says 'samples = '
check "and the state of the directory" serve_says 'directory: [0-9]+ profiles?'
wait_until 60 eval 'kill -USR1 "$SERVE_PID"; [ "$(samples_of "$dir")" -gt 20 ]'
ok $? "samples come"

# --- the configuration again ---

before=$(intervals_in "$dir" | wc -l)
computes
echo 'freq = 99' >>"$WORK/serve.conf"
kill -HUP "$SERVE_PID"
check "SIGHUP: the configuration is read again" serve_says 'profiling at 99 Hz'
check "the interval before it was written" eval '[ "$(intervals_in "$dir" | wc -l)" -gt "$before" ]'
echo 'freq = many' >>"$WORK/serve.conf"
kill -HUP "$SERVE_PID"
check "serve logs what is wrong there" serve_says 'the configuration was not changed: .*serve.conf, line 6: .*many'
check "and it goes on as before" wait_until 60 eval '[ "$(grep -c "profiling at 99 Hz" "$SERVE_ERR")" -ge 2 ]'
sed -i '$d' "$WORK/serve.conf"
echo 'listen = 0.0.0.0:0' >>"$WORK/serve.conf" # without a token
kill -HUP "$SERVE_PID"
check "an address that cannot be opened is reported, too" serve_says '0.0.0.0:0.*token'
check "the configuration was not changed" serve_says 'the configuration was not changed$'
check "and it goes on" wait_until 60 eval '[ "$(grep -c "profiling at 99 Hz" "$SERVE_ERR")" -ge 3 ]'
sed -i '$d' "$WORK/serve.conf"

# --- the process that writes is lost ---

front=$(serve_front)
kill -KILL "$front"
check "it is restarted" serve_says 'restarting it'
check "as another one" wait_until 60 eval '[ -n "$(serve_front)" ] && [ "$(serve_front)" != "$front" ]'
before=$(intervals_in "$dir" | wc -l)
check "that writes" wait_until 60 eval 'kill -USR1 "$SERVE_PID"; [ "$(intervals_in "$dir" | wc -l)" -gt "$before" ]'

serve_stop TERM
is "$SERVE_STATUS" 0 "SIGTERM: exit status"
check "nothing is left of it" [ -z "$(find "$dir" -name '.*' -type f)" ]

# --- every sample, once ---

rm -rf "$dir"
serve_start --dir "$dir" --interval 2 -F 499 --max-cpu 0 --pid "$TARGET_PID"
ok $? "serve starts"
check "intervals end by themselves" wait_until 120 have 4
target_kill
check "when the process of --pid has ended it ends" wait_until 60 gone "$SERVE_PID"
serve_stop
is "$SERVE_STATUS" 0 "exit status"
check "there are samples: $(serve_summary)" [ "$(serve_summary)" -gt 100 ]
is "$(samples_of "$dir")" "$(serve_summary)" "the files have as many samples as were taken"
is "$(zcat "$dir"/index-*.jsonl.gz | python3 -c 'import json, sys; print(sum(json.loads(l)["samples"] for l in sys.stdin))')" \
	"$(serve_summary)" "the index has the same number of samples"
done_testing
