#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: include bpf engine/remote target native
# engines: bpf ptrace
# images: trixie
# timeout: 300
#
# Code without unwind tables among R's functions: unwinding is taken up again by the jmp_buf that is in a context, so only the frames
# between are lost, and all others stand where they must. Where there is no such context (from R 4.4 on those of calls that byte code
# makes itself have none) <no-native> stands, with R's part outside of it. SAMPLES: the least
# number, of each R (2,000).
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/nested.sh"

for place in ${XRPROF_PLACES:-host trixie}; do
	check "$place: the library is built" nested_library "$place"
	check "$place: and one without unwind tables" nested_library "$place" bare
	is "$(readelf -wF "$WORK/bare-$place.so" 2>/dev/null | grep -c FDE)" 0 "$place: which has none"
	nested_profile "$place" "$place" "$WORK/bare-$place.so" bare
	check "$place: stacks are taken up again" [ "$(nested_stat resynced)" -gt 0 ]
	# all contexts of R before 4.4 have a jmp_buf
	case $(cat "$TARGET_DIR/version") in
	3.* | 4.[0-3].*) nested_whole "$place" ;;
	*) nested_whole "$place" no_table ;;
	esac
done
done_testing
