#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: include bpf engine/remote
# engines: bpf
# images: trixie sid
# timeout: 300
#
# usage: tests/live/test_whose.sh [all]
#
# Whose stack is it? R in a process with other threads is sampled as R, and the others are not, whatever R executes: a loop at
# top level, a function, a loop of events, R on a thread that is not the first. The profiler comes before the loop or in its
# midst. By default a few of all cases; `all`: each with 1, 2 and 10 threads, on each release, without waits and with them.
. "$(dirname "$0")/../lib/live.sh"

ROUNDS=10
check "the library builds" cc -O1 -shared -fPIC -pthread -o "$WORK/whose.so" "$tests/fixtures/whose.c" -ldl &&
	check "and the program" cc -O1 -pthread -o "$WORK/whose" "$tests/fixtures/whose.c" -ldl || {
	done_testing
	exit 1
}

# one PLACE LOOP THREADS WHEN [OPTION...]: LOOP `embedded` is top in another thread
one() {
	local place=$1 loop=$2 threads=$3 when=$4 name="R of $1, $2, $3 threads, $4" tid waited=0 said
	shift 4
	[[ " $* " != *\ --off-cpu\ * ]] || { name+=", waits"; waited=$(awk "BEGIN { print $ROUNDS * 0.02 }"); }
	if [ "$loop" = embedded ]; then
		embedded_start "$place" "$threads" "$when"
	else
		target_start "$place" whose "$loop" "$threads" "$WORK/whose.so" "$when" "$ROUNDS"
	fi
	tid=$TARGET_PID
	[ "$loop" != embedded ] || tid=$(ls "/proc/$TARGET_PID/task" | sort -n | tail -n 1)
	prof_start_whole "$WORK/out.pb.gz" -F 499 -p "$TARGET_PID" "$@"
	target_go
	target_await_done || diag "$(cat "$TARGET_ERR")"
	prof_wait
	said=$(python3 "$tests/live/whose.py" "$WORK/out.pb.gz" "$tid" "$TARGET_PID" "$waited")
	grep '^# figure' <<<"$said"
	is "$PROF_STATUS $(grep -v '^#' <<<"$said")" "0 " "$name" || diag "$(cat "$PROF_OUT.err")"
	wait "$TARGET_JOB" 2>/dev/null
}

# As target_start, for the program `whose`.
embedded_start() {
	local place=$1 threads=$2 when=$3 home=/usr/lib/R
	[ "$place" != host ] || home=$(R RHOME)
	target_command "$place" || bail "no image $place"
	target_count=$((target_count + 1))
	TARGET_DIR=$WORK/target$target_count
	TARGET_ERR=$TARGET_DIR/stderr
	mkdir -p "$TARGET_DIR"
	cp "$tests"/live/r/*.R "$TARGET_DIR"
	# all before R itself and its options
	target_argv=("${target_argv[@]:0:${#target_argv[@]}-3}" env "R_HOME=$home" "LD_LIBRARY_PATH=$home/lib" "$WORK/whose"
		"$home/lib/libR.so" "$TARGET_DIR/whose.R" "$threads" "$TARGET_DIR" top "$threads" "" "$when" "$ROUNDS")
	env --default-signal "${target_argv[@]}" >"$TARGET_DIR/stdout" 2>"$TARGET_ERR" </dev/null &
	TARGET_JOB=$!
	live_pids+=("$TARGET_JOB")
	target_await_ready || bail "R does not start in another thread"
}

if [ "${1:-}" = all ]; then
	for place in host trixie sid; do
		for loop in top function events embedded; do
			for threads in 1 2 10; do
				[ "$loop $threads" != "embedded 1" ] || continue
				for when in before middle; do
					one "$place" "$loop" "$threads" "$when"
					one "$place" "$loop" "$threads" "$when" --off-cpu
				done
			done
		done
	done
else
	one trixie top 2 middle --off-cpu
	one sid top 10 middle --off-cpu
	one sid top 2 before --off-cpu
	one sid events 2 middle --off-cpu
	one trixie function 10 before --off-cpu
	one host top 2 middle --off-cpu
	one sid embedded 2 middle --off-cpu
	one host embedded 10 before --off-cpu
fi
done_testing
