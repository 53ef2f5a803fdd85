#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include bpf engine/remote engine/bpf target session profile output
# also: ptrace vmread
# timeout: 900
#
# Labels that an R program sets, options(xrprof.labels = c(key = "value")): a program changes them a
# million times (of make test 100,000 times), and no sample has those of another moment, also if they
# are where the labels before them were. With engine bpf a forked child has its parent's labels, and
# then others. live:spin and live:stop compare the labels of single samples with R's option, on the
# R of other releases too.
. "$(dirname "$0")/../lib/live.sh"

forks=()
[ "$XRPROF_ENGINE" != bpf ] || forks=(fork)
target_start host labels "$(in_all_else 1000000 100000)" "${forks[@]}"
prof_start_whole "$WORK/labels.pb.gz" -f pprof -F 997 --clock cpu -v -p "$TARGET_PID"
ok $? "the profiler starts"
wait_until 120 eval 'grep -q "its labels are found" "$PROF_OUT.err" || gone "$PROF_PID"'
target_go
check "R ends its work" target_await_done 600 || diag "$(tail -n 5 "$TARGET_ERR")"
is "$(cat "$TARGET_DIR/again")" 40 "labels are where those before them were"
prof_wait
said=$(python3 "$tests/lib/labels.py" "$PROF_OUT" 500 $((1 + ${#forks[@]})) 2>&1)
status=$?
figure "$(cat "$TARGET_DIR/changes") changes: $(head -n 1 <<<"$said")"
ok $status "each sample has the labels of its moment" || diag "$said" "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "labels"
# a file that is read has the same labels of samples
"$XRPROF" report -f pprof -o "$WORK/again.pb.gz" "$PROF_OUT" 2>/dev/null
is "$("$XRPROF" report --by lab --json "$WORK/again.pb.gz")" "$("$XRPROF" report --by lab --json "$PROF_OUT")" \
	"the same labels when the profile is read and written"
done_testing
