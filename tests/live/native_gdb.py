# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Run by gdb (gdb -batch -p PID -x native_gdb.py): at random moments compare what gdb makes of the stack of R's thread with
what our tables and unwinder make of it.  From the environment: UNWIND, the command that unwinds (tests/fixtures/unwind_stack.c);
STOPS, how many moments; FRAMES, how many frames of each at most.

Prints "stops N frames N equal N whole N" and, for each difference, what ended or differed, with how many of it there were; of
the first in which another frame follows, the last that is equal and both that follow.
"""
import collections, os, random, subprocess

import gdb

stops, limit = int(os.environ["STOPS"]), int(os.environ["FRAMES"])
random.seed(1)
pid = gdb.selected_inferior().pid
ours = subprocess.Popen([os.environ["UNWIND"], str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
registers = ("rip", "rsp", "rbp", "rip") if "x86" in gdb.selected_inferior().architecture().name() else ("pc", "sp", "x29", "x30")


def number(frame, register):
    return int(frame.read_register(register)) & (1 << 64) - 1


def theirs():
    """(pc, stack pointer) of each frame, without those that exist in the source only."""
    frame, out = gdb.newest_frame(), []
    while frame is not None and len(out) < limit:
        if frame.type() != gdb.INLINE_FRAME:
            out.append((frame.pc(), number(frame, registers[1])))
        frame = frame.older()
    return out


def unwound():
    frame = gdb.newest_frame()
    line = " ".join("%x" % number(frame, r) for r in registers) + " %d\n" % limit
    ours.stdin.write(line)
    ours.stdin.flush()
    end, *frames = ours.stdout.readline().split()
    return end, [tuple(int(n, 16) for n in f.split(":")) for f in frames]


def module(pc):
    name = gdb.solib_name(pc)
    return os.path.basename(name) if name else "program"


def told(frames, i):
    """Frame i as text, for a message."""
    pc, sp = frames[i]
    code = gdb.execute("x/i %d" % pc, to_string=True).strip() if pc else ""
    return "%d: sp %x, %s" % (i, sp, " ".join(code.split()))


gdb.execute("set pagination off")
gdb.execute("set backtrace past-main on")
gdb.execute("handle SIGINT stop print nopass")
frames = equal = whole = 0
differ = collections.Counter()
others = []

for _ in range(stops):
    # a separate process: gdb runs no code of this script while the process runs
    later = subprocess.Popen(["sh", "-c", "sleep %f; kill -INT %d" % (random.uniform(0.001, 0.02), pid)])
    gdb.execute("continue", to_string=True)
    later.wait()
    a = theirs()
    end, b = unwound()
    frames += len(a)
    same = next((i for i in range(min(len(a), len(b))) if a[i] != b[i]), min(len(a), len(b)))
    equal += same
    if same == len(a) == len(b):
        whole += 1
    elif same == len(a):
        differ["gdb ends in %s, we go on" % module(a[-1][0])] += 1
    elif same == len(b):
        differ["%s in %s" % (end, module(a[same - 1][0]) if same else "?")] += 1
    else:
        differ["another frame after %s" % (module(a[same - 1][0]) if same else "?")] += 1
        if len(others) < 5:
            registers_now = gdb.execute("info registers rip rsp rbp", to_string=True) if registers[0] == "rip" else ""
            others.append("\n".join([told(a, same - 1) if same else "?", "gdb's " + told(a, same), "ours  " + told(b, same)]
                + registers_now.splitlines()))
print("stops %d frames %d equal %d whole %d" % (stops, frames, equal, whole))
for what, n in differ.most_common():
    print("differs %d: %s" % (n, what))
for text in others:
    print("another:\n" + text)
gdb.execute("detach")
ours.stdin.close()
ours.wait()
