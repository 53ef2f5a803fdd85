#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: output session cmd
# timeout: 600
# engines: bpf
#
# record in long runs: SIGUSR1 prints the state, and SIGHUP begins another file. Each sample is in one
# of the files. (unit:output/outputs has each kind of output; here the signals come from outside.)
. "$(dirname "$0")/../lib/live.sh"

target_start host all_spin spinning
pid=$TARGET_PID

# taken: samples so far, as SIGUSR1 says
asked=0
taken() {
	asked=$((asked + 1))
	kill -USR1 "$PROF_PID"
	wait_until 60 eval '[ "$(grep -cE " samples? (of|=) " "$PROF_OUT.err")" -ge "$asked" ]'
	grep -E " samples? (of|=) " "$PROF_OUT.err" | tail -n 1 | sed 's/^[^:]*: \([0-9]*\) sample.*/\1/'
}
more_than() {
	[ "$(taken)" -gt "$1" ]
}

samples() {
	"$XRPROF" report -f folded -o - "$1" | awk '{ n += $NF } END { print n + 0 }'
}

# begin OUT ARG...: start the profiler, and wait until it samples
begin() {
	PROF_OUT=$1
	shift
	asked=0
	"$XRPROF" -e "$XRPROF_ENGINE" -p "$pid" --stats "$PROF_OUT.stats" --ready "$PROF_OUT.ready" "$@" \
		2>"$PROF_OUT.err" </dev/null &
	PROF_PID=$!
	live_pids+=("$PROF_PID")
	wait_until 120 test -s "$PROF_OUT.ready"
}

for format in out pb.gz; do
	log=$WORK/$format
	mkdir "$log"
	begin "$log/app.$format" -o "$log/app.$format"
	check "$format: SIGUSR1 prints the state" wait_until 60 more_than 10
	stats=$(stat_of "$PROF_OUT.stats" written)
	[ "$stats" -gt 0 ]
	ok $? "$format: and writes the statistics: $stats written so far"
	mv "$PROF_OUT" "$log/old.$format"
	kill -HUP "$PROF_PID"
	check "$format: SIGHUP begins a new file" wait_until 60 test -e "$PROF_OUT"
	check "$format: and completes the one that was moved" wait_until 60 eval '[ "$(samples "$log/old.$format" 2>/dev/null)" -gt 0 ]'
	cp "$log/old.$format" "$log/old.copy"
	check "$format: samples go on" wait_until 60 more_than $(($(taken) + 10))
	kill -HUP "$PROF_PID"
	check "$format: what was not moved stays" wait_until 60 test -e "$log/app.1.$format"
	check "$format: samples go on again" wait_until 60 more_than $(($(taken) + 10))
	prof_stop
	is "$PROF_STATUS" 0 "$format: it ends well" || diag "$(cat "$PROF_OUT.err")"
	check "$format: nothing was added to what was moved" cmp "$log/old.$format" "$log/old.copy"
	is $(($(samples "$log/old.$format") + $(samples "$PROF_OUT") + $(samples "$log/app.1.$format"))) \
		"$(stat_of "$PROF_OUT.stats" written)" "$format: each sample is in one of three files"
done

# A pipe goes on.
begin "$WORK/pipe.out" -f rprof > >(cat >"$WORK/pipe.out")
kill -HUP "$PROF_PID"
# shellcheck disable=SC2034 # what eval sees
before=$(samples_in "$WORK/pipe.out")
check "a pipe goes on after SIGHUP" wait_until 60 eval '[ "$(samples_in "$WORK/pipe.out")" -gt "$before" ]'
prof_stop
is "$PROF_STATUS" 0 "a pipe: it ends well" || diag "$(cat "$PROF_OUT.err")"
done_testing
