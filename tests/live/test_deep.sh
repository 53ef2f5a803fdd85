#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf include engine/remote profile
# timeout: 600
# alone: live
#
# Deep stacks come out whole: 1,500 calls, 10,000 calls, and more than 10,000 contexts of loops, promises and
# tryCatch(); with bpf_loop and, as on kernels without it, with tail calls. The wanted stack is R's own sys.calls() at the
# innermost call. What is deeper than the limit is cut at the outermost end, marked and counted. (Alone: samples that take so
# long make the kernel lower the rate it allows to anybody.)
#
# With the default budget outer frames are cut, but no sample is left out: a function has its share
# of the CPU time at any depth. test_deep.sh shares [SECONDS [LEVELS...]] checks that alone (10 s,
# 20 to 32,000 levels).
. "$(dirname "$0")/../lib/live.sh"

TARGET_WRAP=(prlimit --stack=unlimited)
TARGET_OPTIONS=(--max-ppsize=500000)

freq=99
[ "$XRPROF_ENGINE" = bpf ] || freq=29 # ptrace stops the program while 10,000 contexts are read

# deep_profile KIND LEVELS: profile it for a second or two at the bottom. It may take its time.
deep_profile() {
	target_start host deep 2 "$@"
	prof_start "$TARGET_DIR/ours.out" -F $freq --max-sample-time 1000000 -p "$TARGET_PID" || return 1
	target_go
	target_await_done
	prof_stop
	target_kill
	return "$PROF_STATUS"
}

# Samples of the deepest stack that are exactly what R said, and that are not. A stack may end (begin) in what hold()
# calls; lines without hold() were taken on the way there. With "cut": as far as it goes before the mark.
deep_compare() {
	awk -v cut="$3" '
		NR == FNR { wanted = wanted "\"" $0 "\" "; next }
		FNR == 1 { next }
		!(at = index($0, "\"hold\" ")) { other++; next }
		{
			stack = substr($0, at)
			if (cut) {
				mark = "\"<truncated>\" "
				n = length(stack) - length(mark)
				whole = n > 100000 && substr(stack, n + 1) == mark && substr(stack, 1, n) == substr(wanted, 1, n)
			} else whole = stack == wanted
			if (whole) good++; else { bad++; if (bad == 1) print "# " length(stack) " bytes, wanted " length(wanted) ": " substr(stack, 1, 300) }
		}
		END { print good + 0, bad + 0 }' "$1" "$2"
}

# shares SECONDS LEVELS: the shares of a function below LEVELS calls and of one below none, each of
# which computes for SECONDS, against the CPU time that they measure. Ticks come at regular times, so
# errors are smaller than binomial ones, of which one in a million is beyond 4.9 standard deviations.
shares() {
	local name="half of the time below $2 calls" stacks
	target_start host deep_shares "$1" "$2"
	prof_start "$TARGET_DIR/ours.out" -p "$TARGET_PID" || return
	target_go
	target_await_done
	prof_wait 300
	is "$PROF_STATUS" 0 "$name: profiled" || diag "$(cat "$PROF_OUT.err")"
	check_stats "$PROF_OUT.stats" "$name"
	is "$(stat_of "$PROF_OUT.stats" throttled)" 0 "$name: no tick is left out"
	stacks="of $(stat_of "$PROF_OUT.stats" written) stacks $(stat_of "$PROF_OUT.stats" over_budget) cut"
	stacks+=", the longest took $(stat_of "$PROF_OUT.stats" longest_sample_us) us"
	awk -v stacks="$stacks" '
		NR == FNR { took[NR] = $1; next }
		FNR == 1 { next }
		{ sub(/^("cpu_time" )/, "") }
		/^"below" / { below++ }
		/^"above" / { above++ }
		END {
			n = above + below; p = took[2] / (took[1] + took[2])
			z = n ? (below - n * p) / sqrt(n * p * (1 - p)) : 99
			printf "# %d of %d samples (%.4f), %.4f of the CPU time: %.2f standard deviations; %s\n",
				below, n, n ? below / n : 0, p, z, stacks
			exit !(n >= 100 && z > -4.9 && z < 4.9)
		}' "$TARGET_DIR/shares.txt" "$PROF_OUT"
	ok $? "$name: it has its share of the samples" || diag "$(cat "$PROF_OUT.err")"
}

if [ "${1:-}" = shares ]; then
	for levels in "${@:3}"; do shares "${2:-10}" "$levels"; done
	[ $# -gt 2 ] || for levels in 20 1500 2400 4900 32000; do shares "${2:-10}" "$levels"; done
	done_testing
	exit
fi
[ "$XRPROF_ENGINE" != bpf ] || shares 2 4900

loops=default
[ "$XRPROF_ENGINE" != bpf ] || loops="default 0"
for loop in $loops; do
	if [ "$loop" = 0 ]; then export XRPROF_BPF_LOOP=0; else unset XRPROF_BPF_LOOP; fi
	for kind in "calls 1500" "calls 10000" "mixed 1700"; do
		name="$kind"
		[ "$loop" = default ] || name="$kind, without bpf_loop"
		# shellcheck disable=SC2086  # two words
		deep_profile $kind
		ok $? "$name: profiled" || continue
		result=$(deep_compare "$TARGET_DIR/expected.txt" "$PROF_OUT" "")
		good=${result##*$'\n'}
		bad=${good#* }
		good=${good% *}
		[ "$good" -ge 20 ] && [ "$bad" -eq 0 ]
		ok $? "$name: every stack has all $(wc -l <"$TARGET_DIR/expected.txt") frames" ||
			diag "$result" "$(cat "$PROF_OUT.err" "$PROF_OUT.stats")"
		is "$(stat_of "$PROF_OUT.stats" truncated)" 0 "$name: truncated 0"
		# Reading 10,000 contexts from outside takes a while. What tore is not written.
		[ "$XRPROF_ENGINE" != bpf ] || is "$(unread_of "$PROF_OUT.stats")" 0 "$name: unreadable 0"
		check_stats "$PROF_OUT.stats" "$name"
		figure "$name: $good stacks of $(wc -l <"$TARGET_DIR/expected.txt") frames"
	done
	name="40000 calls"
	[ "$loop" = default ] || name="$name, without bpf_loop"
	deep_profile calls 40000
	ok $? "$name: profiled" || continue
	result=$(deep_compare "$TARGET_DIR/expected.txt" "$PROF_OUT" cut)
	good=${result##*$'\n'}
	bad=${good#* }
	good=${good% *}
	[ "$good" -ge 20 ] && [ "$bad" -eq 0 ]
	ok $? "$name: cut at the outermost end, and marked" || diag "$result" "$(cat "$PROF_OUT.err" "$PROF_OUT.stats")"
	is "$(stat_of "$PROF_OUT.stats" truncated)" "$(grep -c '"<truncated>" $' "$PROF_OUT")" "$name: every cut stack is counted"
	check_stats "$PROF_OUT.stats" "$name"
done
done_testing
