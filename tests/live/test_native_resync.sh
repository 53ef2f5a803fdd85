#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# engines: bpf ptrace
# images: trixie
# timeout: 300
#
# Code without unwind tables among R's functions: unwinding is taken up again by the jmp_buf that is in a context, so only the frames
# between are lost, and all others stand where they must. Where there is no such context (from R 4.4 on those of calls that byte code
# makes itself have none) <no-native> stands, with R's part outside of it. SAMPLES: so many at least, of each R (2,000).
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/nested.sh"

# shellcheck disable=SC2034 # nested_enough takes it
samples=${SAMPLES:-2000}

for place in ${XRPROF_PLACES:-host trixie}; do
	check "$place: the library is built" nested_library "$place"
	check "$place: and one without unwind tables" nested_library "$place" bare
	is "$(readelf -wF "$WORK/bare-$place.so" 2>/dev/null | grep -c FDE)" 0 "$place: which has none"
	target_start "$place" nested_calls "$WORK/nested-$place.so" "$WORK/bare-$place.so"
	prof_start "$TARGET_DIR/ours" -F 1999 --native=full -p "$TARGET_PID" || bail "the profiler does not start: $(cat "$PROF_OUT.err")"
	check "$place: it is profiled" wait_until 120 nested_enough
	prof_stop
	is "$PROF_STATUS" 0 "$place: the profiler ends" || diag "$(cat "$PROF_OUT.err")"
	target_kill
	said=$(python3 "$tests/lib/nested.py" "$PROF_OUT" bare 2>&1)
	ok $? "$place: each C function stands between the right R functions" || diag "$said"
	is "$(nested_stat keys_descended)" 0 "$place: contexts come in the order of their frames"
	read -r whole all < <(nested_whole)
	resynced=$(nested_stat resynced)
	figure "$place: $(head -n 1 <<<"$said"); $resynced taken up again, $whole of $all whole"
	[ $((10 * resynced)) -ge "$all" ]
	ok $? "$place: stacks are taken up again: $resynced of $all"
	# all contexts of R before 4.4 have a jmp_buf; what takes too long on a busy machine is cut (ptrace)
	least=50
	[ "$place" != host ] || ! Rscript -e 'quit(status = getRversion() >= "4.4")' || least=95
	[ $((100 * whole)) -ge $((least * all)) ]
	ok $? "$place: $whole of $all go to the outermost frame, of $least % at least"
done
done_testing
