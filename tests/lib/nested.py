#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stand C functions where they must? For tests/live/test_native_nested.sh.

usage: nested.py RPROF   a profile of tests/live/r/nested_calls.R with --native=full: r1, WAY_c1, r2, WAY_c2, ... from the outermost
on; samples before the first with a C function are those taken before the process' modules were known.

Samples without any native frame (engine ptrace, of a thread that did not stand still) end in <no-native>: nothing is said of these.

While R jumps outward (an error: R_jumpctxt(), src/main/context.c) it has left its contexts already, and the C frames are there
until longjmp(): then C functions follow each other without R's between, and the innermost function is R's or libc's, none of ours. sys.calls()
would say the same. These are `jumping`, one sample in a hundred at most.

Prints `samples N wrong N jumping N deep N handler N cut N bare N` and the first stacks that are wrong; exit status 1 if there are any.
"""
import re
import sys

R = re.compile(r"r(\d+)$")
C = re.compile(r"([a-z]+)_c(\d+)(?:\.cold)?$")
OURS = re.compile(r"(leaf|handler|thread)_burn$|nested_")


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


def jumping(frames):
    """Is R on its way out of the inner ones of these? Frames from the outermost on."""
    level, inside, alone = 0, "c", False
    for frame in frames:
        r, c = R.match(frame), C.match(frame)
        if r and (alone or inside != "c" or int(r[1]) != level + 1):
            return False
        if c and int(c[2]) != level + (inside == "c"):
            return False
        if c and inside == "c":
            alone, level = True, level + 1
        elif r:
            level, inside = level + 1, "r"
        elif c:
            inside = "c"
    return alone and not C.match(frames[-1]) and not OURS.match(frames[-1])


def main(path):
    samples = bad = jumps = deep = handler = cut = bare = 0
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
        frames.reverse()
        why = wrong(frames)
        if why and jumping(frames):
            jumps += 1
        elif why:
            bad += 1
            if len(shown) < 5:
                shown.append(f"{why}: {' '.join(frames)}")
    print(f"samples {samples} wrong {bad} jumping {jumps} deep {deep} handler {handler} cut {cut} bare {bare}")
    for text in shown:
        print(text)
    return bad > 0 or jumps * 100 > samples


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
