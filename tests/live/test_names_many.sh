#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: base profile session
# timeout: 600
# engines: bpf
# alone: live
#
# A million functions with different names: the profiler's memory is flat once the processes that
# had them are gone, and bounded while one runs that has more names than there is room for; no name
# is lost without being counted. XRPROF_HOUR=1 (make soak): a million in an hour, by twelve
# processes that live ten minutes each.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

helper=$WORK/all_fork.so
fixture "$helper" all_fork.c -shared -fPIC
# more than a function of each name takes: 150 bytes, of which one process may have half of 12/32
memory=256M
rounds=8 chains=300 big=6500 pace=0
[ -z "${XRPROF_HOUR-}" ] || { rounds=6 chains=834 big=0 pace=0.72; }
made=$((rounds * 2 * chains * 100)) made_big=$((big * 100))
target_start host names_many "$helper" $rounds $chains $big $pace
PROF_OUT=$WORK/out
prof_to "$PROF_OUT" folded # what goes to a file is kept until there is much of it
env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -F 3999 -s -v -f folded --max-memory $memory -o "$PROF_TO" --stats "$PROF_OUT.stats" \
	-p "$TARGET_PID" >"$PROF_OUT.stdout" 2>"$PROF_OUT.err" </dev/null &
PROF_PID=$!
live_pids+=("$PROF_PID")
wait_until 60 all_knows "$TARGET_PID"
ok $? "the profiler starts" || { diag "$(cat "$PROF_OUT.err")"; done_testing; exit 1; }

# private_kb PID: the memory it has for itself: what of the ring was ever touched is not in it.
private_kb() {
	awk '$1 == "RssAnon:" { print $2 }' "/proc/$1/status"
}
start=$(private_kb "$PROF_PID")
start_all=$(rss_kb "$PROF_PID")

# peak_kb PID: the most resident memory there was.
peak_kb() {
	awk '$1 == "VmHWM:" { print $2 }' "/proc/$1/status"
}
# flat: what has ended was given back. malloc() keeps some of what the busiest moment took, one round's names at most;
# the names of all rounds are 50 MiB.
flat() {
	private[round]=$(private_kb "$PROF_PID")
	[ $((private[round] - start)) -le $((24 * 1024)) ]
}

target_go
for ((round = 1; round <= rounds; round++)); do
	wait_until 1000 test -e "$TARGET_DIR/round.$round" || break
	wait_until 60 flat
	: >"$TARGET_DIR/seen.$round"
done
peak=$(peak_kb "$PROF_PID")
wait_until 200 eval '[ -e "$TARGET_DIR/big" ] || gone "$TARGET_JOB"'
peak_big=$(peak_kb "$PROF_PID")
: >"$TARGET_DIR/end"
target_await_done
ok $? "all names were made" || diag "$(cat "$TARGET_ERR")"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$PROF_OUT.stats" "names"
figure "names: private memory at the start $start KiB, after each round of $((chains * 200)) names: ${private[*]} KiB; resident at most $peak KiB"
[ $big -eq 0 ] || figure "names: at most $peak_big KiB with one process of $made_big names"

most=0
for ((round = 1; round <= rounds; round++)); do
	[ "${private[round]:-999999}" -le "$most" ] || most=${private[round]:-999999}
done
[ $((most - start)) -le $((24 * 1024)) ]
ok $? "memory is flat when the processes are gone (at most $((most - start)) KiB more than at the start, after any of $rounds rounds)"
# limits.h, of 256 MiB: LIMIT_NAMES 96 MiB, of which one process may have half, LIMIT_MADE_ONE 48 MiB, LIMIT_AGGREGATE 48 MiB, of which it lets
# go half; what tables need while they grow comes on top, and
# the ring, whose pages count once they were read
[ $((peak_big - start_all)) -le $(((48 + 48 + 48 + 32) * 1024)) ]
ok $? "and stays within its limit while a process has more names than it may ($((peak_big - start_all)) KiB more than at the start)"

# Every name in the profile is whole; those that are not are counted.
awk '{
	sub(/ [0-9]+$/, ""); n = split($0, frame, ";")
	for (i = 2; i <= n; i++) {
		if (frame[i] ~ /^own_[0-9]+_[0-9]+_[0-9]+$/) { if (!(frame[i] in seen)) { seen[frame[i]] = 1; names++ } }
		else if (frame[i] ~ /^<(0x[0-9a-f]+|no-room)>$/) nameless++
	}
} END { print names + 0, nameless + 0 }' "$PROF_OUT" >"$WORK/count"
read -r names nameless <"$WORK/count"
dropped=$(stat_of "$PROF_OUT.stats" names_dropped)
unnamed=$(stat_of "$PROF_OUT.stats" unnamed)
figure "names: $names of $((made + made_big)) seen whole, $dropped dropped, $nameless frames without, $unnamed unnamed;" \
	"$(stat_of "$PROF_OUT.stats" written) samples, $(stat_of "$PROF_OUT.stats" lost) lost"
[ "$names" -ge $(((made + made_big / 3) * 98 / 100)) ]
ok $? "names were kept ($names)"
[ "$dropped" -ge $(($(stat_of "$PROF_OUT.stats" symbols) - names - 20000)) ]
ok $? "each that was not is counted: of $(stat_of "$PROF_OUT.stats" symbols) that were sent $names are shown, $dropped were dropped"
if [ $big -gt 0 ]; then
	[ "$dropped" -gt 0 ]
	ok $? "names were dropped"
	like "$(tail -n 3 "$PROF_OUT.err")" "memory was full for $dropped names" "the last line has it"
else
	is "$dropped" 0 "no name was dropped"
fi
is "$(stat_of "$PROF_OUT.stats" malformed)" 0 "no record was malformed"
done_testing
