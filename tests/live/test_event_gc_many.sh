#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: engine/bpf session
# engines: bpf
# timeout: 300
#
# --event gc of many processes one after another, while all are profiled: each is watched from its start, and who watches does
# not keep a watchpoint for each that has ended.
. "$(dirname "$0")/../lib/live.sh"

unset R_DEFAULT_PACKAGES # live.sh sets it: with its packages R has collected before the program begins
processes=100 # more than are watched before it is looked which have ended
prof_start_whole "$WORK/many.folded" --all --event gc -f folded
ok $? "it is ready"

# The next collection reports what was allocated after the last one.
program='allocates <- function() { for (i in 1:300) numeric(5e4); gc() }; for (i in 1:5) allocates(); cat(Sys.getpid(), "\n")'
watched() {
	find "/proc/$PROF_PID/fd" -lname '*perf_event*' 2>/dev/null | wc -l
}
most=0
for ((i = 0; i < processes; i += 2)); do
	R --vanilla --no-echo -e "$program" >"$WORK/r$i.pid" 2>"$WORK/r.err" </dev/null &
	other=$!
	R --vanilla --no-echo -e "$program" >"$WORK/r$i.other.pid" 2>"$WORK/r.err" </dev/null
	wait "$other"
	now=$(watched)
	[ "$now" -le "$most" ] || most=$now
done
cat "$WORK"/r*.pid >"$WORK/pids"
is "$(grep -c . "$WORK/pids")" "$processes" "all programs ran" || diag "$(cat "$WORK/r.err")"
prof_stop
is "$PROF_STATUS" 0 "exit status 0" || diag "$(cat "$PROF_OUT.err")"

# 600 MB each, and what R needs besides
awk 'NR == FNR { pid[$1]; next } { split($1, root, ";"); n = split(root[1], part, "-"); if (part[n] in pid && /;allocates/) bytes[part[n]] += $NF }
	END {
		for (p in pid) {
			none += !bytes[p]
			whole += bytes[p] >= 590e6 && bytes[p] <= 640e6
			if (bytes[p] < 590e6 || bytes[p] > 640e6)
				print p, bytes[p] + 0
		}
		print whole, none + 0 >"/dev/stderr"
	}' "$WORK/pids" "$PROF_OUT" >"$WORK/off" 2>"$WORK/whole"
read -r whole none <"$WORK/whole"
# One that lives for a third of a second may be over before it is found, where the machine stands still as long.
[ "$none" -le $((processes / 20)) ]
ok $? "they have their collections" || diag "$(cat "$WORK/off")"
[ "$whole" -ge $((processes * 9 / 10)) ]
ok $? "and their bytes" || diag "$(cat "$WORK/off")"
figure "$whole of $processes processes whole, $none not seen, at most $most perf events at once"
[ "$most" -le 80 ] && [ "$most" -ge 1 ]
ok $? "those that have ended are watched no longer"
done_testing
