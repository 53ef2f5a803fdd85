#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compare the calls of a profile with the log of the program (tests/live/r/calls.R).

calls.py LOG JSON STATS HZ PROFILE: JSON is of `report --calls --json --top 0` on PROFILE.  Prints
what is wrong, one line each, and then the figures; exit status 1 if something is wrong.
"""

import collections
import datetime
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import raw_pprof

ROUNDING = 1.001  # ms: a profile has whole ms, of the start, the duration and the error: of two of them


def logged_calls(path):
    for line in open(path):
        name, *numbers = line.split()
        first, last, ends, ended, cpu, slept = map(float, numbers)
        yield {"function": name, "first": 1000 * first, "last": 1000 * last,
               "ends": 1000 * ends, "ended": 1000 * ended, "cpu": cpu, "slept": slept}


def found_calls(slowest):
    for call in slowest:
        start = datetime.datetime.fromisoformat(call["start"].replace("Z", "+00:00"))
        call["from"] = 1000 * start.timestamp()
        yield call


def misidentified(path):
    """Each call labels its samples by its function and its row.  How many calls have a label, and
    lines about those with several numbers, and about numbers of several calls."""
    numbers, calls = collections.defaultdict(set), collections.defaultdict(set)
    for sample in raw_pprof.read(path)[0]:
        # of each call that it is in there is a name and then a number
        named = [[value for key, value in sample.pairs if key == of] for of in ("call", "call_id")]
        inside = dict(zip(*named))
        for function in ("deal", "batch"):
            if function in sample.labels:
                call, number = (function, sample.labels[function]), inside.get(function)
                numbers[call].add(number)
                calls[number].add(call)
    return len(numbers), (
        [f"split: {call}: {several}" for call, several in numbers.items() if len(several) > 1] +
        [f"joined, or in none: {number}: {several}" for number, several in calls.items()
         if len(several) > 1 or not number])


def off(call, entry):
    """By how many ms the duration is wrong at least: the log knows each end within two times."""
    return max(call["ms"] - (entry["ended"] - entry["first"]),
               entry["ends"] - entry["last"] - call["ms"], 0)


def may_be(call, entry):
    """Can that be the logged call?  The error that is stated is of its two ends together."""
    error, end = call["error_ms"] + ROUNDING, call["from"] + call["ms"]
    end_error = error + ROUNDING / 2  # the end is made of two of them
    return (call["function"] == entry["function"] and off(call, entry) <= error and
            entry["first"] - error <= call["from"] <= entry["last"] + error and
            entry["ends"] - end_error <= end <= entry["ended"] + end_error)


def must_be_found(entry, hz, wall):
    """Was it long enough?  proc.time() rounds each of two times twice, by 0.5 ms at most.

    Of CPU time each period ends with a sample, and a wait that is as long is one.  With --clock wall
    a sample comes after each period of any time, and one that is late by less than a period is not
    counted as missed.
    """
    seen = entry["ends"] - entry["last"] if wall else max(entry["cpu"], entry["slept"])
    return seen >= (2 if wall else 1) * 1000 / hz + 2


def match(one, near, partner, tried):
    """Give @one a partner among those near it; partners of others may move.  No other loses its."""
    for other in near[one]:
        if other in tried:
            continue
        tried.add(other)
        if other not in partner or match(partner[other], near, partner, tried):
            partner[one], partner[other] = other, one
            return True
    return False


def main():
    log = list(logged_calls(sys.argv[1]))
    with open(sys.argv[2]) as f:
        calls = list(found_calls(json.load(f)["slowest"]))
    with open(sys.argv[3]) as f:
        stats = json.load(f)
    wall = stats["clock"] == "wall"
    labelled, wrong = misidentified(sys.argv[5])
    errors, partner = [], {}
    near = {("logged", i): [("found", j) for j, call in enumerate(calls) if may_be(call, entry)]
            for i, entry in enumerate(log)}
    near.update({("found", j): [("logged", i) for i, entry in enumerate(log) if may_be(call, entry)]
                 for j, call in enumerate(calls)})

    # Calls that follow each other may both be near a found one: it is given to the one that must be
    # found.  Then the other found calls are given, which takes no logged one's partner away.
    # Each sample that was not taken may be the only one of a call.
    unseen = sum(stats[key] for key in ("missed", "unreadable", "lost"))
    missing = [entry for i, entry in enumerate(log) if must_be_found(entry, float(sys.argv[4]), wall)
               and not match(("logged", i), near, partner, set())]
    if len(missing) > unseen:
        wrong += [f"not found: {entry}" for entry in missing]
    for j, call in enumerate(calls):
        if ("found", j) not in partner and not match(("found", j), near, partner, set()):
            wrong.append(f"found, and not logged so, or a part of another: {call}")
        if ("found", j) in partner:
            errors.append((off(call, log[partner["found", j][1]]), call["error_ms"]))
        if call["running"] or call["cut"]:
            wrong.append(f"not complete: {call}")
    ambiguous = sum(call["ambiguous"] for call in calls)
    for line in wrong:
        print(line)
    print(f"{len(log)} calls, {len(errors)} found, {labelled} with labels, off by {max(e[0] for e in errors):.1f} ms at "
          f"most, stated error {sum(e[1] for e in errors) / len(errors):.1f} ms on average, "
          f"{ambiguous} ambiguous"
          if errors else "none found")
    return 1 if wrong or not errors or not labelled else 0


if __name__ == "__main__":
    sys.exit(main())
