#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the service costs beside busy R processes.
#
#   tests/bench/serve.py [--minutes 10] [--rates 19,99] [--processes 100] [--depth 20] [--turns 10] [--turn-seconds 10]
#
# For each rate `serve --dir` runs for so long. Printed are
#   - the time on a CPU of all its processes (/proc/PID/schedstat), as a share of one core;
#   - the time of its BPF program in the kernel (run_time_ns, with kernel.bpf_stats_enabled
#   meanwhile),
#     also as a share of one core;
#   - the resident memory of each of its processes, from the second minute on, and its slope; and of all of them together;
#   - what a sample costs, and, computed from that, what CPUs that are all busy with R would cost:
#         share of each CPU in samples = rate * kernel_ns
#         share of one core in the profiler = CPUs * rate * own_ns + what it takes when nothing is sampled
# Then the work that the R processes do in a second of CPU time is compared with the profiler and without, in turns: the mean
# of the ratios of each pair, and its 95 % confidence interval (Student's t). A second of CPU time: what else runs on the
# machine takes time from them, and perf's interrupt is in their own.

import argparse
import glob
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
build = os.environ.get("BUILD", os.path.join(here, "../../build"))
xrprof = os.environ.get("XRPROF", os.path.join(build, "xrprof-bpf"))
together = "all processes, shared pages once"
bpf_stats = "/proc/sys/kernel/bpf_stats_enabled"
# of Student's t, for 1 to 30 degrees of freedom
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
       2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def tree(pid):
    """The process and what descends from it."""
    found, at = [pid], 0
    while at < len(found):
        for task in glob.glob(f"/proc/{found[at]}/task/*/children"):
            found += [int(child) for child in read(task).split()]
        at += 1
    return found


def cpu_ns(pids):
    return sum(int((read(f"/proc/{pid}/schedstat").split() or ["0"])[0]) for pid in pids)


def switches(pids):
    return sum(int(line.split()[1]) for pid in pids for line in read(f"/proc/{pid}/status").splitlines()
               if line.startswith("voluntary_ctxt_switches"))


def program(pid):
    """Nanoseconds and runs of the one program for perf events that the process has loaded."""
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        fields = dict(line.split(":", 1) for line in read(path).splitlines() if ":" in line)
        if fields.get("prog_type", "").strip() == "7":
            return int(fields["run_time_ns"]), int(fields["run_cnt"])
    return 0, 0


def resident(pids):
    """Bytes of each process that is still there, by name; pages that several share are in each."""
    sizes = {}
    for pid in pids:
        fields = dict(line.split(":", 1) for line in read(f"/proc/{pid}/status").splitlines())
        if "VmRSS" in fields:
            name = f"{fields['Name'].strip()} {pid}"
            sizes[name] = int(fields["VmRSS"].split()[0]) * 1024
    return sizes


def proportional(pids):
    """Bytes of all processes together, a page that N of them share as an Nth in each (Pss)."""
    total = 0
    for pid in pids:
        for line in read(f"/proc/{pid}/smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1]) * 1024
    return total


class Profiler:
    def __init__(self, rate, folder, extra=()):
        self.dir = tempfile.mkdtemp(dir=folder)
        self.err = open(os.path.join(self.dir, "stderr"), "w+")
        self.child = subprocess.Popen([xrprof, "serve", "-e", "bpf", "-F", str(rate), "--max-cpu", "0", "--dir", os.path.join(self.dir, "profiles"),
                                       *extra], stdout=subprocess.DEVNULL, stderr=self.err, stdin=subprocess.DEVNULL)
        self.pid = self.child.pid
        end = time.monotonic() + 60
        while "profiling" not in read(self.err.name):
            if self.child.poll() is not None or time.monotonic() > end:
                sys.exit("the service did not start: " + read(self.err.name))
            time.sleep(0.05)

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait()
        return read(self.err.name)


class Targets:
    def __init__(self, count, depth, folder):
        self.dir = tempfile.mkdtemp(dir=folder)
        for path in glob.glob(os.path.join(here, "*.R")) + [os.path.join(here, "../live/r/common.R")]:
            shutil.copy(path, self.dir)
        self.child = subprocess.Popen(["nice", "-n", "19", "R", "--vanilla", "--no-echo", "-f",
                                       os.path.join(self.dir, "hundred.R"), "--args", self.dir, str(count), str(depth)],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                      start_new_session=True)
        while not os.path.exists(os.path.join(self.dir, "ready")):
            if self.child.poll() is not None:
                sys.exit("R did not start")
            time.sleep(0.1)
        self.pids = tree(self.child.pid)
        if len(self.pids) < count:
            sys.exit(f"only {len(self.pids)} processes")

    def done(self):
        return os.stat(os.path.join(self.dir, "work")).st_size

    def turn(self, seconds):
        """Pieces of work in a second of CPU time."""
        done, used = self.done(), cpu_ns(self.pids)
        time.sleep(seconds)
        return (self.done() - done) / ((cpu_ns(self.pids) - used) / 1e9)

    def kill(self):
        for pid in self.pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.child.wait()


def slope(points):
    """MiB an hour."""
    if len(points) < 3:
        return 0.0
    x = [p[0] for p in points]
    y = [p[1] for p in points]
    mean = statistics.fmean(x)
    return (sum((a - mean) * b for a, b in zip(x, y)) / sum((a - mean) ** 2 for a in x)) * 3600 / 2 ** 20


def load():
    return read("/proc/loadavg").split()[0]


def idle_share(folder):
    """Of one core, of a service before there is much to be sampled."""
    p = Profiler(19, folder)
    time.sleep(2)
    pids = tree(p.pid)
    before, woke, began = cpu_ns(pids), switches(pids), time.monotonic()
    time.sleep(20)
    seconds = time.monotonic() - began
    share, wakes = (cpu_ns(pids) - before) / 1e9 / seconds, (switches(pids) - woke) / seconds
    p.stop()
    print(f"Before R runs: {share * 100:.3f} % of a core, {wakes:.1f} wake-ups a second")
    return share


def run(rate, minutes, folder, idle):
    p = Profiler(rate, folder)
    time.sleep(5)
    pids = tree(p.pid)
    before, (ns, runs), began = cpu_ns(pids), program(p.pid), time.monotonic()
    sizes = {}
    while time.monotonic() - began < minutes * 60:
        time.sleep(min(5, minutes * 6))
        at = time.monotonic() - began
        for name, size in resident(tree(p.pid)).items():
            sizes.setdefault(name, []).append((at, size))
        sizes.setdefault(together, []).append((at, proportional(tree(p.pid))))
    seconds = time.monotonic() - began
    own = cpu_ns(tree(p.pid)) - before
    ns, runs = (a - b for a, b in zip(program(p.pid), (ns, runs)))
    said = p.stop()
    kernel_share, own_share = ns / 1e9 / seconds, own / 1e9 / seconds
    print(f"\n{rate} Hz, {seconds / 60:.1f} minutes; load {load()}")
    print(f"  profiler {own_share * 100:.3f} % of a core, samples in the kernel {kernel_share * 100:.3f} %; "
          f"{runs / seconds:.0f} samples a second")
    for name, points in sizes.items():
        later = [q for q in points if q[0] >= seconds / 10]
        if len(later) < len(points) / 2:
            continue
        values = [q[1] / 2 ** 20 for q in later]
        title = name if name == together else name.rsplit(" ", 1)[0]
        print(f"  memory of {title}: {min(values):.1f} to {max(values):.1f} MiB, {slope(later):+.2f} MiB an hour")
    kernel, mine = ns / runs, max(own - idle * seconds * 1e9, 0) / runs
    print(f"  a sample: {kernel:.0f} ns in the kernel, {mine:.0f} ns in the profiler")
    print("  CPUs  share of each, in samples  profiler, share of one core  all together, share of one core")
    for cpus in (2, 4, 8, 16, 32, 64, 128):
        each, one = rate * kernel / 1e9, cpus * rate * mine / 1e9 + idle
        print(f"  {cpus:4d}  {each * 100:24.4f} %  {one * 100:24.3f} %  {(cpus * each + one) * 100:28.3f} %")
    print("  " + said.strip().splitlines()[-1])


def turns(rate, targets, folder, count, seconds):
    ratios = []
    for i in range(count):
        pair = {}
        for profiled in ((False, True) if i % 2 else (True, False)):
            p = Profiler(rate, folder) if profiled else None
            time.sleep(1)
            pair[profiled] = targets.turn(seconds)
            if p:
                p.stop()
        ratios.append(pair[True] / pair[False])
    mean = statistics.fmean(ratios)
    half = T95[min(len(ratios) - 2, len(T95) - 1)] * statistics.stdev(ratios) / math.sqrt(len(ratios))
    print(f"  work in a second of CPU time, with the profiler / without: {mean:.4f}, 95 % confidence {mean - half:.4f} to "
          f"{mean + half:.4f} ({len(ratios)} pairs of {seconds:g} s)")


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--minutes", type=float, default=10)
    a.add_argument("--rates", default="19,99")
    a.add_argument("--processes", type=int, default=100)
    a.add_argument("--depth", type=int, default=20)
    a.add_argument("--turns", type=int, default=10)
    a.add_argument("--turn-seconds", type=float, default=10)
    args = a.parse_args()
    folder = tempfile.mkdtemp(prefix="xrprof-bench.")
    targets = None
    were = read(bpf_stats).strip()
    print(f"kernel {os.uname().release}, {os.cpu_count()} CPUs, load {load()}; {args.processes} R processes, {args.depth} calls deep")
    try:
        idle = idle_share(folder)
        targets = Targets(args.processes, args.depth, folder)
        for rate in map(int, args.rates.split(",")):
            with open(bpf_stats, "w") as f:
                f.write("1")
            run(rate, args.minutes, folder, idle)
            with open(bpf_stats, "w") as f:
                f.write(were)
            if args.turns > 1:
                turns(rate, targets, folder, args.turns, args.turn_seconds)
    finally:
        with open(bpf_stats, "w") as f:
            f.write(were)
        if targets:
            targets.kill()
        shutil.rmtree(folder, ignore_errors=True)


main()
