#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
# engines: bpf
#
# A kernel that refuses bpf() or perf_event_open(), whatever its reason, is reported in one line
# that says what failed and what to do about it. The refusing kernel is tests/fixtures/fake_kernel.c.
. "$(dirname "$0")/../lib/live.sh"

fake=$WORK/fake_kernel.so
check "the fixture builds" "${CC:-cc}" -D_GNU_SOURCE -O1 -shared -fPIC -o "$fake" \
	"$tests/fixtures/fake_kernel.c" -ldl || {
	done_testing
	exit 1
}

# prof_fake "VARIABLE=VALUE;..." ARG...: run the profiler under that kernel. Sets status and said.
prof_fake() {
	local vars
	IFS=";" read -r -a vars <<<"$1"
	shift
	# A profiler that runs on is ended as by Ctrl-C, well after what is expected of it.
	timeout -s INT -k 5 60 env "LD_PRELOAD=$fake" "${vars[@]}" \
		"$XRPROF" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
	status=$?
	said=$(cat "$WORK/err")
}

# refused NAME "VARIABLE=VALUE;..." WHAT HINT [OPTION...]: exit status 1, one line, which has WHAT
# and HINT in it.
refused() {
	local name=$1 fakes=$2 what=$3 hint=$4
	shift 4
	prof_fake "$fakes" -e bpf -p "$TARGET_PID" -d 1 -o "$WORK/refused.out" "$@"
	is "$status" 1 "$name: exit status 1"
	is "$(wc -l <"$WORK/err")" 1 "$name: one line" || diag "$said"
	like "$said" "$what" "$name: says what failed"
	like "$said" "$hint" "$name: says what to do"
}

target_start host naming 6

for err in EPERM EACCES; do
	refused "bpf() $err" FAKE_BPF=$err "bpf" "root|setcap"
done
refused "bpf() ENOSYS" FAKE_BPF=ENOSYS "bpf" "--engine"
for err in EPERM EACCES; do
	refused "perf_event_open() $err" FAKE_PERF=$err "perf_event_open" "root|setcap|perf_event_paranoid"
done
refused "perf_event_open() EBUSY" FAKE_PERF=EBUSY "perf_event_open" "again"
refused "perf_event_open() EMFILE" FAKE_PERF=EMFILE "perf_event_open" "ulimit -n"
refused "perf_event_open() ENFILE" FAKE_PERF=ENFILE "perf_event_open" "fs.file-max"
refused "perf_event_open() ENOSYS" FAKE_PERF=ENOSYS "perf_event_open" "--engine"

# Reading user memory from BPF can freeze these (shown by their own release, whatever this kernel is).
for release in 5.19.0 6.0.19 6.1.35 6.2.16 6.3.9; do
	refused "Linux $release" "FAKE_RELEASE=$release;FAKE_VERSION=#1" "$release" "update|--engine"
done

target_go
# A counter that is not there is replaced by the clock, which is said once; the profile is complete.
for err in ENOENT EOPNOTSUPP; do
	prof_fake FAKE_CYCLES=$err -e bpf -p "$TARGET_PID" -d 1 -o "$WORK/$err.out" --stats "$WORK/$err.json"
	is "$status" 0 "cycles $err: exit status 0" || diag "$said"
	is "$(grep -ci 'cpu clock' "$WORK/err")" 1 "cycles $err: the CPU clock is said once" || diag "$said"
	is "$(stat_of "$WORK/$err.json" event)" cpu-clock "cycles $err: the event is the CPU clock"
	[ "$(samples_in "$WORK/$err.out")" -gt 0 ]
	ok $? "cycles $err: there are samples"
done
# Kernels that have been mended are taken, also when a distribution keeps an old release's name.
for kernel in "FAKE_RELEASE=6.1.36;FAKE_VERSION=#1" "FAKE_RELEASE=6.3.10;FAKE_VERSION=#1" \
	"FAKE_RELEASE=6.1.0-50-amd64;FAKE_VERSION=#1 SMP Debian 6.1.176-1"; do
	prof_fake "$kernel" -e bpf -p "$TARGET_PID" -d 0.3 -o "$WORK/mended.out"
	is "$status" 0 "$kernel: taken" || diag "$said"
done
target_kill
done_testing
