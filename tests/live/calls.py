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
               "found": None}


def found_calls(path):
    with open(path) as f:
        for call in json.load(f)["slowest"]:
            start = datetime.datetime.fromisoformat(call["start"].replace("Z", "+00:00"))
            call["from"] = 1000 * start.timestamp()
            yield call


def off(call, entry):
    """By how many ms the duration is wrong at least: the log knows each end within two times."""
    return max(call["ms"] - (entry["ended"] - entry["first"]),
               entry["ends"] - entry["last"] - call["ms"], 0)


def may_be(call, entry):
    """Can that be the logged call, within the error that is stated?"""
    error = call["error_ms"] + ROUNDING
    return (call["function"] == entry["function"] and off(call, entry) <= error and
            call["from"] + call["ms"] >= entry["first"] - error and
            call["from"] <= entry["ended"] + error)


def match(call, log, tried):
    """Give the call a logged one, each to one call alone; others may move to another."""
    for number, entry in enumerate(log):
        if number in tried or not may_be(call, entry):
            continue
        tried.add(number)
        if entry["found"] is None or match(entry["found"], log, tried):
            entry["found"] = call
            return True
    return False


def main():
    log = list(logged_calls(sys.argv[1]))
    with open(sys.argv[3]) as f:
        stats = json.load(f)
    # a tick comes after each period of CPU time, and a wait that is as long is sampled
    certain = 1000 / float(sys.argv[4]) + 2
    wrong, errors, ambiguous = [], [], 0

    for call in sorted(found_calls(sys.argv[2]), key=lambda c: -c["ms"]):
        if not match(call, log, set()):
            wrong.append(f"found, and not logged so, or a part of another: {call}")
    # calls that had no sample because these were not taken
    unseen = sum(stats[key] for key in ("missed", "unreadable", "lost"))
    wall = stats["clock"] == "wall"
    for entry in log:
        found = entry["found"]
        shortest = entry["ends"] - entry["last"]
        seen = max(entry["cpu"], entry["slept"]) if not wall else shortest
        if not found and seen >= certain:
            unseen -= 1
            if unseen < 0:
                wrong.append(f"not found: {entry}")
        if not found:
            continue
        call = found
        errors.append((off(call, entry), call["error_ms"]))
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
