#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""hostile.py session FOLDER NAME GOOD_PID ARG...: run the profiler, ARG..., for tests/live/test_hostile.sh, and look at what it did.

FOLDER/NAME is its output: a folder, as several processes are profiled. GOOD_PID is a process that
is not hostile: its stack is always good_outer, good_middle, good_inner. Prints a line for each
fault, and fails if there is one. Adds to FOLDER/figures a line: NAME, MiB
of memory at most, seconds more than were asked for, good samples of those it should have, and microseconds of the longest sample.

hostile.py plain FILE: does the file hold only whole lines that act on no terminal? The same is asked of all output."""
import json
import os
import re
import signal
import subprocess
import sys
import time

SECONDS_MAX = 60  # to end what hangs, not to judge
MEMORY_MAX = float(os.environ.get("HOSTILE_MIB", 128))
# What acts on a terminal, or makes text look as what it is not: C0 but the newline, DEL, C1, separators of lines, directions.
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")

problems = []


def wrong(text):
    problems.append(text)


def plain(name, data):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        return wrong(f"{name}: not UTF-8: {data[max(0, e.start - 20):e.start + 20]!r}")
    found = ACTS.search(text)
    if found:
        at = found.start()
        wrong(f"{name}: acts on a terminal: {text[max(0, at - 20):at + 20]!r}")
    if text and not text.endswith("\n"):
        wrong(f"{name}: the last line is not whole: {text[-60:]!r}")
    return text


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", "rb") as f:
        field = f.read().rpartition(b")")[2].split()
    return (int(field[11]) + int(field[12])) / os.sysconf("SC_CLK_TCK")


def without_native(line, fmt):
    """A stack with the good one's R frames alone: its native frames are those of whatever C library there is."""
    if fmt == "rprof":
        return "".join(re.findall(r'"good_\w+" ', line))
    stack, _, count = line.rpartition(" ")
    return ";".join(name for name in stack.split(";") if name.startswith("good")) + " " + count


def good_samples(out, pid, fmt, native=False):
    """Its samples; a stack of its that is not the one it has is wrong."""
    want = {"folded": r"good-%d;good_outer;good_middle;good_inner (\d+)" % pid, "rprof": r'()"good_inner" "good_middle" "good_outer" '}[fmt]
    name = os.path.join(out, "profile.folded" if fmt == "folded" else f"Rprof.{pid}.out")
    if not os.path.exists(name):
        wrong(f"{name} is not there")
        return 0
    count = 0
    for number, line in enumerate(open(name, encoding="utf-8", errors="replace")):
        line = line.rstrip("\n")
        if fmt == "folded" and not line.startswith(f"good-{pid};"):
            if not re.fullmatch(r"\S.* [1-9]\d*", line):
                wrong(f"{name}: no folded stack: {line[:100]!r}")
            continue
        if fmt == "rprof" and number == 0:
            continue
        match = re.fullmatch(want, without_native(line, fmt) if native else line)
        if not match:
            wrong(f"{name}: not what the good one does: {line[:100]!r}")
            continue
        count += int(match.group(1) or 1)
    return count


def session(folder, name, good, args):
    native = any(a.startswith("--native") for a in args)
    option = {k: args[args.index(k) + 1] for k in ("-e", "-f", "-d", "-F")}
    out, stats, ready = (os.path.join(folder, name + suffix) for suffix in ("", ".stats", ".ready"))
    os.mkdir(out)
    began = time.monotonic()
    with open(os.path.join(folder, name + ".err"), "wb") as err:
        child = subprocess.Popen([*args, "-o", out, "--stats", stats, "--ready", ready], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=err)
    signal.signal(signal.SIGALRM, lambda *_: child.kill())
    signal.alarm(SECONDS_MAX)
    # CPU time counts from when there may be samples
    ended = 0
    while not ended and not os.path.exists(ready):
        time.sleep(0.01)
        ended, status, usage = os.wait4(child.pid, os.WNOHANG)
    sampled, cpu = time.monotonic(), cpu_seconds(good)
    if not ended:
        _, status, usage = os.wait4(child.pid, 0)
    signal.alarm(0)
    took, sampled, cpu = time.monotonic() - began, time.monotonic() - sampled, cpu_seconds(good) - cpu
    child.returncode = status
    said = plain("messages", open(os.path.join(folder, name + ".err"), "rb").read()) or ""
    # 1: lines of a MiB each came faster than they could be written, which is counted and said
    unwritten = re.search(r"^\S+: (\d+) samples? w(?:as|ere) not written$", said, re.M)
    if status and not (status == 256 and unwritten):
        wrong(f"it ended with status {status >> 8}, signal {status & 127}, after {took:.1f} s: {said[-300:]}")
    # a read from outside that never ends is ended with who reads
    if status == signal.SIGKILL and "userfault" in name and re.search("the profiler (waited|stalled) .* and was killed", said):
        problems.clear()
        good_samples(out, good, option["-f"], native)
        return
    if not os.path.exists(stats) or not os.path.exists(ready):
        wrong("there are no statistics, or it was never ready")
        return
    s = json.load(open(stats))
    if s["ticks"] != s["written"] + s["no_r_frames"] + s["exiting"] + s["unreadable"] + s["lost"]:
        wrong(f"ticks are not conserved: {s}")
    if s["unwritten"] != (int(unwritten[1]) if unwritten else 0):
        wrong(f"not written, but not said: {s}")
    if s["malformed"] or (s["partial"] and not s["lost"]):
        wrong(f"records were bad: {s}")
    for file in os.listdir(out):
        plain(file, open(os.path.join(out, file), "rb").read())
    got = good_samples(out, good, option["-f"], native)
    # with bpf, a sample for each tick of its CPU time; of what the others took, as much as each of their targets
    rate = int(option["-F"])
    share = min(s["seconds"] / sampled, 1)
    due = cpu * share * rate if option["-e"] == "bpf" else s["ticks"] / max(s["processes"], 1)
    # a machine that halts takes CPU time, and gives one tick for it: its share is asked for in test-all alone
    few = got < due / 3 - 5
    if option["-e"] == "bpf" and os.environ.get("XRPROF_TESTS") != "all":
        few = not got and due >= 30
    if few:
        wrong(f"the good one has {got} samples and should have {due:.0f}")
    mib = usage.ru_maxrss / 1024
    if mib > MEMORY_MAX:
        wrong(f"it took {mib:.0f} MiB, {MEMORY_MAX:.0f} are allowed")
    longest = s.get("longest_sample_us", 0)
    with open(os.path.join(folder, "figures"), "a", encoding="utf-8") as f:
        f.write(f"{name} {mib:.0f} {took - float(option['-d']):.1f} {got} {due:.0f} {longest:.0f}\n")


if sys.argv[1] == "session":
    session(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:])
else:
    plain(sys.argv[2], open(sys.argv[2], "rb").read())
print("\n".join(problems[:10]))
sys.exit(bool(problems))
