# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the benchmarks share. Source it after tests/lib/live.sh.

# shellcheck disable=SC2154
bench=$tests/bench
meter=$BUILD/meter
[ -x "$meter" ] || bail "$meter is not there: run make bench"
[ "$XRPROF_ENGINE" = bpf ] || bail "this measures the BPF engine"
program=sample_loop
# R as people start it
unset R_DEFAULT_PACKAGES

# median: of the numbers on standard input
median() {
	sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# bench_target PROGRAM ARG...: start tests/bench/PROGRAM.R
bench_target() {
	local name=$1
	shift
	target_count=$((target_count + 1))
	TARGET_DIR=$WORK/target$target_count
	mkdir -p "$TARGET_DIR"
	cp "$tests"/live/r/common.R "$bench"/*.R "$TARGET_DIR"
	mkfifo "$TARGET_DIR/turns"
	TARGET_ERR=$TARGET_DIR/stderr
	R --vanilla --no-echo -f "$TARGET_DIR/$name.R" --args "$TARGET_DIR" "$@" >"$TARGET_DIR/stdout" 2>"$TARGET_ERR" </dev/null &
	TARGET_JOB=$!
	live_pids+=("$TARGET_JOB")
}

field() {
	awk -v key="$2" '{ for (i = 1; i < NF; i++) if ($i == key) print $(i + 1) }' <<<"$1"
}

# ns_per_sample OPTIONS...: of TARGET_PID, from the kernel's run-time statistics
ns_per_sample() {
	local out
	prof_start "$WORK/out" -q -F 999 -p "$TARGET_PID" "$@" || bail "no profile"
	out=$("$meter" watch $program "${METER_SECONDS:-1}") || bail "no statistics"
	prof_stop
	field "$out" ns_per_run
}
