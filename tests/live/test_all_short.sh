#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf session target
# timeout: 900
# engines: bpf
# alone: live
# images: trixie bullseye
#
# 300 short-lived R programs of three versions, on the host and in containers, one after another and several at a time:
# each is seen in its own function, none in another's, and nothing is left of them.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

serial=60
total=300
places=(host trixie bullseye)

# Each has its own function, and computes in it for 0.12 s of CPU time.
cat >"$WORK/short.R" <<-'R'
	name <- paste0("short_", commandArgs(trailingOnly = TRUE)[[1L]], "_f")
	assign(name, function() {
	    x <- 0
	    while (sum(proc.time()[1:2]) < until) for (i in 1:2000) x <- x + sqrt(i)
	})
	until <- sum(proc.time()[1:2]) + 0.12
	eval(as.call(list(as.name(name))))
R
for i in "${!places[@]}"; do
	target_command "${places[$i]}" || bail "no image ${places[$i]}"
	{
		echo '#!/bin/sh'
		printf 'exec'
		printf ' %q' "${target_argv[@]}" -f "$WORK/short.R" --args
		echo ' "$1" </dev/null >/dev/null'
	} >"$WORK/run$i"
	chmod +x "$WORK/run$i"
done

all_start "$WORK/out" -a
ok $? "the profiler starts" || { done_testing; exit 1; }

for ((i = 0; i < serial; i++)); do
	"$WORK/run$((i % 3))" $i 2>>"$WORK/errors"
done
# shellcheck disable=SC2016
seq $serial $((total - 1)) | xargs -P 6 -n 1 sh -c '"$0/run$(($1 % 3))" "$1"' "$WORK" 2>>"$WORK/errors"
is "$(cat "$WORK/errors")" "" "all $total programs ran"
check "no row is left of a process that ended" wait_until 60 no_stale_rows "$PROF_PID" || diag "$(stale_rows "$PROF_PID")"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$WORK/out.stats" "short"
is "$(lost_of "$WORK/out.stats")" 0 "nothing was lost"

# "PID NUMBER" of all that was seen
grep -oE '^[^;]*-[0-9]+;.*short_[0-9]+_f' "$WORK/out" | sed -E 's/^[^;]*-([0-9]+);.*short_([0-9]+)_f$/\1 \2/' |
	sort -u >"$WORK/seen"
seen=$(cut -d' ' -f2 "$WORK/seen" | sort -u | wc -l)
# A tick falls every 10.1 ms of a CPU, so 0.12 s are missed about once in 10^6 programs.
[ "$seen" -ge $((total - 2)) ]
ok $? "$seen of $total programs were seen in their own functions"
is "$(cut -d' ' -f1 "$WORK/seen" | sort | uniq -d | wc -l)" 0 "no process has functions of two programs"
is "$(cut -d' ' -f2 "$WORK/seen" | sort | uniq -d | wc -l)" 0 "no program's function is seen in two processes"

# How long after R had begun (R_GlobalContext was set) its first sample could have come: upper bounds, by the profiler's
# own clock.
cut -d' ' -f1 "$WORK/seen" | sort -u >"$WORK/pids"
sed -nE 's/.*process ([0-9]+) \(.*began at most ([0-9.]+) ms ago$/\1 \2/p' "$WORK/out.err" | sort |
	join - "$WORK/pids" | cut -d' ' -f2 | sort -n >"$WORK/late"
n=$(wc -l <"$WORK/late")
figure "short: $seen of $total seen; of $n that were waited for, sampled at most $(sed -n "$((n / 2 + 1))p" "$WORK/late") ms" \
	"(median), $(sed -n "$((n * 9 / 10 + 1))p" "$WORK/late") ms (9 of 10), $(tail -n 1 "$WORK/late") ms (largest) after R began"
[ "$n" -ge $((total / 2)) ]
ok $? "most were found before R had begun ($n)"
done_testing
