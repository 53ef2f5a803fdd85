#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""usage: labels.py FILE LEAST PROCESSES

Has each sample of tests/live/r/labels.R the labels of its moment? Its stack says which these are. Of at least LEAST samples
that must be known, with labels and without. Samples with labels are of as many processes as PROCESSES."""
import sys, os

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import raw_pprof


def wanted(stack):
    """The label `lab` that a stack of names has, innermost first: "" for none, None if it may be one or the other."""
    for i, name in enumerate(stack):
        if name == "none":
            return ""
        if name == "burn":
            return next((n for n in stack[i:] if n.startswith("lab_")), None)
    return None


def main(path, least, processes):
    samples, _ = raw_pprof.read(path)
    bad, labelled, without, free, pids = [], 0, 0, 0, set()
    for s in samples:
        lab = s.labels.get("lab", "")
        stack = [name.split("::")[-1] for name in s.stack]
        count = s.values["samples"]
        want = wanted(stack)
        # a label has its function on the stack
        wrong = lab and lab not in stack
        if want is None:
            free += count
        elif want:
            labelled += count
            pids.add(s.labels["pid"])
        else:
            without += count
        if wrong or (want is not None and want != lab):
            bad.append((count, want, lab, stack[:6]))
    print(f"{labelled} samples with the labels of their moment, {without} without, {free} in between, "
          f"{len(bad)} wrong, of {len(pids)} processes")
    for b in bad[:10]:
        print("wrong:", *b)
    return bool(bad) or labelled < least or without < least or len(pids) != processes


sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
