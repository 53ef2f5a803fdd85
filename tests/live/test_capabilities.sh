#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: os engine/bpf serve cmd
# timeout: 900
# engines: bpf
# alone: live
#
# serve as the service runs it, as a user without rights but the capabilities of the unit, and with each of them taken away: it works,
# or one line names what is missing. (Which engine is taken then: live:confined.) The table in docs/guide/deployment.md is this test's.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

unit=$tests/../tools/systemd/xrprof-bpf.service
all=$(sed -n 's/^CapabilityBoundingSet=CAP_//p' "$unit" | tr 'A-Z' 'a-z' | sed 's/ cap_/ /g')
is "$(sed -n 's/^AmbientCapabilities=//p' "$unit")" "$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")" "the unit allows what it gives: $all"
needed="bpf perfmon sys_ptrace dac_read_search" # checkpoint_restore: more names of a file that is gone
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then # it stands for three of the others
	all="$all sys_admin"
	needed="sys_admin sys_ptrace dac_read_search"
fi

# Three R of other users: one as it is installed; one from a folder that only its user can enter; and one whose libR.so is gone.
target_start host spin
root=$("$tests/images/get" static) || bail "no R in one file"
private() { # NAME R_HOME: R of user 4321, with the libraries of the folder NAME, which is that user's alone
	chown -R 4321:4321 "$WORK/$1"
	chmod -R go= "$WORK/$1"
	# shellcheck disable=SC2016 # for the inner shell
	TARGET_WRAP=(setpriv --reuid 4321 --regid 4321 --clear-groups env R_HOME="$2" LD_LIBRARY_PATH="$WORK/$1/lib:$2/lib"
		sh -c 'shift && exec "$0" "$@"' "$2/bin/exec/R")
	target_start host all_spin "$1"
}
chmod 755 "$WORK"
umask 0 # it writes to its TARGET_DIR
cp -a "$root" "$WORK/at_home"
private at_home "$WORK/at_home"
mkdir -p "$WORK/removed/lib"
cp "$(R RHOME)/lib/libR.so" "$WORK/removed/lib/"
private removed "$(R RHOME)"
rm "$WORK/removed/lib/libR.so"
umask 022
install -d -o 65534 -m 0750 "$WORK/out"
install -m 755 "$XRPROF" "$WORK/xrprof-bpf"

# run WITHOUT [SECONDS]: serve until it has samples, or so long, with all capabilities but that one; sets said, samples and status
run() {
	local cap list=
	for cap in $all; do
		[ "$cap" = "$1" ] || list="$list,+$cap"
	done
	rm -rf "$WORK/out"/*
	setpriv --reuid 65534 --regid nogroup --clear-groups --bounding-set "-all$list" \
		--inh-caps "-all$list" --ambient-caps "-all$list" \
		"$WORK/xrprof-bpf" serve -e bpf --dir "$WORK/out" --interval 1 -F 99 --max-cpu 0 --all >"$WORK/said" 2>&1 </dev/null &
	local pid=$!
	live_pids+=("$pid")
	wait_until 60 eval 'grep -q ": profiling" "$WORK/said" || gone "$pid"'
	wait_until "${2:-60}" eval 'sampled || gone "$pid"'
	sampled
	samples=$?
	live_kill TERM "$pid"
	wait_until 60 gone "$pid"
	wait "$pid"
	status=$?
	said=$(cat "$WORK/said")
}

# Do the files have functions of all three? What is missing is in $missing.
sampled() {
	local name
	zcat "$WORK"/out/2*.pb.gz >"$WORK/all" 2>/dev/null
	missing=
	for name in spin at_home_inner removed_inner; do
		grep -aqw "$name" "$WORK/all" || missing="$missing $name"
	done
	[ -z "$missing" ]
}

run none
is "$samples $status" "0 0" "with all of them it works" || diag "missing:$missing: $said"
works='' fails=''
for cap in $all; do
	run "$cap" 15
	if [ "$samples" = 0 ]; then
		works="$works $cap"
		ok 0 "without $cap it works here"
	else
		fails="$fails $cap"
		[[ ${said^^} == *CAP_${cap^^}* ]]
		ok $? "without $cap (no samples of$missing): $(grep -m 1 -i "cap_$cap" <<<"$said")" || diag "$said"
	fi
done
diag "it fails without:$fails; it works without:$works"
for cap in $needed; do
	[[ " $fails " == *" $cap "* ]]
	ok $? "$cap is needed"
done
done_testing
