#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: engine/bpf engine/remote session os
# timeout: 400
# engines: bpf
# alone: live
#
# Without BPF the profiler does with what there is, and says why: without the capabilities (capsh), and with system
# calls refused by a seccomp filter. With nothing left it says in one line what is missing.
. "$(dirname "$0")/../lib/live.sh"

fixture "$WORK/refuse" refuse.c -Wall -Wextra -Werror

# without CAPABILITIES ARG...: the profiler without them, for any caller.
without() {
	local caps=$1
	shift
	timeout -s INT -k 5 60 capsh --drop="$caps" -- -c 'exec "$0" "$@"' "$XRPROF" "$@" 2>"$WORK/err" </dev/null
}

# refusing ERRNO CALLS ARG...: the profiler with these calls refused.
refusing() {
	local err=$1 calls=$2
	shift 2
	timeout -s INT -k 5 60 "$WORK/refuse" "$err" "$calls" "$XRPROF" "$@" 2>"$WORK/err" </dev/null
}

target_start host flip 1 plain 10
target_go

# falls_back NAME ENGINE WHY COMMAND...: COMMAND profiles with ENGINE, says WHY, and the profile is right.
falls_back() {
	local name=$1 engine=$2 why=$3 out=$WORK/fallback.folded
	shift 3
	rm -f "$out" "$out.stats"
	"$@" -p "$TARGET_PID" -F 499 -d 3 -f folded -o "$out" --stats "$out.stats"
	is $? 0 "$name: exit status 0" || diag "$(cat "$WORK/err")"
	is "$(stat_of "$out.stats" engine)" "$engine" "$name: engine $engine"
	is "$(grep -cE "engine $engine.*because" "$WORK/err")" 1 "$name: one line reports it" ||
		diag "$(cat "$WORK/err")"
	like "$(grep because "$WORK/err")" "$why" "$name: it has the reason"
	check_stats "$out.stats" "$name"
	[ "$(stat_of "$out.stats" written)" -gt 20 ]
	ok $? "$name: there are samples"
	check "$name: all stacks are of the program's graph" \
		timeout 100 Rscript --vanilla "$tests/live/graph.R" "$out" "$TARGET_DIR/edges.txt"
}

falls_back "no capabilities for BPF" ptrace "permission denied" \
	without cap_bpf,cap_perfmon,cap_sys_admin
falls_back "bpf refused with EPERM" ptrace "seccomp filter" refusing EPERM bpf
falls_back "bpf refused with ENOSYS" ptrace "seccomp|missing from this kernel" refusing ENOSYS bpf
falls_back "perf_event_open refused" ptrace "perf_event_open" refusing EPERM perf_event_open
falls_back "bpf and ptrace refused" vmread "seccomp filter" refusing EPERM bpf,ptrace

# All processes, new ones too, without the kernel's word of them
first=$TARGET_PID
mkdir "$WORK/all"
timeout -s INT -k 5 100 "$WORK/refuse" EPERM perf_event_open "$XRPROF" -e ptrace --all -o "$WORK/all" \
	2>"$WORK/err" </dev/null &
live_pids+=("$!")
job=$!
has_samples() {
	[ "$(samples_in "$WORK/all/Rprof.$1.out" 2>/dev/null)" -gt 0 ]
}
check "--all without perf events: an R that is there" wait_until 30 has_samples "$first"
target_start host flip 1 plain 10
target_go
check "--all without perf events: an R that comes later" wait_until 30 has_samples "$TARGET_PID"
like "$(cat "$WORK/err")" "twice a second, because cannot receive process events" \
	"the profiler reports that it scans for processes" ||
	diag "$(cat "$WORK/err")"
target_kill
pkill -INT -P "$job"
wait "$job"
is $? 0 "--all without perf events: exit status 0" || diag "$(cat "$WORK/err")"
TARGET_PID=$first

# cannot NAME WHAT COMMAND...: exit status 1 and one line that has WHAT in it.
cannot() {
	local name=$1 what=$2
	shift 2
	"$@" -p "$TARGET_PID" -d 1 -o "$WORK/cannot.out"
	is $? 1 "$name: exit status 1"
	is "$(wc -l <"$WORK/err")" 1 "$name: one line"
	like "$(cat "$WORK/err")" "$what" "$name: it says what is missing"
	[ ! -s "$WORK/cannot.out" ]
	ok $? "$name: no profile"
}

cannot "no capabilities at all" "cap_sys_ptrace|CAP_SYS_PTRACE" \
	without cap_bpf,cap_perfmon,cap_sys_admin,cap_sys_ptrace,cap_checkpoint_restore,cap_dac_override,cap_dac_read_search
cannot "every way refused" "bpf" refusing EPERM bpf,ptrace,process_vm_readv
cannot "ptrace asked for and refused" "ptrace: a seccomp filter" refusing EPERM ptrace -e ptrace
cannot "vmread asked for and refused" "process_vm_readv" refusing ENOSYS process_vm_readv -e vmread

alive "$TARGET_PID"
ok $? "the target runs on"
target_kill
done_testing
