#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: profile session bpf
# engines: bpf
# timeout: 300
#
# A program that waits for work most of the time: of its waits only those in the work are in the profile, what it waits for
# work is counted, and --idle shows it. The loops of httpuv (shiny, plumber), later, parallel's workers and Rserve; R at its
# prompt, where there is no R function: all formats but rprof have <toplevel>, and so has top.
. "$(dirname "$0")/../lib/live.sh"

# waited FILE NAME: seconds in stacks with NAME, at 499 Hz
waited() {
	awk -v name="$2" '$0 ~ name { n += $NF } END { printf "%.3f\n", n / 499 }' "$1"
}
idle_of() {
	stat_of "$1" idle_seconds waits
}

# idle_shown PID NAME LOOP: with --idle and without
idle_shown() {
	local pid=$1 name=$2 loop=$3
	prof -p "$pid" --off-cpu -F 499 -d 5 -f folded -o "$WORK/$name.out" --stats "$WORK/$name.stats" 2>"$WORK/$name.err"
	is $? 0 "$name: exit status 0" || diag "$(cat "$WORK/$name.err")"
	check_stats "$WORK/$name.stats" "$name"
	# CPU time of the loop itself is there, and waits for a CPU
	check "$name: no waiting for work" awk "BEGIN { exit !($(grep -v ';handles' "$WORK/$name.out" | waited /dev/stdin "$loop") < $(idle_of "$WORK/$name.stats") / 4) }" ||
		diag "$(cat "$WORK/$name.out")"
	check "$name: it is counted" awk "BEGIN { exit !($(idle_of "$WORK/$name.stats") > 1) }"
	like "$(tail -n 1 "$WORK/$name.err")" "s of it waiting for work and not shown \(--idle\)" "$name: and said"
	check "$name: waits of the work are there" awk "BEGIN { exit !($(waited "$WORK/$name.out" ';handles;') > 0.5) }" ||
		diag "$(cat "$WORK/$name.out")"
	prof -p "$pid" --off-cpu --idle -F 499 -d 5 -f folded -o "$WORK/$name.all" --stats "$WORK/$name.stats" 2>"$WORK/$name.err"
	is $? 0 "$name: --idle: exit status 0"
	check "$name: --idle shows it" awk "BEGIN { exit !($(grep -v ';handles' "$WORK/$name.all" | waited /dev/stdin "$loop") > 1) }" ||
		diag "$(cat "$WORK/$name.all")"
	is "$(idle_of "$WORK/$name.stats")" 0 "$name: --idle: nothing is left out"
	figure "$name: $(waited "$WORK/$name.out" ';handles;') s of work, $(waited "$WORK/$name.all" "$loop") s with --idle"
}

target_start host idle httpuv
server=$TARGET_PID
port=$(cat "$TARGET_DIR/port")
(while curl -s "http://127.0.0.1:$port/" >"$WORK/answer"; do sleep 0.5; done) &
live_pids+=("$!")
wait_until 60 grep -q late "$WORK/answer"
ok $? "the server answers"
idle_shown "$server" httpuv 'httpuv::service'
target_kill

target_start host idle later
idle_shown "$TARGET_PID" later 'later::run_now'
target_kill

target_start host idle parallel
worker=$(cat "$TARGET_DIR/worker")
live_pids+=("$worker")
idle_shown "$worker" parallel 'parallel.*::workCommand'
target_kill

target_start host rserve
server=$TARGET_PID socket=$TARGET_DIR/socket
check "Rserve listens" wait_until 60 test -S "$socket"
target_start host idle rserve "$socket"
worker=$(cat "$TARGET_DIR/worker")
live_pids+=("$worker")
idle_shown "$worker" rserve 'Rserve::run.Rserve'
target_kill
kill -KILL "$worker" "$server"

# --- a prompt ---

mkfifo "$WORK/typed"
(unset R_ENVIRON; exec R --vanilla --quiet --interactive --no-readline <"$WORK/typed" >"$WORK/shown" 2>&1) &
live_pids+=("$!")
job=$!
exec 5>"$WORK/typed"
printf '%s\n' 'handles <- function() Sys.sleep(0.3); request <- function() handles()' 'cat("it", "listens\n")' >&5
check "prompt: R starts" wait_until 120 grep -q '^it listens' "$WORK/shown" || diag "$(cat "$WORK/shown")"
prompt=$(target_find "$job")
# without input
prof -p "$prompt" --off-cpu -F 499 -d 1 -f folded -o "$WORK/still.out" --stats "$WORK/still.stats" 2>"$WORK/still.err"
is $? 0 "prompt: without input: exit status 0"
is "$(cat "$WORK/still.out")" "" "prompt: nothing is shown"
awk "BEGIN { all = $(stat_of "$WORK/still.stats" seconds waits); idle = $(idle_of "$WORK/still.stats"); exit !(all > 0.9 && (idle - all)^2 < (0.05 * all)^2) }"
ok $? "prompt: all of it is waiting for work" || diag "$(cat "$WORK/still.stats")"
prof -p "$prompt" --off-cpu --idle -F 499 -d 1 -f rprof -o "$WORK/still.out" 2>"$WORK/still.err"
is $? 0 "prompt: as Rprof.out: exit status 0"
is "$(wc -l <"$WORK/still.out")" 1 "prompt: Rprof.out has no lines without functions" ||
	diag "$(cat "$WORK/still.out")"
"$XRPROF" top -p "$prompt" --off-cpu --idle --sample-type off_cpu --batch 2 >"$WORK/top.out" 2>"$WORK/top.err"
is $? 0 "prompt: top: exit status 0" || diag "$(cat "$WORK/top.err")"
is "$(grep -cE ' 100\.0 .* <toplevel>$' "$WORK/top.out")" 2 "prompt: top shows it in each second" || diag "$(cat "$WORK/top.out")"
(while echo 'request()' 2>/dev/null; do sleep 1; done) >&5 &
live_pids+=("$!")
exec 5>&-
idle_shown "$prompt" prompt '<toplevel>'
kill -KILL "$prompt"
done_testing
