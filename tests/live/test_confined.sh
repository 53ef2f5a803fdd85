#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: os engine/bpf engine/remote cmd
# timeout: 600
# engines: bpf
#
# The profiler where less is allowed: with the capabilities that Docker gives, in namespaces, under filters of system
# calls, where /proc hides processes, and with R stopped. It profiles what it starts wherever some engine can; elsewhere it
# gives the one reason, and advice that fits.
. "$(dirname "$0")/../lib/live.sh"

fixture "$WORK/refuse" refuse.c -Wall -Wextra -Werror
chmod 755 "$WORK"
user=60003
as_user=(setpriv "--reuid=$user" "--regid=$user" --clear-groups --inh-caps=-all)

# What each place starts a command by. The first is the set of Docker, Podman and containerd.
docker=(setpriv --inh-caps=-all --bounding-set
	"-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap")
userns=(unshare -Ur)
noptrace=(setpriv --bounding-set -sys_ptrace)
refuse=("$WORK/refuse" EPERM)

# It computes until it is in its profile.
cat >"$WORK/work.R" <<END
in_work <- function() for (i in 1:1e6) i
while (!file.exists("$WORK/out") || !any(grepl("in_work", readLines("$WORK/out", warn = FALSE)))) in_work()
END

# starts NAME ENGINE WHY COMMAND...: by COMMAND the profiler profiles what it starts, with ENGINE, because of WHY.
starts() {
	local name=$1 engine=$2 why=$3
	shift 3
	timeout -k 5 120 "$@" "$XRPROF" -F 499 -f rprof -o "$WORK/out" --stats "$WORK/stats" -- R --vanilla --no-echo -f "$WORK/work.R" \
		>"$WORK/stdout" 2>"$WORK/err" </dev/null
	is $? 0 "$name: what it starts is profiled" || diag "$(cat "$WORK/err")"
	is "$(stat_of "$WORK/stats" engine)" "$engine" "$name: by engine $engine"
	grep -q "in_work" "$WORK/out"
	ok $? "$name: its functions are there"
	like "$(grep because "$WORK/err")" "$why" "$name: and why by that engine" || diag "$(cat "$WORK/err")"
	rm -f "$WORK/out" "$WORK/stats"
}
starts "Docker's capabilities" ptrace "no CAP_BPF: docker run --cap-add BPF --cap-add PERFMON" "${docker[@]}"
starts "a user namespace" ptrace "a user namespace .* does not allow it" "${userns[@]}"
starts "no CAP_SYS_PTRACE" bpf '^$' "${noptrace[@]}"
starts "bpf refused" ptrace "seccomp filter .* forbids bpf\(2\)" "${refuse[@]}" bpf
starts "perf_event_open refused" ptrace "seccomp filter .* forbids perf_event_open\(2\)" "${refuse[@]}" perf_event_open
starts "ptrace refused" bpf '^$' "${refuse[@]}" ptrace
starts "process_vm_readv refused" bpf '^$' "${refuse[@]}" process_vm_readv
starts "bpf missing" ptrace "seccomp|missing from this kernel" "$WORK/refuse" ENOSYS bpf
starts "bpf and ptrace refused" vmread "seccomp filter" "${refuse[@]}" bpf,ptrace
starts "Docker's capabilities, ptrace refused" vmread "no CAP_BPF" "${docker[@]}" "${refuse[@]}" ptrace

# busy NAME COMMAND...: an R that computes below NAME_outer(), started by COMMAND. It is stopped while it is not profiled.
declare -A pid
busy() {
	TARGET_WRAP=("${@:2}")
	umask 0 # R of another user writes to its folder
	target_start host all_spin "$1"
	umask 022
	pid[$1]=$TARGET_PID
	kill -STOP "$TARGET_PID"
}
busy root
busy docker "${docker[@]}"
busy user "${as_user[@]}"

# run COMMAND... -- ARG...: the profiler, by COMMAND
run() {
	local command=()
	while [ "$1" != -- ]; do
		command+=("$1")
		shift
	done
	shift
	timeout -k 5 300 "${command[@]}" "$XRPROF" "$@" 2>"$WORK/err" </dev/null
}

# profiles NAME COMMAND... -- ARG... -p PID: it works: PID is profiled until its function is there, which ends the pipe.
profiles() {
	local name=$1 of=${*: -1}
	shift
	kill -CONT "$of"
	run "$@" | grep -q _outer
	is "${PIPESTATUS[*]}" "0 0" "$name: profiled" || diag "$(cat "$WORK/err")"
	kill -STOP "$of"
}

# refused NAME WHY COMMAND... -- ARG...: it does not, because of WHY.
refused() {
	local name=$1 why=$2
	shift 2
	run "$@" >"$WORK/out"
	is $? 1 "$name: refused"
	is "$(wc -l <"$WORK/err")" 1 "$name: in one line"
	like "$(cat "$WORK/err")" "$why" "$name: the reason, and what to do"
}
profiles "Docker's capabilities, an R that has no more" "${docker[@]}" -- -e ptrace -p "${pid[docker]}"
like "$("${docker[@]}" "$XRPROF" dump -p "${pid[docker]}" 2>&1)" docker_outer "Docker's capabilities, dump"
like "$("${docker[@]}" "$XRPROF" list 2>&1 | grep "^ *${pid[docker]} ")" "[0-9]\.[0-9]\.[0-9]" "Docker's capabilities, list: R's version"
refused "Docker's capabilities, engine bpf" "no CAP_BPF: docker run --cap-add BPF --cap-add PERFMON" \
	"${docker[@]}" -- -e bpf -p "${pid[docker]}"
refused "Docker's capabilities, an R that has more" "has capabilities that .*docker run --cap-add SYS_PTRACE" \
	"${docker[@]}" -- -e ptrace -p "${pid[root]}"
refused "Docker's capabilities, another user's R" "another user's; .*docker run --cap-add SYS_PTRACE" \
	"${docker[@]}" -- -e ptrace -p "${pid[user]}"
refused "a user namespace, an R outside of it" "outside of this user namespace; run the profiler there" \
	"${userns[@]}" -- -e ptrace -p "${pid[root]}"
refused "a user, root's R" "another user's; run as root \\(sudo\\) or with CAP_SYS_PTRACE" \
	"${as_user[@]}" -- -e ptrace -p "${pid[root]}"
refused "a user, dump of root's R" "another user's; run as root \\(sudo\\) or with CAP_SYS_PTRACE" "${as_user[@]}" -- dump -p "${pid[root]}"
refused "process_vm_readv refused, engine vmread" "seccomp filter .* forbids process_vm_readv\(2\); allow it: docker run" \
	"${refuse[@]}" process_vm_readv -- -e vmread -p "${pid[root]}"
refused "ptrace refused, engine ptrace" "ptrace: a seccomp filter" "${refuse[@]}" ptrace -- -e ptrace -p "${pid[root]}"
refused "every way refused" "bpf" "${refuse[@]}" bpf,ptrace,process_vm_readv -- -p "${pid[root]}"

# All processes, new ones too, although the kernel does not report them.
"${refuse[@]}" perf_event_open "$XRPROF" -e ptrace --all --user $user -o "$WORK/all/" 2>"$WORK/all.err" </dev/null &
job=$!
live_pids+=("$job")
check "--all without perf events: the profiler reports that it scans for processes" wait_until 60 \
	grep -q "twice a second, because cannot receive process events" "$WORK/all.err" || diag "$(cat "$WORK/all.err")"
busy later "${as_user[@]}"
kill -CONT "${pid[later]}"
check "--all without perf events: an R that comes later" wait_until 60 grep -qs later_outer "$WORK/all/Rprof.${pid[later]}.out"
kill -STOP "${pid[later]}"
kill -INT "$job"
wait "$job"
is $? 0 "--all without perf events: exit status 0" || diag "$(cat "$WORK/all.err")"

# What info finds is what works.
for place in docker userns noptrace; do
	declare -n by=$place
	"${by[@]}" "$XRPROF" info --json >"$WORK/info.$place" 2>"$WORK/err"
done
check "info: the engines and capabilities that are of use" python3 - "$WORK" <<'PY'
import json, sys
want = {
    "docker": ({"ptrace", "vmread"}, set(), "R processes of the caller", "own"),
    "userns": ({"ptrace", "vmread"}, {"cap_sys_ptrace", "cap_dac_read_search"}, "every process of this user namespace", "every"),
    "noptrace": ({"bpf", "ptrace", "vmread"}, None, "R processes of the caller", "own"),
}
for place, (engines, caps, rights, processes) in want.items():
    info = json.load(open(f"{sys.argv[1]}/info.{place}"))
    verdict = info["verdict"]
    assert (verdict["processes"], verdict["bpf"]) == (processes, "bpf" in engines), (place, verdict)
    assert {e["name"] for e in info["engines"] if e["ok"]} == engines, (place, info["engines"])
    have = {c["name"] for c in info["capabilities"] if c["ok"]}
    assert caps is None or have - {"cap_dac_read_search"} == caps - {"cap_dac_read_search"}, (place, have)
    assert [f["value"] for f in info["features"] if f["name"] == "rights"] == [rights], (place, info["features"])
PY

# --- where /proc hides processes ---

hides=(unshare -m --propagation private sh -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' -)
if "${hides[@]}" true 2>"$WORK/err"; then
	refused "hidepid, root's R" "process ${pid[root]} is not visible: /proc hides it \(mount option hidepid\); run as root" \
		"${hides[@]}" "${as_user[@]}" -- -e ptrace -p "${pid[root]}"
	sleep 0 &
	wait $!
	refused "hidepid, a process that has ended" "no process $!: it has ended or never existed" \
		"${hides[@]}" "${as_user[@]}" -- -e ptrace -p $!
	profiles "hidepid, one's own R" "${hides[@]}" "${as_user[@]}" -- -e ptrace -p "${pid[user]}"
	profiles "hidepid, root" "${hides[@]}" -- -e ptrace -p "${pid[user]}"
else
	skip "$(cat "$WORK/err")" "hidepid"
fi

# --- libR.so is replaced under a running R ---

mkdir -m 755 "$WORK/lib"
cp /usr/lib/R/lib/*.so "$WORK/lib"
# shellcheck disable=SC2016 # for the inner shell
busy upgraded env "LD_LIBRARY_PATH=$WORK/lib" R_HOME=/usr/lib/R "${as_user[@]}" sh -c 'shift && exec "$0" "$@"' /usr/lib/R/bin/exec/R
rm "$WORK/lib/libR.so"
cp /usr/lib/R/lib/libR.so "$WORK/lib"
is "$(grep -c "$WORK/lib/libR.so (deleted)" "/proc/${pid[upgraded]}/maps" | sed 's/[1-9][0-9]*/some/')" some "the library that R has mapped is gone"
profiles "its user" "${as_user[@]}" -- -e ptrace -p "${pid[upgraded]}"

# --- another time namespace ---

if unshare -T true 2>"$WORK/err"; then
	for boot in 86400 -3; do
		profiles "a time namespace, boottime $boot s" unshare -T --boottime $boot --monotonic 864000 -- -e bpf -p "${pid[root]}"
	done
else
	skip "$(cat "$WORK/err")" "a time namespace"
fi

# --- an R that is stopped ---

wait_until 300 grep -q '^State:.T' "/proc/${pid[root]}/status"
"$XRPROF" -e bpf -d 1.2 -p "${pid[root]}" -o "$WORK/out" 2>"$WORK/err"
like "$(cat "$WORK/err")" \
	"process ${pid[root]} .*is stopped, by a signal \(SIGSTOP\) or a debugger" \
	"a stopped R: reported"
is "$(grep -c "waited the rest" "$WORK/err")" 0 "a stopped R: and not that it waited" || diag "$(cat "$WORK/err")"
done_testing
