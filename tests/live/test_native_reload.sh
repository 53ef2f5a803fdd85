#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: session engine/bpf target native
# engines: bpf
# timeout: 300
#
# A library is unloaded and another is mapped at its place: from then on its functions have its
# names. No sample has an address that is not mapped yet, so the kernel must notify the profiler of
# the mapping.
. "$(dirname "$0")/../lib/live.sh"

for name in first second; do
	check "the library $name" cc -O1 -shared -fPIC -DNAME=${name}_burn -o "$WORK/$name.so" "$tests/fixtures/reload.c"
done
target_start host native_reload "$WORK/first.so" "$WORK/second.so"

# shown PHASE NAME: samples of PHASE with the function NAME
shown() {
	grep "\"$1\"" "$PROF_OUT" 2>/dev/null | grep -c "\"$2\""
}
shows() { # shows PHASE NAME: a hundred of them
	[ "$(shown "$1" "$2")" -ge 100 ]
}

prof_start "$TARGET_DIR/ours" -F 999 --native=full -p "$TARGET_PID" || bail "the profiler does not start: $(cat "$PROF_OUT.err")"
check "the first library's function is shown" wait_until 60 shows phase_1 first_burn
: >"$TARGET_DIR/go"
check "the other's, when that has taken its place" wait_until 60 shows phase_2 second_burn
prof_stop
target_kill
is "$(cat "$TARGET_DIR/place.2")" "$(cat "$TARGET_DIR/place.1")" "it is where the first was"
stale=$(shown phase_2 first_burn)
figure "$(shown phase_2 second_burn) samples have the new name; $stale, until it was known, had the old one"
is "$(grep '"phase_2"' "$PROF_OUT" | tail -n 100 | grep -c '"first_burn"')" 0 "the last hundred have none of the first"
is "$(grep '"phase_1"' "$PROF_OUT" | grep -c '"second_burn"')" 0 "and those before none of the second"
check_stats "$PROF_OUT.stats" "reloading"
done_testing
