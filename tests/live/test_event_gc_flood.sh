#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: bpf engine/bpf
# engines: bpf
#
# --event gc of a process that writes R's flag all the time, as if it did nothing but collect, beside one that is good: the
# first has a bounded number of samples, the good one all its bytes, and nothing is lost.
. "$(dirname "$0")/../lib/live.sh"

if ! "$XRPROF" info | grep -q '^collections .*  a watchpoint'; then
	skip "no watchpoint sees a write here" "a flood of writes"
	done_testing
	exit
fi
fixture "$WORK/gc_variables" gc_variables.c -I "$tests/../src" -I "$tests/../include" "$BUILD/libxrprof.a" -lelf -lcapstone -liberty -llzma -lz
fixture "$WORK/gc_flood.so" gc_flood.c -shared -fPIC
read -r flag size small < <("$WORK/gc_variables" "$(R RHOME)/lib/libR.so")
check "R's variables are found" [ "${small:-0}" -gt 0 ]

target_start host gc_flood "$WORK/gc_flood.so" "$flag" "$size" "$small"
hostile=$TARGET_PID hostile_dir=$TARGET_DIR
target_start host gc_flood
prof_start_whole "$WORK/flood.folded" -v -f folded --event gc -p "$hostile,$TARGET_PID"
for pid in "$hostile" "$TARGET_PID"; do
	check "R's counts are proven" wait_until 120 eval 'grep -q "process $pid: R.s memory counts are at" "$PROF_OUT.err" || gone "$PROF_PID"'
done
: >"$hostile_dir/go"
target_go
check "the good one ends" target_await_done
check "the other one ends" wait_until 120 test -e "$hostile_dir/done"
prof_stop
is "$PROF_STATUS" 0 "exit status 0" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "flood"
is "$(stat_of "$PROF_OUT.stats" lost)" 0 "nothing is lost"
bytes=$(awk -v pid="$TARGET_PID" 'index($1, "-" pid ";") && /;allocates;/ { n += $NF } END { print n + 0 }' "$PROF_OUT")
[ "$bytes" -ge 720000000 ] && [ "$bytes" -le 760000000 ]
ok $? "the good one has its bytes" || diag "$bytes" "$(head -n 5 "$PROF_OUT")"
samples=$(stat_of "$PROF_OUT.stats" written) throttled=$(stat_of "$PROF_OUT.stats" throttled)
[ "$samples" -le 65000 ]
ok $? "samples are bounded: twenty thousand a second"
# How many are left out is up to the machine: on a slow one few come sooner than 50 us after another.
times=$(cat "$hostile_dir/times.txt")
[ $((samples + throttled)) -ge $((times - 1)) ]
ok $? "and the others are counted: of $times writes all but the first" || diag "$samples samples, $throttled throttled"
figure "$times writes, $samples samples, $throttled throttled, of the good one $bytes bytes"
done_testing
