#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd target os
#
# `list`: what each R uses of a CPU, the busiest first, and when it began; in a terminal as much as fits, in a pipe all.
# timeout: 120
# engines: bpf
. "$(dirname "$0")/../lib/live.sh"

target_start host wait
target_rests
waits=$TARGET_PID
target_start host spin
spins=$TARGET_PID

TARGET_WRAP=(bwrap --dev-bind / / --unshare-pid --die-with-parent)
target_start host wait
target_rests
apart=$TARGET_PID
TARGET_WRAP=()
namespace=ns:$(readlink "/proc/$apart/ns/pid" | tr -dc 0-9)

# CPU time is that of a moment, in which the busy one may have had none.
listed() {
	"$XRPROF" list --json >"$WORK/list.json" && python3 -c '
import json, sys
sys.exit(not any(p["pid"] == int(sys.argv[2]) and p["cpu"] for p in json.load(open(sys.argv[1]))["processes"]))' "$WORK/list.json" "$spins"
}
check "list --json, with what the busy one uses" wait_until 60 listed
check "it says what they use, when they began, has the busiest first, and a sandbox is a container" \
	python3 - "$WORK/list.json" "$waits" "$spins" "$apart" "$namespace" <<-'PY'
	import json, os, sys
	waits, spins, apart = map(int, sys.argv[2:5])
	processes = json.load(open(sys.argv[1]))["processes"]
	by_pid = {p["pid"]: p for p in processes}
	assert by_pid[waits]["container"] is None and by_pid[apart]["container"] == sys.argv[5], by_pid
	used = [-1 if p["cpu"] is None else p["cpu"] for p in processes]
	assert used == sorted(used, reverse=True), used
	assert by_pid[spins]["cpu"] > by_pid[waits]["cpu"], by_pid
	assert by_pid[waits]["cpu"] < 0.1, by_pid[waits]
	assert by_pid[waits]["user"] == "root", by_pid[waits]
	boot = next(int(l.split()[1]) for l in open("/proc/stat") if l.startswith("btime"))
	for pid in waits, spins:
	    ticks = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[19])
	    began = boot + ticks / os.sysconf("SC_CLK_TCK")
	    assert abs(by_pid[pid]["started"] - began) <= 2, (by_pid[pid]["started"], began)
	PY

listed() {
	"$XRPROF" list >"$WORK/list" && [ "$(awk -v pid="$spins" '$1 == pid { print $4 }' "$WORK/list")" -gt 0 ]
}
check "list, with what the busy one uses" wait_until 60 listed
like "$(head -n 1 "$WORK/list")" '^PID +PPID +USER +CPU% +START +R +LOADED +THREADS +CONTAINER +COMMAND$' "its columns"
is "$(awk -v a="$spins" -v b="$waits" '$1 == a || $1 == b { print $1 }' "$WORK/list" | xargs)" "$spins $waits" "the busiest first"
like "$(grep "^$apart " "$WORK/list")" " $namespace " "the sandbox is in its column, whole"
like "$(grep "^$waits " "$WORK/list")" "wait\.R --args $WORK/target1\$" "in a file a command is whole"

for columns in 200 80 60 30; do
	script -qec "stty cols $columns; '$XRPROF' list" /dev/null </dev/null >"$WORK/shown" 2>&1
	[ "$(tr -d '\r' <"$WORK/shown" | grep -v '^ ' | awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }')" -le $columns ]
	ok $? "in $columns columns nothing is wider"
	like "$(grep "^$spins " "$WORK/shown")" ' /' "in $columns columns there is something of the command"
done
done_testing
