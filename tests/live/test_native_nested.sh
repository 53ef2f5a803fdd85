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

# nested_run PLACE WITH: one profile, of a program WITH signals, a thread or nothing
nested_run() {
	local place=$1 with=$2
	nested_profile "$place, $with" "$place" "$with"
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

for place in ${XRPROF_PLACES:-host bullseye trixie sid}; do
	check "$place: the library is built" nested_library "$place"
	nested_run "$place" nothing
	[ "$place" != host ] || for with in signals thread; do nested_run host $with; done
done
done_testing
