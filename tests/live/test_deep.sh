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
. "$(dirname "$0")/../lib/live.sh"

TARGET_WRAP=(prlimit --stack=unlimited)
TARGET_OPTIONS=(--max-ppsize=500000)

freq=99
[ "$XRPROF_ENGINE" = bpf ] || freq=29 # ptrace stops the program while 10,000 contexts are read

# deep_profile KIND LEVELS: profile it for a second or two at the bottom. It may take its time.
deep_profile() {
	target_start host deep 2 "$@"
	prof_start_whole "$TARGET_DIR/ours.out" -F $freq --max-sample-time 1000000 -p "$TARGET_PID" || return 1
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

loops=default
[ "$XRPROF_ENGINE" != bpf ] || loops="default 0"
for loop in $loops; do
	if [ "$loop" = 0 ]; then export XRPROF_BPF_LOOP=0; else unset XRPROF_BPF_LOOP; fi
	for stack in "calls 1500" "calls 10000" "mixed 1700" "calls 40000 cut"; do
		read -r kind levels cut <<<"$stack"
		name="$kind $levels"
		[ "$loop" = default ] || name="$name, without bpf_loop"
		deep_profile "$kind" "$levels"
		ok $? "$name: profiled" || continue
		result=$(deep_compare "$TARGET_DIR/expected.txt" "$PROF_OUT" "$cut")
		read -r good bad <<<"${result##*$'\n'}"
		[ "$good" -ge 20 ] && [ "$bad" -eq 0 ]
		ok $? "$name: every stack has all $(wc -l <"$TARGET_DIR/expected.txt") frames${cut:+ except the outermost, and a mark}" ||
			diag "$result" "$(cat "$PROF_OUT.err" "$PROF_OUT.stats")"
		is "$(stat_of "$PROF_OUT.stats" truncated)" "$(grep -c '"<truncated>" $' "$PROF_OUT")" "$name: every cut stack is counted"
		[ -n "$cut" ] || is "$(stat_of "$PROF_OUT.stats" truncated)" 0 "$name: truncated 0"
		# Reading 10,000 contexts from outside takes a while. What tore is not written.
		[ -n "$cut" ] || [ "$XRPROF_ENGINE" != bpf ] || is "$(unread_of "$PROF_OUT.stats")" 0 "$name: unreadable 0"
		check_stats "$PROF_OUT.stats" "$name"
		figure "$name: $good stacks"
	done
done
done_testing
