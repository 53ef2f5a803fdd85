#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stand C functions where they must? For tests/live/test_native_nested.sh.

usage: nested.py RPROF [bare]   a profile of tests/live/r/nested_calls.R with --native=full: r1, WAY_c1, r2, WAY_c2, ... from the outermost
on; samples before the first with a C function are those taken before the process' modules were known.

Outside of <no-native> only R's functions may be. Stacks that took too long (<truncated>) are not
checked. Samples without any native frame (engine ptrace, of a thread that did not stand still) end
in <no-native>. They are not checked either.

While R jumps outward (an error: R_jumpctxt(), src/main/context.c) it has left its contexts already, and the C frames are there
until longjmp(): then C functions follow each other without R's between, and the innermost function is R's or libc's, none of ours. sys.calls()
would say the same. And while a C++ exception is about to be caught libgcc has put the place where it is in place of a return address. These are
`jumping`. With `bare` C functions of these may be missing: those between code without unwind tables and the next context.

Prints `samples N wrong N jumping N deep N handler N cut N bare N` and the first stacks that are wrong; exit status 1 if there are any.
"""
import re
import sys

R = re.compile(r"r(\d+)$")
C = re.compile(r"([a-z]+)_c(\d+)(?:\.cold)?$")
GCC = re.compile(r"_Unwind_|libgcc_s")
MARK = "<no-native>"
OURS = re.compile(r"(leaf|handler|thread)_burn$|nested_")


def wrong(frames):
    """Why it cannot be: frames from the outermost on. What is outside of <no-native> has R's functions alone."""
    level, inside, start = 0, "c", 0  # r1 comes first
    if MARK in frames:
        start = len(frames) - frames[::-1].index(MARK)
        for frame in frames[:start]:
            r = R.match(frame)
            if r and int(r[1]) != level + 1:
                return f"{frame} behind r{level}"
            level += bool(r)
        inside = None  # whether a C function is missing is not known
    for frame in frames[start:]:
        r, c = R.match(frame), C.match(frame)
        if r:
            if inside == "r" or int(r[1]) != level + 1:
                return f"{frame} behind {'r' if inside == 'r' else 'c'}{level}"
            level, inside = level + 1, "r"
        elif c:
            if inside == "c" or int(c[2]) != level:
                return f"{frame} behind {'r' if inside == 'r' else 'c'}{level}"
            inside = "c"
    return None


def jumping(frames, gaps):
    """Is R on its way out of the inner ones of these? Frames from the outermost on."""
    # libgcc is about to go on in the function that catches: its return address is that place already
    end = len(frames)
    while end and GCC.match(frames[end - 1]):
        end -= 1
    if 0 < end < len(frames) and C.match(frames[end - 1]):
        return not wrong(frames[:end - 1])
    level, inside, alone = 0, "c", False
    for frame in frames:
        r, c = R.match(frame), C.match(frame)
        if r and (alone or inside != "c" or int(r[1]) != level + 1):
            return False
        least = level + (inside == "c")
        if c and (int(c[2]) < least or (int(c[2]) > least and not gaps)):
            return False
        if c and int(c[2]) > level:
            alone, level, inside = True, int(c[2]), "c"
        elif r:
            level, inside = level + 1, "r"
        elif c:
            inside = "c"
    return alone and not C.match(frames[-1]) and not OURS.match(frames[-1])


def main(path, gaps):
    samples = bad = jumps = deep = handler = cut = bare = 0
    begun = False
    shown = []
    before = None
    for line in open(path, encoding="utf-8", errors="replace"):
        frames = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
        if not frames or line.startswith("#"):
            continue
        begun = begun or any(C.match(f) or f == "leaf_burn" for f in frames)
        if not begun:
            continue
        if "thread_burn" in frames:  # R's thread waits, and its own C functions are not known
            continue
        if frames[0] == MARK and not any(C.match(f) for f in frames):
            bare += 1
            continue
        if frames[-1] == "<truncated>":  # it took too long: the outer part is missing, and so is where to begin
            cut += 1
            continue
        samples += 1
        deep += sum(1 for f in frames if C.match(f)) >= 5
        handler += "handler_burn" in frames
        cut += MARK in frames
        frames.reverse()
        why = wrong(frames)
        if why and jumping(frames, gaps):
            jumps += line != before  # engine ptrace: the thread may wait for a CPU there
        elif why:
            bad += 1
            if len(shown) < 5:
                shown.append(f"{why}: {' '.join(frames)}")
        before = line
    print(f"samples {samples} wrong {bad} jumping {jumps} deep {deep} handler {handler} cut {cut} bare {bare}")
    for text in shown:
        print(text)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:] == ["bare"]))
