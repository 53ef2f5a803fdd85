#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include bpf engine/remote engine/bpf target session profile output
# also: ptrace vmread
# timeout: 900
#
# Labels that an R program sets, options(xrprof.labels = c(key = "value")): a program changes them
# thousands of times a second, and no sample has those of another moment. With engine bpf a forked
# child has its parent's labels, and then others. On this machine's R, on an R without libR.so and on
# the R of other Debian releases.
. "$(dirname "$0")/../lib/live.sh"

places=$(all_places host static bullseye trixie sid)
seconds=$(in_all_else 60 15)

for place in $places; do
	[ "$place" = host ] || part_needs "$place" image "$place" || continue
	forks=()
	[ "$XRPROF_ENGINE" != bpf ] || forks=(fork)
	target_start "$place" labels "$seconds" "${forks[@]}"
	prof_start_whole "$WORK/$place.pb.gz" -f pprof -F 997 --clock cpu -v -p "$TARGET_PID"
	ok $? "$place: the profiler starts"
	wait_until 120 eval 'grep -q "its labels are found" "$PROF_OUT.err" || gone "$PROF_PID"'
	target_go
	check "$place: R ends its work" target_await_done 300 || diag "$(tail -n 5 "$TARGET_ERR")"
	prof_wait
	said=$(python3 "$tests/lib/labels.py" "$PROF_OUT" 500 $((1 + ${#forks[@]})) 2>&1)
	status=$?
	figure "$place: $(head -n 1 <<<"$said")"
	ok $status "$place: each sample has the labels of its moment" || diag "$said" "$(cat "$PROF_OUT.err")"
	check_stats "$PROF_OUT.stats" "$place"
	# a file that is read has the same labels of samples
	"$XRPROF" report -f pprof -o "$WORK/again.pb.gz" "$PROF_OUT" 2>/dev/null
	is "$("$XRPROF" report --by lab --json "$WORK/again.pb.gz")" "$("$XRPROF" report --by lab --json "$PROF_OUT")" \
		"$place: the same labels when the profile is read and written"
	"$XRPROF" report -o "$WORK/labels.html" "$PROF_OUT" 2>/dev/null
	is "$(grep -o '\["lab","[^"]*"\]' "$WORK/labels.html" | cut -d'"' -f4 | sort -u)" \
		"$("$XRPROF" report --by lab --json "$PROF_OUT" | grep -o '"lab_[^"]*"' | tr -d '"' | sort -u)" \
		"$place: the page has them, too"
	target_kill
done
done_testing
