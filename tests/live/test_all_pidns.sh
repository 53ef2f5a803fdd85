#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf os session target
# timeout: 900
# engines: bpf
#
# The profiler inside a PID namespace, targets in one below it and two below it: pids are those the caller sees, and what
# runs outside is not seen.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

target_start host all_spin outside
outside=$TARGET_PID

# Runs inside: $1 is WORK, $2 how to start R below.
cat >"$WORK/inside.sh" <<-'SH'
	set -u
	cd "$1" || exit 1
	for name in nested deeper; do
		mkdir -p "$name"
		cp r/*.R "$name"
	done
	unshare --pid --fork --mount-proc R --vanilla --no-echo -f nested/all_spin.R --args "$1/nested" nested </dev/null &
	unshare --pid --fork --mount-proc unshare --pid --fork --mount-proc \
		R --vanilla --no-echo -f deeper/all_spin.R --args "$1/deeper" deeper </dev/null &
	while [ ! -e nested/ready ] || [ ! -e deeper/ready ]; do sleep 0.1; done
	for name in nested deeper; do
		pgrep -f "exec/R .* $1/$name $name" >"$name.pid"
		# as the target itself knows it
		awk '$1 == "NSpid:" { print NF - 1, $NF }' "/proc/$(cat $name.pid)/status" >"$name.own"
	done
	readlink /proc/self/ns/pid >ns
	"$XRPROF" -e "$XRPROF_ENGINE" -f folded -o one -d 4 --stats one.stats -p "$(cat nested.pid),$(cat deeper.pid)" 2>one.err
	echo $? >one.status
	"$XRPROF" -e "$XRPROF_ENGINE" -f folded -o all -d 4 --stats all.stats -v -a 2>all.err
	echo $? >all.status
	"$XRPROF" list --json >list.json 2>list.err
	kill -KILL $(jobs -p)
SH
mkdir "$WORK/r"
cp "$tests"/live/r/*.R "$WORK/r"
export XRPROF XRPROF_ENGINE
XRPROF=$(realpath "$XRPROF")
unshare --pid --fork --mount-proc --kill-child bash "$WORK/inside.sh" "$WORK" >"$WORK/inside.out" 2>&1 </dev/null
ok $? "the namespaces can be made" || diag "$(cat "$WORK/inside.out")"
[ "$(cat "$WORK/ns")" != "$(readlink /proc/self/ns/pid)" ]
ok $? "the profiler ran in a new PID namespace"
for how in one all; do
	is "$(cat "$WORK/$how.status")" 0 "$how: the profiler ends well" || diag "$(cat "$WORK/$how.err")"
	check_stats "$WORK/$how.stats" "$how"
	for name in nested deeper; do
		pid=$(cat "$WORK/$name.pid")
		[ "$(folded_samples "$WORK/$how" "$pid" "${name}_outer;${name}_inner")" -ge 5 ]
		ok $? "$how: $name is sampled by the pid seen from inside ($pid)"
		is "$(folded_pids "$WORK/$how" "${name}_(inner|outer)")" "$pid" \
			"$how: no other process has the functions of $name"
	done
	is "$(folded_pids "$WORK/$how" 'outside_(inner|outer)')" "" "$how: what runs outside is not seen"
done
for name in nested deeper; do
	read -r depth own <"$WORK/$name.own"
	[ "$own" != "$(cat "$WORK/$name.pid")" ]
	ok $? "$name: is $own to itself, in a namespace $((depth - 1)) below the profiler's"
done
check "list shows the pids seen from inside" python3 - "$WORK/list.json" "$(cat "$WORK/nested.pid")" "$(cat "$WORK/deeper.pid")" <<-'PY'
	import json, sys
	pids = [p["pid"] for p in json.load(open(sys.argv[1]))["processes"]]
	assert sorted(pids) == sorted(map(int, sys.argv[2:])), pids
PY
alive "$outside"
ok $? "the R outside runs on"
done_testing
