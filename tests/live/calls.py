#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compare the calls of a profile with the log of the program (tests/live/r/calls.R).

calls.py LOG JSON STATS HZ: JSON is of `report --calls --json --top 0`.  Prints what is wrong, one
line each, and then the figures; exit status 1 if something is wrong.
"""

import datetime
import json
import sys

ROUNDING = 1.001  # ms: a profile has whole ms, of the start and of the error, too


def logged_calls(path):
    for line in open(path):
        name, *numbers = line.split()
        first, last, ends, ended, cpu, slept = map(float, numbers)
        yield {"function": name, "first": 1000 * first, "last": 1000 * last,
               "ends": 1000 * ends, "ended": 1000 * ended, "cpu": cpu, "slept": slept,
               "found": []}


def found_calls(path):
    with open(path) as f:
        for call in json.load(f)["slowest"]:
            start = datetime.datetime.fromisoformat(call["start"].replace("Z", "+00:00"))
            call["from"] = 1000 * start.timestamp()
            yield call


def overlap(call, entry):
    return min(call["from"] + call["ms"], entry["ended"]) - max(call["from"], entry["first"])


def main():
    log = list(logged_calls(sys.argv[1]))
    with open(sys.argv[3]) as f:
        stats = json.load(f)
    # a tick comes after each period of CPU time, and a wait that is as long is sampled
    certain = 1000 / float(sys.argv[4]) + 2
    wrong, errors, ambiguous = [], [], 0

    for call in found_calls(sys.argv[2]):
        best = max((e for e in log if e["function"] == call["function"]),
                   key=lambda e: overlap(call, e), default=None)
        if not best or overlap(call, best) < -call["error_ms"] - ROUNDING:
            wrong.append(f"found and not logged: {call}")
        else:
            best["found"].append(call)
    # calls that had no sample because these were not taken
    unseen = sum(stats[key] for key in ("missed", "unreadable", "lost"))
    wall = stats["clock"] == "wall"
    for entry in log:
        found = entry["found"]
        longest = entry["ended"] - entry["first"]
        shortest = entry["ends"] - entry["last"]
        seen = max(entry["cpu"], entry["slept"]) if not wall else shortest
        if len(found) > 1:
            wrong.append(f"found {len(found)} times: {entry}")
        if not found and seen >= certain:
            unseen -= 1
            if unseen < 0:
                wrong.append(f"not found: {entry}")
        if len(found) != 1:
            continue
        call = found[0]
        off = max(call["ms"] - longest, shortest - call["ms"], 0)
        errors.append((off, call["error_ms"]))
        if off > call["error_ms"] + ROUNDING:
            wrong.append(f"off by {off:.1f} ms: {entry}")
        ambiguous += call["ambiguous"]
        if call["running"] or call["cut"]:
            wrong.append(f"not complete: {call}")
    for line in wrong:
        print(line)
    print(f"{len(log)} calls, {len(errors)} found, off by {max(e[0] for e in errors):.1f} ms at "
          f"most, stated error {sum(e[1] for e in errors) / len(errors):.1f} ms on average, "
          f"{ambiguous} ambiguous"
          if errors else "none found")
    return 1 if wrong or not errors else 0


if __name__ == "__main__":
    sys.exit(main())
