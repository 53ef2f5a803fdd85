#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: session engine/bpf bpf
# timeout: 300
# engines: bpf
#
# One pid, again and again, in a PID namespace whose next pid the test sets: R, a program that is
# not R, another R, and so on. All of them compute. The profiler never uses what it knows of a
# process for another process with its pid.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

rounds=5
# Runs inside: $1 is WORK.
cat >"$WORK/inside.sh" <<-'SH'
	set -u
	cd "$1" || exit 1
	wanted=20000
	# started COMMAND...: in the background, with that pid; another process may get it first
	started() {
		local try
		for try in $(seq 50); do
			echo $((wanted - 1)) >/proc/sys/kernel/ns_last_pid || exit 1
			"$@" </dev/null >>log 2>&1 &
			[ $! -ne $wanted ] || return 0
			kill -KILL $!
			wait $!
		done
		exit 1
	}
	"$XRPROF" -e bpf -f folded -F 997 -o out --stats out.stats -v -a 2>out.err &
	profiler=$!
	until grep -q 'watching for R' out.err; do
		kill -0 $profiler || exit 1
		sleep 0.05
	done
	for round in $(seq "$2"); do
		mkdir "$round"
		cp r/*.R "$round"
		started exec R --vanilla --no-echo -f "$round/all_spin.R" --args "$1/$round" "round$round" 0.3 wait
		# it computes when the profiler knows it
		until [ "$(grep -cE "process $wanted \([^)]*\): R " out.err)" -ge "$round" ]; do
			kill -0 $profiler || exit 1
			sleep 0.05
		done
		: >"$round/go"
		wait $wanted
		[ -e "$round/done" ] || exit 1
		started exec awk 'BEGIN { while (i++ < 3e6) n += i }'
		wait $wanted
	done
	kill -INT $profiler
	wait $profiler
SH
mkdir "$WORK/r"
cp "$tests"/live/r/*.R "$WORK/r"
XRPROF=$(realpath "$XRPROF")
export XRPROF
unshare --pid --fork --mount-proc --kill-child bash "$WORK/inside.sh" "$WORK" "$rounds" >"$WORK/inside.out" 2>&1 </dev/null
ok $? "$rounds R's and as many other programs had one pid" || diag "$(cat "$WORK/inside.out" "$WORK/log" "$WORK/out.err")"
for ((round = 1; round <= rounds; round++)); do
	samples=$(folded_samples "$WORK/out" 20000 "round${round}_outer.*;round${round}_inner")
	check "R number $round is sampled ($samples times)" [ "$samples" -ge 30 ] || diag "$(cat "$WORK/out.err")"
done
is "$(awk -F';' '{ delete seen; n = 0; for (i = 2; i <= NF; i++) if (match($i, /^round[0-9]+_/)) {
	r = substr($i, RSTART, RLENGTH); if (!(r in seen)) n++; seen[r] = 1 } if (n > 1) print }' "$WORK/out")" "" "no stack has functions of two"
check_stats "$WORK/out.stats" "reuse"
is "$(unread_of "$WORK/out.stats")" 0 "no stack of another program was taken for R's" || diag "$(cat "$WORK/out.stats")"
is "$(stat_of "$WORK/out.stats" malformed)" 0 "malformed 0"
done_testing
