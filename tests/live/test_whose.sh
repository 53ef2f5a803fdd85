#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: include bpf engine/remote
# engines: bpf
# images: trixie sid
# timeout: 300
#
# Whose stack is it? In a process of several threads the samples of R's thread have its stack, and those of other
# threads do not, whatever R executes: a loop at top level, a function, a loop of events, R on a thread that is not the
# first. The profiler begins before the loop or in the middle of it, without waits and with them. XRPROF_PLACES: which R.
. "$(dirname "$0")/../lib/live.sh"

ROUNDS=10 # each has work() and a pause() of 0.02 s
kinds=({top,function,events}\ {1,2,10} embedded\ {2,10})
fixture "$WORK/whose.so" whose.c -shared -fPIC -pthread -ldl
fixture "$WORK/whose" whose.c -pthread -ldl

# group PLACE WHEN [OPTION...]: one R for each kind of loop and number of threads, all in one profile. The loop
# `embedded` is one at top level, of R on the last thread.
group() {
	local name="R of $1, $2${3:+ $3}" place=$1 when=$2 kind loop threads tid wrong pids=() dirs=() jobs=()
	shift 2
	for kind in "${kinds[@]}"; do
		read -r loop threads <<<"$kind"
		TARGET_OPTIONS=()
		[ "$loop" != embedded ] || TARGET_OPTIONS=(CMD "$WORK/whose" "$threads")
		target_launch "$place" whose "$loop" "$threads" "$WORK/whose.so" "$when" "$ROUNDS" || bail "no R of $place"
		dirs+=("$TARGET_DIR") jobs+=("$TARGET_JOB")
	done
	: >"$WORK/cases"
	for kind in "${!kinds[@]}"; do
		TARGET_DIR=${dirs[kind]} TARGET_JOB=${jobs[kind]} TARGET_ERR=${dirs[kind]}/stderr
		target_await_ready || bail "$name: ${kinds[kind]} does not start"
		pids+=("$TARGET_PID") tid=$TARGET_PID
		[[ ${kinds[kind]} != embedded* ]] || tid=$(grep -lx runs-R "/proc/$TARGET_PID/task"/*/comm | cut -d / -f 5)
		echo "$TARGET_PID $tid $name: ${kinds[kind]} threads" >>"$WORK/cases"
	done
	prof_start_whole "$WORK/out.pb.gz" -F 499 -p "$(IFS=, && echo "${pids[*]}")" "$@"
	touch "${dirs[@]/%//go}"
	for TARGET_DIR in "${dirs[@]}"; do
		target_await_done
	done
	prof_wait
	is "$PROF_STATUS" 0 "$name: exit status 0" || diag "$(cat "$PROF_OUT.err")"
	while IFS=$'\t' read -r kind wrong; do
		is "$wrong" "" "$kind"
	done < <(python3 "$tests/live/whose.py" "$WORK/out.pb.gz" "$WORK/cases" "${1:+0.2}" 2>"$WORK/figures")
	figure "$name: $(cat "$WORK/figures")"
}

for place in $(all_places host trixie sid); do
	for when in before middle; do
		group "$place" "$when"
		group "$place" "$when" --off-cpu
	done
done
done_testing
