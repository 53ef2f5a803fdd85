#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: include bpf engine/remote session target native
# engines: bpf ptrace
# images: bullseye trixie sid
# timeout: 600
#
# C and C++ functions that R calls and that call R, up to eight levels deep (.Call, .External, .C, C++ exceptions across
# R_UnwindProtect(), R_ToplevelExec(), R_tryEval(), libc's qsort(), errors that go out through all of them): each stands
# between the right R functions, in every sample. With frames of signal handlers on top, and a thread beside. On this
# machine's R and those of other releases. SAMPLES: the least number, of each (2,000).
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/nested.sh"

places=${XRPROF_PLACES:-host bullseye trixie sid}
# shellcheck disable=SC2034 # nested_enough takes it
samples=${SAMPLES:-2000}

# nested_run PLACE WITH: one profile, of a program WITH signals, a thread or nothing
nested_run() {
	local place=$1 with=$2
	target_start "$place" nested_calls "$WORK/nested-$place.so" "$with"
	prof_start "$TARGET_DIR/ours" -v -F 1999 --native=full --max-sample-time 1000000 -p "$TARGET_PID" || return 1
	check "$place, $with: it is profiled" wait_until 120 nested_enough "$with"
	prof_stop
	is "$PROF_STATUS" 0 "$place, $with: the profiler ends" || diag "$(cat "$PROF_OUT.err")"
	target_kill
	nested_right "$place, $with"
	figure "$place, $with: $(head -n 1 <<<"$SAID"); $(nested_stat moved) that moved"
	is "$(nested_stat keys_descended)" 0 "$place, $with: contexts come in the order of their frames"
	nested_whole "$place, $with"
	case $with in
	signals) check "$place: the frame of a signal is gone through" grep -q '"handler_burn" "__restore_rt"' "$PROF_OUT" ;;
	thread)
		# with R's functions outside of them, while R's thread waits for a CPU, and else <other-thread>
		[ "$XRPROF_ENGINE" != bpf ] || {
			check "$place: a thread beside R has its own functions" grep -q '"thread_burn" ' "$PROF_OUT"
			! grep -qE '"thread_burn" "[a-z]+_c[0-9]' "$PROF_OUT"
			ok $? "$place: and not those that R calls"
		}
		;;
	esac
}

for place in $places; do
	check "$place: the library is built" nested_library "$place"
	nested_run "$place" nothing
	[ "$place" != host ] || for with in signals thread; do nested_run host $with; done
done
done_testing
