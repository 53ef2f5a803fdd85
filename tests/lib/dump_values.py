#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dump_values.py DUMP FOLDER: is what `dump --calls --locals --json` says what R wrote into FOLDER (tests/live/r/dump_values.R)?
Prints what is not, a line each, and fails then."""
import json
import sys

CUT = 500  # bytes of a call
# Variables that str() shows otherwise: docs/reference/frames.md, "Differences from traceback() and str()".
KNOWN = set("builtin bytes complexes date exprs formula fun keyword list named ordered pointer s4 table time tiny".split())
wrong = []
frames = json.load(open(sys.argv[1], encoding="utf-8"))["processes"][0]["frames"]
functions = [f for f in frames if f["kind"] == "function"]


def same(have, want):
    """Equal up to the cut.  Before R 4.2 deparse() gives four attributes different names."""
    for own, name in ((", .Dim = ", ", dim = "), (", .Label = ", ", levels = "), (", .Dimnames = ", ", dimnames = ")):
        want = want.replace(own, name)
    if have.endswith("...") and len(want.encode()) > len(have.encode()) >= CUT - 4:
        return want.startswith(have[:-3])
    return have == want


# below R's own Sys.sleep()
while functions and not (functions[0]["call"] or "").startswith("with_locals("):
    functions.pop(0)
calls = [line.rstrip("\n") for line in open(f"{sys.argv[2]}/calls", encoding="utf-8", errors="surrogateescape")]
while calls and not calls[0].startswith("with_locals("):
    calls.pop(0)
if len(calls) != len(functions):
    wrong.append(f"{len(calls)} calls in R, {len(functions)} in the dump")
for i, (frame, call) in enumerate(zip(functions, calls)):
    if not same(frame["call"] or "", call):
        wrong.append(f"call {i}: R {call!r}\n      we {frame['call']!r}")

have = {v["name"]: v for v in functions[0]["locals"]}
for line in open(f"{sys.argv[2]}/locals", encoding="utf-8", errors="surrogateescape"):
    name, kind, length, shown = line.rstrip("\n").split("\t", 3)
    v = have.get(name)
    if not v or v["type"] != kind or str(v["length"]) != length:
        wrong.append(f"variable {name}: R {kind} {length}, we {v}")
        continue
    want, got = ([], []) if name in KNOWN else (shown.split(), v["value"].split())
    for a, b in zip(want, got):
        if "<ALTREP" in b or "..." in (a, b) or "|__truncated__" in a or a.endswith("...") or b.endswith("..."):
            break
        if a != b:
            wrong.append(f"variable {name}: R {shown[:100]!r}, we {v['value'][:100]!r}")
            break
print("\n".join(wrong[:60]))
print(len(calls), "calls,", len(have), "variables,", len(wrong), "differences")
sys.exit(bool(wrong))
