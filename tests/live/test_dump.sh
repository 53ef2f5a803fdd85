#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd engine/remote target
#
# `dump`: the stack of an R that sleeps, waits for a child or at its prompt, or computes in C, held against what sys.calls()
# said in it right before; what it says of processes that it cannot read; and that R goes on. (How it is shown:
# unit:cmd/linux/dump_show. Of other users' R: live:rights.)
# timeout: 300
# engines: vmread
. "$(dirname "$0")/../lib/live.sh"

# dump ARG...: sets STATUS, OUT (stdout), ERR (stderr)
dump() {
	OUT=$(timeout -k 5 60 "$XRPROF" dump "$@" 2>"$WORK/err" </dev/null)
	STATUS=$?
	ERR=$(cat "$WORK/err")
}

# What dump --json says of its first process: the frames as the R program writes them, innermost first.
frames() {
	python3 -c '
import json, sys
for f in json.load(sys.stdin)["processes"][0]["frames"]:
    place = f["place"]
    print((f["package"] or "") + "\t" + f["function"] + "\t" + ("%s:%s" % (place["file"], place["line"]) if place else ""))' <<<"$OUT"
}

# field NAME: of the first process
field() {
	python3 -c 'import json, sys; print(json.load(sys.stdin)["processes"][0][sys.argv[1]])' "$1" <<<"$OUT"
}

# waits_in PID STATE: it is in that state
waits_in() {
	[ "$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status")" = "$2" ]
}

# blocks WAY INNERMOST DOING [STATE]: the program launched last blocks with what it said, below INNERMOST (a frame
# a line, or "" for none), and does what the regular expression DOING says.
blocks() {
	local way=$1 innermost=$2 doing=$3 state=${4:-S} wanted start
	wait_until 60 waits_in "$TARGET_PID" "$state" || fail "$way: it is in state $state"
	wanted=$(printf '%b' "$innermost"; cat "$TARGET_DIR/stack")
	start=$(awk '{ print $22 }' "/proc/$TARGET_PID/stat")
	dump -p "$TARGET_PID" --json
	is "$STATUS" 0 "$way: exit status"
	is "$ERR" "" "$way: nothing on stderr"
	is "$(frames)" "$wanted" "$way: the stack is what sys.calls() has"
	like "$(field doing)" "^$doing\$" "$way: what it does"
	is "$(field r_version)" "$(R --version | sed -n 's/^R version \([0-9.]*\).*/\1/p')" "$way: R's version"
	like "$(field command)" "--args $TARGET_DIR $way" "$way: its command"
	is "$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$TARGET_PID/status")$(awk '{ print $22 }' "/proc/$TARGET_PID/stat")" \
		"0$start" "$way: R runs on, and no process traces it"
}

# finishes WAY: what the program launched last waited for has come
finishes() {
	check "$1: R went on" target_await_done 60 || diag "$(tail -n 5 "$TARGET_ERR" "$TARGET_DIR/stdout")"
	target_kill
}

target_start host dump deep
blocks deep "base\tSys.sleep\t\n" 'sleeping in p?select6?'
# stopped by a signal: its stack is read all the same
kill -STOP "$TARGET_PID"
blocks deep "base\tSys.sleep\t\n" 'stopped by a signal' T
kill -CONT "$TARGET_PID"
wait_until 60 waits_in "$TARGET_PID" S
dump -p "$TARGET_PID" --json -e ptrace
is "$(frames)" "$(printf 'base\tSys.sleep\t\n'; cat "$TARGET_DIR/stack")" "-e ptrace: the same stack"
deep_pid=$TARGET_PID deep_dir=$TARGET_DIR deep_job=$TARGET_JOB

# in C: it runs, and never goes back to R meanwhile
spin=$WORK/spin_until.so
fixture "$spin" spin_until.c -shared -fPIC
target_start host dump call "$spin"
wait_until 60 test -e "$TARGET_DIR/spins"
blocks call "base\t.C\t\n" running R
dump -p "$TARGET_PID" --json -e ptrace
is "$(frames)" "$(printf 'base\t.C\t\n'; cat "$TARGET_DIR/stack")" "-e ptrace: of one that runs, too"
is "$(field doing)" running "which goes on running"
target_go
finishes call

target_start host dump child
blocks child "base\tsystem\t\n" 'waiting for a child in wait4'
wait_until 60 pkill -P "$TARGET_PID" -x sleep
finishes child

# R at a terminal is left at its prompt
mkfifo "$WORK/typed"
exec 8<>"$WORK/typed"
env TERM=dumb script -qfec "exec R --vanilla -q" "$WORK/shown" <"$WORK/typed" >"$WORK/script" &
live_pids+=("$!")
wait_until 60 grep -q '^> ' "$WORK/shown" || bail "R does not start at a terminal"
prompt_pid=$(target_find "$!")
live_pids+=("$prompt_pid")
wait_until 60 waits_in "$prompt_pid" S
dump -p "$prompt_pid"
is "$STATUS" 0 "at the prompt: exit status"
is "$(printf '%s\n' "$OUT" | sed -n 's/^    //p')" "<toplevel>" "at the prompt: no function is called"
like "$OUT" 'R [0-9.]+, sleeping in p?select6?' "at the prompt: what it does"

# --- several ---

sleep 1000 &
other=$!
live_pids+=("$other")
dump -p "$deep_pid,$prompt_pid" -p "$other"
is "$STATUS" 0 "several: those that can be read are"
is "$(printf '%s\n' "$OUT" | grep -oE '^process [0-9]+' | xargs)" "process $deep_pid process $prompt_pid" "several: in the order given"
like "$ERR" "process $other .*not run R" "several: the reason for the other"
is "$(printf '%s\n' "$ERR" | wc -l)" 1 "several: in one line"
dump -p "$deep_pid" -p "$other" --json
is "$(python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["failed"][0]["pid"], len(d["processes"]))' <<<"$OUT")" \
	"$other 1" "several: in JSON, too"
dump -a
is "$STATUS" 0 "--all: exit status"
for pid in "$deep_pid" "$prompt_pid"; do
	like "$OUT" "process $pid: " "--all: $pid"
done
dump -p "$other"
is "$STATUS" 1 "nothing could be read: exit status"

# --- again and again ---

# repeats OUT ARG...: dump --every in the background. Sets DUMP_PID.
repeats() {
	local out=$1
	shift
	env --default-signal "$XRPROF" dump --every 0.05 "$@" >"$out" 2>"$out.err" </dev/null &
	DUMP_PID=$!
	live_pids+=("$DUMP_PID")
}

target_start host dump twice
wait_until 60 waits_in "$TARGET_PID" S
repeats "$WORK/every" -p "$TARGET_PID"
every_pid=$DUMP_PID
check "--every: a stack that is the same is one line" wait_until 60 grep -q "^process $TARGET_PID: sleeping in .*, unchanged\$" "$WORK/every"
repeats "$WORK/every.json" -p "$TARGET_PID" --json
check "--every --json: a stack that is the same is marked" wait_until 60 grep -q '"unchanged": true' "$WORK/every.json"
kill -INT "$DUMP_PID"
wait "$DUMP_PID"
is $? 0 "--every: Ctrl-C ends it"
"$XRPROF" dump --every 0.05 -p "$TARGET_PID" 2>"$WORK/pipe.err" | head -n 1 >/dev/null
is "${PIPESTATUS[0]} $(cat "$WORK/pipe.err")" "0 " "--every: a closed pipe ends it"
is "$(python3 -c '
import json, sys
rounds = [json.loads(line) for line in sys.stdin]
first, second = (r["processes"][0] for r in rounds[:2])
print(first["unchanged"], second["unchanged"], first["frames"] == second["frames"], rounds[0]["time_ms"] <= rounds[1]["time_ms"])' \
	<"$WORK/every.json")" "False True True True" "--every --json: an object a line, all of it each time"
kill -INT "$TARGET_PID"
check "--every: one that changed is shown" wait_until 60 grep -q '^    second' "$WORK/every"
target_kill
check "--every: the end of the process ends it" wait_until 60 gone "$every_pid"
wait "$every_pid"
is $? 0 "--every: exit status"
like "$(cat "$WORK/every.err")" "the process has ended\$" "--every: and that is reported"
like "$(sed -n '1p' "$WORK/every")" '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} [-+][0-9]{4}$' "--every: a dump begins with its time"

kill -INT "$deep_pid"
check "R went on" wait_until 60 test -e "$deep_dir/done"
kill "$deep_job" 2>/dev/null
done_testing
