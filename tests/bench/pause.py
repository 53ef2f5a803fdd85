#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The pause experiment: what does it cost to stop a program for a sample, and what does it cost not to?

A program that changes its stack as fast as R can (tests/live/r/flip.R) runs below DEPTH further calls, and times
its own units of work. It is profiled by each engine at several rates, in turns with not being profiled. As root
it runs at real-time priority, so that what else the machine does is not measured. Prints a table in Markdown:

  slowdown   of a unit of work, median over all turns; each turn is compared with those around it
  rate       ticks a second that were sampled
  profiler   CPU time the profiler used, of one CPU
  wrong      stacks written that are not a path of the program's call graph
  torn       stacks dropped because they changed while they were read

usage: pause.py PROFILER [--engines bpf,ptrace,vmread] [--rates 99,999] [--depths 20,200] [--turns N]
                [--seconds S]
"""
import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "live", "r")


class Target:
    """flip.R, at work."""

    def __init__(self, how, depth, units):
        self.folder = tempfile.mkdtemp(prefix="xrprof-pause.")
        for name in os.listdir(PROGRAMS):
            shutil.copy(os.path.join(PROGRAMS, name), self.folder)
        argv = ["R", "--vanilla", "--no-echo", "-f", os.path.join(self.folder, "flip.R"), "--args", self.folder,
                "1", how, str(depth)] + (["units"] if units else [])
        if os.geteuid() == 0:  # other work on this machine would be measured, too
            argv = ["chrt", "-f", "1"] + argv
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        while not os.path.exists(os.path.join(self.folder, "ready")):
            if self.process.poll() is not None:
                sys.exit("pause: the R program does not start")
            time.sleep(0.05)
        with open(os.path.join(self.folder, "ready"), encoding="utf-8") as f:
            self.pid = int(f.read())
        with open(os.path.join(self.folder, "edges.txt"), encoding="utf-8") as f:
            self.edges = {tuple(line.rstrip("\n").split("\t")) for line in f}
        open(os.path.join(self.folder, "go"), "w", encoding="utf-8").close()
        time.sleep(0.5)

    def units(self):
        """(end, duration) of each unit of work so far."""
        with open(os.path.join(self.folder, "units.txt"), encoding="utf-8") as f:
            return [tuple(map(float, line.split())) for line in f if line.count(".") == 2 and line.endswith("\n")]

    def close(self):
        os.kill(self.pid, 9)
        self.process.wait()
        shutil.rmtree(self.folder)

    def wrong(self, profile):
        """(stacks, wrong ones) of a folded profile."""
        total = wrong = 0
        extra = {("down", "work"), ("down", "measure"), ("work", "flip"), ("measure", "flip")}
        extra |= {(f, c) for f in ("work", "measure") for c in ("Sys.time", "as.numeric", "sprintf", "cat", "flush",
                                                                 "flush.connection", "file", "file.path")}
        extra |= {("Sys.time", ".POSIXct"), ("Sys.time", "structure"), (".POSIXct", "structure"),
                  (".POSIXct", "class<-"), (".POSIXct", "attr<-"), ("flush", "flush.connection")}
        with open(profile, encoding="utf-8") as f:
            for line in f:
                stack, _, count = line.rstrip("\n").rpartition(" ")
                frames = [""] + stack.split(";")
                total += int(count)
                if frames == ["", "<toplevel>"]:
                    continue
                if any(pair not in self.edges and pair not in extra for pair in zip(frames, frames[1:])):
                    wrong += int(count)
                    print(f"pause: wrong stack: ...{line.rstrip()[-200:]}", file=sys.stderr)
        return total, wrong


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def profile(args, target, engine, rate, seconds):
    """Profile for some seconds.  (begin, end, statistics, profile, CPU time of the profiler)"""
    out = os.path.join(target.folder, "profile.folded")
    before = children_cpu()
    process = subprocess.Popen([args.profiler, "-q", "-e", engine, "-p", str(target.pid), "-F", str(rate), "-d", str(seconds),
                                "-f", "folded", "-o", out, "--stats", out + ".stats"], stderr=subprocess.PIPE)
    _, err = process.communicate()
    end = time.time()
    if process.returncode:
        sys.exit("pause: " + err.decode())
    with open(out + ".stats", encoding="utf-8") as f:
        stats = json.load(f)
    return end - stats["seconds"], end, stats, out, children_cpu() - before


def median_within(units, begin, end):
    """Median duration of the units wholly within; None: too few."""
    inside = [d for e, d in units if e - d > begin and e < end]
    return statistics.median(inside) if len(inside) >= 5 else None


def turns(args, engine, rate, depth):
    target = Target("compiled", depth, True)
    windows, rates, cpu, torn, wrong, total = [], [], [], 0, 0, 0
    for _ in range(args.turns):
        begin = time.time()
        time.sleep(args.seconds)
        windows.append((begin, time.time()))
        began, ended, stats, out, used = profile(args, target, engine, rate, args.seconds)
        # the edges of a turn are the profiler starting and ending
        windows.append((began + 0.1, ended - 0.2))
        rates.append(stats["ticks"] / stats["seconds"])
        cpu.append(used / stats["seconds"])
        torn += stats["rows"]["TORN"]
        more, bad = target.wrong(out)
        total += more
        wrong += bad
    begin = time.time()
    time.sleep(args.seconds)
    windows.append((begin, time.time()))
    units = target.units()
    target.close()
    medians = [median_within(units, *w) for w in windows]
    slow = [medians[i] / ((medians[i - 1] + medians[i + 1]) / 2) - 1 for i in range(1, len(medians) - 1, 2)
            if medians[i - 1] and medians[i] and medians[i + 1]]
    slow_text = f"{100 * statistics.median(slow):.1f} %" if slow else "too busy"
    print(f"| {engine} | {rate} | {depth} | {slow_text} | {statistics.median(rates):.0f} | "
          f"{100 * statistics.median(cpu):.1f} % | {total} | {wrong} | {torn} |", flush=True)


def numbers(text):
    return [int(x) for x in text.split(",")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("profiler")
    parser.add_argument("--engines", default="bpf,ptrace,vmread")
    parser.add_argument("--rates", type=numbers, default=[99, 999])
    parser.add_argument("--depths", type=numbers, default=[20, 200])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=2)
    args = parser.parse_args()
    if not re.fullmatch(r"[a-z0-9]+(,[a-z0-9]+)*", args.engines):
        sys.exit("pause: --engines: not a list of names")
    engines = args.engines.split(",")
    if args.turns:
        print("| engine | rate asked | depth | slowdown | rate | profiler | stacks | wrong | torn |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        for depth in args.depths:
            for rate in args.rates:
                for engine in engines:
                    turns(args, engine, rate, depth)


main()
