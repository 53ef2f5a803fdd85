#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Are builtins called what R calls them?  For tests/live/test_native_builtins.sh.

usage: builtins.py FRAMES CALLS PRIMITIVES

FRAMES: what oracle-tap writes of samples with --native=raw. R's profiler was on, so R made contexts of its builtins: a primitive of
type "builtin" that was called through its object is named by the next R frame outside of it. Others have no context: one of the
next functions outside of them, whose arguments are evaluated late, must call what they are called (CALLS: each function, and all
that stands in its body; `f(x) <- v` calls `f<-`, and lapply() and its like make calls of `[[`).

Prints `builtins N context N call N wrong N` and the first that are wrong; the exit status says whether there are any.
"""
import sys
from collections import Counter

R, ANON, BUILTIN = "0", "1", "2"


def main(samples, calls, primitives):
    body = {}
    for line in open(calls, encoding="utf-8"):
        name, *names = line.rstrip("\n").split("\t")
        body[name] = set(names)
    kind_of = dict(line.rstrip("\n").split("\t") for line in open(primitives, encoding="utf-8"))
    count, wrong = Counter(), Counter()

    def called(name, frame):
        names = body.get(frame[1])
        if frame[0] == ANON or names is None:
            return frame[1] not in kind_of  # a function that is not known
        return name in names or name.removesuffix("<-") in names or (name == "[[" and frame[1].endswith("apply"))

    def check(frames):
        for i, (kind, name) in enumerate(frames):
            if kind != BUILTIN:
                continue
            count["builtins"] += 1
            outside = ([f for f in frames[i + 1:] if f[0] in (R, ANON)] + [(R, "<toplevel>")])[:4]
            if outside[0][1] == name and kind_of.get(name) == "builtin":
                count["context"] += 1
            elif any(called(name, f) for f in outside):
                count["call"] += 1
            else:
                count["wrong"] += 1
                wrong[f"{name} in {' in '.join(f[1] for f in outside)}"] += 1

    frames = []
    for line in open(samples, encoding="utf-8", errors="replace"):
        if line == "sample\n":
            check(frames)
            frames = []
        else:
            name, *_, kind = line.rstrip("\n").split("\t")
            frames.append((kind, name))
    check(frames)
    print(" ".join(f"{k} {count[k]}" for k in ("builtins", "context", "call", "wrong")))
    for text, n in wrong.most_common(20):
        print(f"{n} times: {text}")
    return count["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
