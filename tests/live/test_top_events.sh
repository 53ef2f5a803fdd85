#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd profile
# timeout: 300
# engines: bpf
#
# `top --event`: a program allocates, computes and rests in separate functions. Each sample type has
# its function, with shares of that type. (Units, titles and the key v: unit:cmd/linux/top_text.)
. "$(dirname "$0")/../lib/live.sh"

target_start host top_events

# top ARG...: of the program, as text; sets OUT, STATUS
top() {
	OUT=$(timeout -k 5 120 "$XRPROF" top -q -e "$XRPROF_ENGINE" -p "$TARGET_PID" "$@" 2>"$WORK/err" </dev/null)
	STATUS=$?
}

# share FUNCTION: TOTAL% of it in the last table of OUT; 0: it is not there
share() {
	awk -v f="$1" '/^xrprof-bpf top/ { got = 0 } $NF == f && $2 ~ /^[0-9.]+$/ { got = $2 } END { print got + 0 }' <<<"$OUT"
}

# is_most NAME FUNCTION, is_little NAME FUNCTION: nine tenths at least, or a twentieth at most
is_most() {
	check "$1" awk "BEGIN { exit !($(share "$2") >= 90) }" || diag "$OUT"
}
is_little() {
	check "$1" awk "BEGIN { exit !($(share "$2") <= 5) }" || diag "$OUT"
}

# --- as plain text ---

# Both are what the same function does, in other units; what computes has neither.
top --batch 2 --interval 3 --event page-faults --event gc
is "$STATUS" 0 "events: exit status" || diag "$(cat "$WORK/err")"
like "$OUT" ' FUNCTION by page-faults' "the first is shown"
is_most "page faults are those of the function that allocates" allocating
is_little "and not of what computes" computing

# R's counts are proven meanwhile
top --batch 2 --interval 3 --event page-faults --event gc --sample-type gc
like "$OUT" $'\n[0-9.]+ [KMG]iB gc in the last [0-9]+ s\n\*SELF%.* FUNCTION by gc\n' "collections, in bytes"
is_most "bytes are those of the function that allocates" allocating
is_little "and not of what computes" computing

top --batch 1 --interval 3 --event cpu-clock --off-cpu --memory --sample-type cpu-clock
check "what computes has some" awk "BEGIN { exit !($(share computing) > 0) }" || diag "$OUT"
top --batch 1 --interval 3 --event cpu-clock --off-cpu --memory --sample-type off_cpu
check "waiting beside it is what rests" awk "BEGIN { exit !($(share resting) > 0) }" || diag "$OUT"
libR=$(sed -n 's/.* \(\/.*\/libR\.so.*\)$/\1/p' "/proc/$TARGET_PID/maps" | head -n 1)
top --batch 1 --interval 3 --event "uprobe:$libR:R_ProcessEvents" --period 1
is "$STATUS" 0 "a function of a file: exit status" || diag "$(cat "$WORK/err")"

# --- what is refused ---

top --batch 1 --event cs --sample-type cpu
is "$STATUS" 2 "no such sample type: exit status"
like "$(cat "$WORK/err")" 'it has: cs .*events need --event' "no such sample type: which there are"
done_testing
