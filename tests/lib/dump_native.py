#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
dump_native.py DUMP GDB [FUNCTION...]: are the native frames of `dump --native=raw --threads --json`, or of a core
file, those of gdb (tests/live/dump_gdb.py)?

They are compared from the outermost inward: the file, the address in it, and the function where both name it. Of a thread that
is inside of one of FUNCTIONs, which runs, the frames are compared up to that function, without its address. Prints what differs.
Exits with 1 then. Else prints how many frames are equal.
"""
import collections, json, os, re, sys

theirs = collections.defaultdict(list)
for line in open(sys.argv[2]):
    if line.startswith("frame\t"):
        tid, path, address, name = line.rstrip("\n").split("\t")[1:]
        theirs[int(tid)].append((path, int(address), name))
running = sys.argv[3:]
p = json.load(open(sys.argv[1]))["processes"][0]
ours = {t["tid"]: t["native"] for t in p.get("threads", [])}
if "native" in p:
    ours[p["thread"]] = p["native"]
else:  # a core file: the thread that crashed
    ours[p["thread"]] = [f for f in p["frames"] if f["kind"] == "native"]
    theirs = {p["thread"]: theirs[p["thread"]]}


def plain(name):
    """glibc has several names for one function; and the compiler puts something behind a name."""
    name = re.sub(r"^_*(GI_)?_*(libc_)?_*", "", name).replace("IO_new_", "IO_")
    return re.sub(r"_impl$", "", name).split(".")[0]


def cut(frames, name_of):
    """What is outside of the innermost function that runs, and whether there is one."""
    for i, f in enumerate(frames):
        if name_of(f) in running:
            return frames[i:], True
    return frames, False


equal = named = 0
wrong = []
if set(ours) != set(theirs):
    wrong.append("threads: %s, gdb has %s" % (sorted(ours), sorted(theirs)))
for tid in sorted(set(ours) & set(theirs)):
    a, runs = cut(ours[tid], lambda f: f["function"])
    b, also = cut(theirs[tid], lambda f: f[2])
    if len(a) != len(b) or runs != also:
        wrong.append("thread %d: %s; gdb has %s" % (tid, [f["function"] for f in a], [f[2] for f in b]))
        continue
    for i, (f, (path, address, name)) in enumerate(zip(a, b)):
        same = os.path.basename(f["module"] or "") == path and (f["address"] in (address, address - 1) or (runs and not i))
        # a builtin has R's name for its C function
        if f["kind"] == "native" and name and not f["function"].startswith(path + "+"):
            # gdb takes a name with __ in it for one of Ada
            same = same and (plain(f["function"]) == plain(name) or f["function"].replace("__", ".") == name)
            named += 1
        equal += same
        if not same:
            wrong.append("thread %d, frame %d: %s; gdb has %s" % (tid, i, f, (path, address, name)))
for line in wrong:
    print(line)
if wrong or not equal:
    sys.exit(1)
print("%d frames of %d threads, %d of them named by both" % (equal, len(ours), named))
