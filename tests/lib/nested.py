#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stand C functions where they must? For tests/live/test_native_nested.sh.

usage: nested.py RPROF   a profile of tests/live/r/nested_calls.R with --native=full: r1, WAY_c1, r2, WAY_c2, ... from the outermost
on; samples before the first with a C function are those taken before the process' modules were known.

Samples without any native frame (engine ptrace, of a thread that did not stand still) end in <no-native>: nothing is said of these.

Prints `samples N wrong N deep N handler N cut N bare N` and the first stacks that are wrong; exit status 1 if there are any.
"""
import re
import sys

R = re.compile(r"r(\d+)$")
C = re.compile(r"([a-z]+)_c(\d+)$")


def wrong(frames):
    """Why it cannot be: frames from the outermost on."""
    level, inside = 0, "c"  # r1 comes first
    for frame in frames:
        r, c = R.match(frame), C.match(frame)
        if r:
            if inside != "c" or int(r[1]) != level + 1:
                return f"{frame} behind {'r' if inside == 'r' else 'c'}{level}"
            level, inside = level + 1, "r"
        elif c:
            if inside != "r" or int(c[2]) != level:
                return f"{frame} behind {'r' if inside == 'r' else 'c'}{level}"
            inside = "c"
    return None


def main(path):
    samples = bad = deep = handler = cut = bare = 0
    begun = False
    shown = []
    for line in open(path, encoding="utf-8", errors="replace"):
        frames = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
        if not frames or line.startswith("#"):
            continue
        begun = begun or any(C.match(f) or f == "leaf_burn" for f in frames)
        if not begun:
            continue
        if "thread_burn" in frames:  # R's thread waits, and its own C functions are not known
            continue
        if frames[0] == "<no-native>" and not any(C.match(f) for f in frames):
            bare += 1
            continue
        samples += 1
        deep += sum(1 for f in frames if C.match(f)) >= 5
        handler += "handler_burn" in frames
        cut += "<no-native>" in frames
        why = wrong(reversed(frames))
        if why:
            bad += 1
            if len(shown) < 5:
                shown.append(f"{why}: {' '.join(reversed(frames))}")
    print(f"samples {samples} wrong {bad} deep {deep} handler {handler} cut {cut} bare {bare}")
    for text in shown:
        print(text)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
