#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: cmd session
# timeout: 400
# engines: bpf
# alone: live
#
# The messages of record without a terminal: of filters that match nothing, of many processes at
# once, of its clock.
# pids: of forks.sh
# shellcheck disable=SC2154
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/forks.sh"
chmod 755 "$WORK"

# --- filters that match nothing ---
timeout -k 5 60 "$XRPROF" -e "$XRPROF_ENGINE" --all --cgroup "no-such-$$" -f folded -o "$WORK/none.folded" --until-eof \
	2>"$WORK/none.err" < <(
		wait_until 60 grep -q "no R process matches --cgroup no-such-$$ yet" "$WORK/none.err"
	)
is $? 1 "filters that matched nothing: exit status 1"
is "$(grep -c "no R process matches --cgroup no-such-$$ yet" "$WORK/none.err")" 1 \
	"reported while it runs"
is "$(grep -c "no R process matched --cgroup no-such-$$$" "$WORK/none.err")" 1 "and at the end" || diag "$(cat "$WORK/none.err")"
target_start host all_spin idle Inf wait
sleeper=$TARGET_PID
prof --all --user 0 --comm R -f folded -d 0.5 -o "$WORK/some.folded" 2>"$WORK/some.err"
is $? 0 "filters that match: exit status 0"
is "$(grep -c "no R process" "$WORK/some.err")" 0 "without a message" ||
	diag "$(cat "$WORK/some.err")"

# --- the clock that was asked for ---
# without NAME CLOCK ARG...: without BPF's capabilities, of an R that sleeps.
without() {
	local name=$1
	shift
	timeout -k 5 60 capsh --drop=cap_bpf,cap_perfmon,cap_sys_admin -- -c 'exec "$0" "$@"' "$XRPROF" -p "$sleeper" \
		-F 199 -d 1 -f speedscope -o "$WORK/$name.json" --stats "$WORK/$name.stats" "$@" 2>"$WORK/$name.err" </dev/null
	is "$(stat_of "$WORK/$name.stats" engine)" ptrace "$name: another engine is used" || diag "$(cat "$WORK/$name.err")"
}
without unasked
is "$(grep -c 'engine ptrace (wall clock), because' "$WORK/unasked.err")" 1 \
	"without --clock the message names the clock" ||
	diag "$(cat "$WORK/unasked.err")"
is "$(stat_of "$WORK/unasked.stats" clock)" wall "it is in the statistics"
[ "$(stat_of "$WORK/unasked.stats" written)" -gt 20 ]
ok $? "and waiting is sampled"
is "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["exporter"].split(", ", 1)[1])' "$WORK/unasked.json")" \
	"engine ptrace, clock wall" "speedscope: engine and clock are in the file"
without asked --clock cpu
is "$(grep -c 'engine ptrace (cpu clock), because' "$WORK/asked.err")" 1 "--clock cpu: it is CPU time with that engine, too" ||
	diag "$(cat "$WORK/asked.err")"
is "$(stat_of "$WORK/asked.stats" clock)" cpu "--clock cpu: it is in the statistics"
[ $(($(stat_of "$WORK/asked.stats" written) * 4)) -lt "$(stat_of "$WORK/unasked.stats" written)" ]
ok $? "--clock cpu: waiting is not sampled: $(stat_of "$WORK/asked.stats" written) samples"
target_kill

# --- the same of many processes ---
forks_start 12
kill -STOP "${pids[@]}"
# how many lines say it, and how many they speak for
said() {
	awk '/^[^:]*: process [0-9]+ is stopped/ { n++; all++ }
		/and [0-9]+ more of this kind; the last: process [0-9]+ is stopped/ { n++; sub(/.*and /, ""); all += $1 }
		END { print n + 0, all + 0 }' "$WORK/many.err"
}
timeout -k 5 100 "$XRPROF" -e ptrace -f folded -d 3 -o "$WORK/many.folded" -p "$(IFS=,; echo "${pids[*]}")" \
	2>"$WORK/many.err" </dev/null
read -r lines all < <(said)
is "$all" 12 "twelve processes are stopped: all are spoken of" || diag "$(cat "$WORK/many.err")"
[ "$lines" -le 5 ]
ok $? "in a few lines: $lines"
timeout -k 5 100 "$XRPROF" -e ptrace -v -f folded -d 2 -o "$WORK/many.folded" -p "$(IFS=,; echo "${pids[*]}")" \
	2>"$WORK/many.err" </dev/null
read -r lines all < <(said)
is "$lines" 12 "--verbose: a line of each" || diag "$(cat "$WORK/many.err")"
done_testing
