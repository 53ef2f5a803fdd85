# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
usage: waiting.py PROFILE STATS MEASURED PID FREQ STOLEN

Compares what a profile has of time on and off the CPU with what the program (r/waiting.R) measured itself.  Time off the
CPU shorter than a period is sampled: its error is that of a sum of coins, at most half a period each.
"""
import json, math, os, re, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import raw_pprof

path, stats, measured, pid, freq, stolen = sys.argv[1:]
period = 1 / int(freq)
stolen = int(stolen) / os.sysconf("SC_CLK_TCK")
samples, types = raw_pprof.read(path)
waits = json.load(open(stats))["waits"]
failed = False


def say(right, what):
    global failed
    failed = failed or not right
    print(("ok " if right else "not ok ") + what)


def has(sample, name):
    return any(frame.split("::")[-1] == name for frame in sample.stack) and sample.labels.get("pid", pid) == pid


say(types.get("off_cpu") == "nanoseconds", "waiting is a sample type, in nanoseconds")
syscalls = {}
for line in open(measured):
    name, elapsed, cpu = line.split()
    elapsed, cpu = float(elapsed), float(cpu)
    ours = [s for s in samples if has(s, name)]
    off = sum(s.values["off_cpu"] for s in ours) / 1e9
    on = sum(s.values["cpu"] for s in ours) / 1e9
    ready = sum(s.values["off_cpu"] for s in ours if s.labels.get("state") == "preempted") / 1e9
    for s in ours:
        if s.values["off_cpu"] and "syscall" in s.labels:
            key = (name, s.labels["syscall"])
            syscalls[key] = syscalls.get(key, 0) + s.values["off_cpu"] / 1e9
    whole = name == "all_of_it"
    # waits that are shorter than a period are no more than there were switches
    error = 3 * period * math.sqrt(waits["waits"] / 4) + 3 * period * math.sqrt(max(on / period, 1)) * 0.1
    allowed = 0.01 * elapsed + stolen + (0 if whole else error)
    print(f"{name}: waited {off:.3f} s, measured {elapsed - cpu:.3f}; on the CPU {on:.3f}, measured {cpu:.3f}; ready to run {ready:.3f}")
    say(abs(off - (elapsed - cpu)) <= 0.01 * (elapsed - cpu) + stolen + error, f"{name} waited as long as it says")
    # no lower limit: CPU time that a hypervisor takes without a report of it counts as the program's, and has no ticks
    say(on + off <= elapsed + allowed, f"{name}: CPU time and waiting are no more than {elapsed:.2f} s ({on + off:.3f})")

states = {s.labels.get("state") for s in samples if s.values["off_cpu"]}
say("sleeping" in states, f"each wait has its state: {sorted(map(str, states))}")
expected = {
    "sleeps": {"select", "pselect6"},
    "reads": {"read"},
    "queries": {"fsync", "fdatasync", "pread64", "read"},
    "asks_server": {"poll", "ppoll"},
    "downloads": {"poll", "ppoll", "select", "pselect6", "epoll_wait"},
    "waits_for_child": {"select", "pselect6", "wait4", "read"},
    "waits_for_lock": {"futex"},
}
for name, calls in expected.items():
    mine = {call: t for (of, call), t in syscalls.items() if of == name}
    most = max(mine, key=mine.get, default="none")
    say(most in calls, f"{name} waits in {most}")
leaves = {s.stack[0] for s in samples if has(s, "waits_for_lock") and s.labels.get("syscall") == "futex"}
say(any("lock" in leaf or "futex" in leaf for leaf in leaves), f"the innermost function says it, too: {sorted(leaves)[:4]}")
# libpq waits in PQgetResult(), by functions that have no names there
way = re.compile("[^;]*poll;(.+;)?PQgetResult;(.+;)?RPostgreSQL::postgresqlExecStatement;")
asked = [s for s in samples if has(s, "asks_server") and s.labels.get("syscall") in expected["asks_server"]]
there = sum(s.values["off_cpu"] for s in asked if way.match(";".join(s.stack)))
share = there / max(sum(s.values["off_cpu"] for s in asked), 1)
say(share > 0.99, f"libpq's PQgetResult() stands between the query and what waits: in {share:.2%} of that time")
total = sum(s.values["off_cpu"] for s in samples) / 1e9
print(f"{waits['waits']} waits, {waits['seconds']:.3f} s in all; those with R functions {total:.3f} s, "
      f"{sum(1 for s in samples if s.values['off_cpu'])} stacks; stolen {stolen:.2f} s")
sys.exit(failed)
