#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: engine/bpf os cmd
# timeout: 300
# engines: bpf
#
# A kernel that refuses bpf() or perf_event_open(), whatever its reason, is reported in one line
# that says what failed and what to do about it. The refusing kernel is tests/fixtures/fake_kernel.c.
# (Which kernels are refused: unit:engine/bpf/kernel. Other engines: live:confined.)
. "$(dirname "$0")/../lib/live.sh"

fake=$WORK/fake_kernel.so
fixture "$fake" fake_kernel.c -D_GNU_SOURCE -shared -fPIC -ldl

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
# and HINT in it. Without OPTION the target is profiled.
refused() {
	local name=$1 fakes=$2 what=$3 hint=$4
	shift 4
	[ $# -gt 0 ] || set -- -p "$TARGET_PID" -o "$WORK/refused.out"
	prof_fake "$fakes" -e bpf -d 1 "$@"
	[ "$status $(wc -l <"$WORK/err")" = "1 1" ] && [[ $said =~ $what ]] && [[ $said =~ $hint ]]
	ok $? "$name: exit status 1, and one line that says what failed and what to do" || diag "$status" "$said"
}

target_start host naming 100000

refused "bpf() EPERM" FAKE_BPF=EPERM "bpf" "security module"
refused "bpf() EACCES" FAKE_BPF=EACCES "bpf" "security module"
refused "no ring buffer" FAKE_RING=EINVAL "ring buffer" "update|--engine"
refused "bpf() ENOSYS" FAKE_BPF=ENOSYS "bpf" "--engine"
refused "perf_event_open() EPERM" FAKE_PERF=EPERM "perf_event_open" "security module|perf_event_paranoid"
refused "perf_event_open() EACCES" FAKE_PERF=EACCES "perf_event_open" "security module|perf_event_paranoid"
refused "perf_event_open() EBUSY" FAKE_PERF=EBUSY "perf_event_open" "again"
refused "perf_event_open() EMFILE" FAKE_PERF=EMFILE "perf_event_open" "ulimit -n"
refused "perf_event_open() ENFILE" FAKE_PERF=ENFILE "perf_event_open" "fs.file-max"
refused "perf_event_open() ENOSYS" FAKE_PERF=ENOSYS "perf_event_open" "--engine"
refused "perf_event_open() EMFILE, whole machine" FAKE_PERF=EMFILE "perf_event_open" "ulimit -n" \
	--all -o "$WORK/refused"

# Reading user memory from BPF can freeze this one (unit:engine/bpf/kernel has which).
refused "Linux 6.1.35" "FAKE_RELEASE=6.1.35;FAKE_VERSION=#1" "6\.1\.35" "update|--engine"

target_go
# A counter that is not there is replaced by the clock, which -v reports once; the profile is complete.
for err in ENOENT EOPNOTSUPP; do
	prof_fake FAKE_CYCLES=$err -v -e bpf -p "$TARGET_PID" -d 1 -o "$WORK/$err.out" --stats "$WORK/$err.json"
	is "$status" 0 "cycles $err: exit status 0" || diag "$said"
	is "$(grep -c 'sampling the CPU clock' "$WORK/err")" 1 "cycles $err: -v reports the CPU clock once" || diag "$said"
	is "$(stat_of "$WORK/$err.json" event)" cpu-clock "cycles $err: the event is the CPU clock"
	check "cycles $err: there are samples" [ "$(samples_in "$WORK/$err.out")" -gt 0 ]
done

# behind ARG...: from now on the profiler sees the files that bwrap shows it with ARG
behind() {
	printf '#!/bin/sh\nexec bwrap --dev-bind / / %s --cap-add ALL "%s" "$@"\n' "$*" "$real" >"$WORK/behind"
	chmod +x "$WORK/behind"
	XRPROF=$WORK/behind
}

# A kernel without BTF, with and without --btf.
real=$XRPROF
cp /sys/kernel/btf/vmlinux "$WORK/btf"
behind --bind /proc /proc --tmpfs /sys/kernel/btf
refused "no BTF" FAKE_NOTHING= "kernel BTF was not found" "--btf FILE"
prof_fake FAKE_NOTHING= -e bpf -p "$TARGET_PID" -d 1 --btf "$WORK/btf" -o "$WORK/btf.out"
is "$status" 0 "no BTF, but --btf FILE: exit status 0" || diag "$said"
check "no BTF, but --btf FILE: there are samples" [ "$(samples_in "$WORK/btf.out")" -gt 0 ]
refused "--btf FILE that is not there" FAKE_NOTHING= "$WORK/none" "--btf|no such|No such" \
	-p "$TARGET_PID" --btf "$WORK/none" -o "$WORK/refused.out"
head -c 4096 "$WORK/btf" >"$WORK/half"
refused "--btf FILE that is cut short" FAKE_NOTHING= "$WORK/half" "--btf" \
	-p "$TARGET_PID" --btf "$WORK/half" -o "$WORK/refused.out"

# If the kernel allows fewer samples a second, the profiler takes that many and reports it.
echo 250 >"$WORK/limit"
behind --bind "$WORK/limit" /proc/sys/kernel/perf_event_max_sample_rate
prof_fake FAKE_LIMIT=250 -e bpf -F 2000 -p "$TARGET_PID" -d 1 -o "$WORK/limit.out"
is "$status" 0 "250 samples a second are allowed, 2000 asked for: exit status 0" || diag "$said"
is "$(grep -c 'the kernel allows 250 samples a second, not 2000' "$WORK/err")" 1 \
	"250 of 2000: reported once" || diag "$said"
is "$(head -n 1 "$WORK/limit.out")" "sample.interval=4000" "250 of 2000: the interval is that of the samples"
# It may lower that limit at any time.
echo 2000 >"$WORK/limit"
prof_start "$WORK/lowered.out" -F 99 -p "$TARGET_PID"
echo 50 >"$WORK/limit"
check "a limit that is lowered later is reported" \
	wait_until 60 grep -q 'the kernel now allows 50 samples a second, not 99' "$PROF_OUT.err" || diag "$(cat "$PROF_OUT.err")"
pkill -INT -P "$PROF_PID"
prof_wait
refused "a limit that does not help" "FAKE_LIMIT=10" "perf_event_open" "--freq"
XRPROF=$real

# A CPU that is offline is left out, and sampled when it comes back. One R is bound to it, and one
# to another CPU, whose first samples show that everything is attached.
sampled() { # sampled PID: it has samples in its file, which is made with the first
	[ -s "$WORK/cpus/Rprof.$1.out" ] && [ "$(samples_in "$WORK/cpus/Rprof.$1.out")" -gt 0 ]
}

if [ "$(nproc)" -gt 1 ]; then
	last=$(($(nproc) - 1))
	taskset -p -c 0 "$TARGET_PID" >/dev/null
	other=$TARGET_PID
	target_start host naming 300
	taskset -p -c $last "$TARGET_PID" >/dev/null
	target_go
	: >"$WORK/offline"
	env "LD_PRELOAD=$fake" FAKE_OFFLINE=$last "FAKE_OFFLINE_WHILE=$WORK/offline" \
		"$XRPROF" -e bpf --all -o "$WORK/cpus" --stats "$WORK/cpus.json" 2>"$WORK/err" &
	PROF_PID=$!
	live_pids+=("$PROF_PID")
	PROF_OUT=$WORK/cpus
	wait_until 60 sampled "$other"
	check "a CPU is offline: the others are sampled" sampled "$other" || diag "$(cat "$WORK/err")"
	sleep 1
	! sampled "$TARGET_PID"
	ok $? "a CPU is offline: what is bound to it has no samples"
	rm "$WORK/offline"
	wait_until 60 sampled "$TARGET_PID"
	check "a CPU comes back: it is sampled" sampled "$TARGET_PID" || diag "$(cat "$WORK/err")"
	prof_stop
	is "$PROF_STATUS" 0 "a CPU comes back: exit status 0"
	kill -KILL "$other"
	target_kill
else
	skip "this machine has one CPU" "a CPU is offline, and comes back"
fi
done_testing
