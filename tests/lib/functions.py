#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
usage: functions.py ORACLE FRAMES CASES ROUNDS

Compare what the profiler said of the functions of samples (FRAMES, tests/fixtures/oracle_tap.c) with what R said of
them in the same process (ORACLE, tests/live/r/functions.R). A sample is of case N if the function spin_N is on its
stack; all frames from there outward are compared. Contexts of foreign calls, which R does not number, are passed over.
Each of the CASES must have been seen in each of the ROUNDS.

In the last round, which is a forked child's, a function may be unknown: a page that is being copied cannot be read
(wp_page_copy(), mm/memory.c, clears its entry before it sets the new one). Then another sample must have it.
"""
import collections
import re
import sys

FOREIGN = {".Call", ".External", ".External2", ".C", ".Internal", ".Call.graphics", ".External.graphics"}


def read_oracle(path):
    """The calls of each case, each a list of frames."""
    cases = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("call ") and "\t" not in line:
            call = []
            cases[int(line[5:])].append(call)
        else:
            call.append(tuple(line.split("\t")))
    return cases


def read_samples(path):
    sample = None
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line != "sample":
            sample.append(tuple(line.split("\t")[:4]))
            continue
        if sample is not None:
            yield sample
        sample = []
    if sample is not None:
        yield sample


UNKNOWN = "not known: "


def compare(said, told):
    """What differs between R's frames and those of a sample, both outermost first; None: nothing."""
    told = [f for f in told if f[0] not in FOREIGN]
    if len(told) != len(said):
        return f"{len(told)} frames, R has {len(said)}: {[f[0] for f in told]} for {[f[0] for f in said]}"
    for i, (r, ours) in enumerate(zip(said, told)):
        if r[0] and r[0] != ours[0]:
            return f"frame {i} is {ours[0]}, R has {r[0]}"
        if r[1:] != ours[1:]:
            unknown = all(o in (s, "", "0") for s, o in zip(r[1:], ours[1:]))
            return f"{UNKNOWN if unknown else ''}{ours[0]}: {ours[1:]}, R says {r[1:]}"
    return None


def main(oracle, frames, cases, rounds):
    names = open(cases, encoding="utf-8").read().splitlines()
    oracle = read_oracle(oracle)
    seen, told, wrong = collections.Counter(), set(), {}
    for sample in read_samples(frames):
        at = [i for i, f in enumerate(sample) if re.fullmatch(r"spin_[0-9]+", f[0])]
        if not at:
            continue
        number = int(sample[at[0]][0][5:])
        outward = sample[at[0]:][::-1]
        # a case may call its function from several stacks: it is one of them
        problems = [compare(call, outward) for call in oracle[number]] or ["R told nothing of it"]
        if all(problems) and number // 1000 == int(rounds) and any(p.startswith(UNKNOWN) for p in problems):
            continue
        seen[number] += 1
        told.update(f[1:] for f in outward)
        if all(problems):
            wrong.setdefault(number, problems[0])
    missing = [f"{name} ({r})" for r in range(1, int(rounds) + 1) for i, name in enumerate(names, 1)
               if not seen[i + 1000 * r]]
    packages = {f[0] for f in told}
    print(f"{sum(seen.values())} samples of {len(seen)} cases, {len(told)} functions that differ in package or place, "
          f"packages: {' '.join(sorted(packages))}")
    for number, problem in sorted(wrong.items()):
        print(f"{names[number % 1000 - 1]} ({number // 1000}): {problem}")
    if missing:
        print("not seen:", "; ".join(missing))
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
