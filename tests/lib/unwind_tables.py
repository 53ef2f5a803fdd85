# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
usage: unwind_tables.py DUMPER FILE...

Compare the unwind table that DUMPER (tests/fixtures/unwind_dump.c) makes of each ELF file with what readelf makes of its .eh_frame:
at each address where a row of readelf's begins, where the CFA is, and the frame pointer and return address of the caller.

Prints "files N rows N equal N other-register N expression N differ N", the sizes, and the first that differ.
"""
import bisect, re, subprocess, sys

dumper, files = sys.argv[1], sys.argv[2:]
FDE = re.compile(r"^[0-9a-f]+ .* FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)")
counts = dict.fromkeys(("files", "rows", "equal", "other-register", "expression", "differ"), 0)
shown = 0


def table(path):
    out = subprocess.run([dumper, path], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    if not out:
        return None
    rows = [line.split() for line in out[1:]]
    return out[0], [int(r[0], 16) for r in rows], [r[1:] for r in rows]


def theirs(path):
    """(address, end of its row, CFA, frame pointer, return address) for each row; registers by their names in the head."""
    command = ["readelf", "--wide", "--debug-dump=frames-interp", path]
    end, columns, last = 0, [], None
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace") as process:
        for line in process.stdout:
            fde = FDE.match(line)
            if fde:
                end, columns = int(fde[2], 16), []
                continue
            words = line.split()
            if " CIE " in line or not words:
                end = 0 if " CIE " in line else end
                continue
            if words[0] == "LOC":
                columns = words
            elif end and columns and re.fullmatch(r"[0-9a-f]{16}", words[0]) and len(words) == len(columns):
                row = dict(zip(columns, words))
                fp = row.get("rbp", row.get("x29", "u"))
                yield int(words[0], 16), end, row["CFA"], fp, row.get("ra", "u")


for path in files:
    ours = table(path)
    if not ours:
        continue
    head, starts, rows = ours
    counts["files"] += 1
    print(head)
    for pc, end, cfa, fp, ra in theirs(path):
        if pc >= end:  # readelf prints the end of a function as a separate row
            continue
        at = bisect.bisect_right(starts, pc) - 1
        have = rows[at] if at >= 0 else ["none", "u", "lost"]
        counts["rows"] += 1
        want = [cfa, "u" if fp == "s" else fp, ra]
        if have == want or (have[0] == "end" and ra == "u") or (have[1] == "lost" and [have[0], have[2]] == [cfa, ra] and fp[0] not in "cus"):
            counts["equal"] += 1
        elif (have[0] == "none" and cfa == "exp") or (have[2] == "lost" and [have[0], ra] == [cfa, "exp"]):
            counts["expression"] += 1
        elif have[0] == "none" and not re.match(r"(rsp|rbp|sp|x29)[+-]", cfa):
            counts["other-register"] += 1
        else:
            counts["differ"] += 1
            shown += 1
            if shown <= 20:
                print("differs", path, hex(pc), "ours", have, "readelf", want)
print(*(f"{k} {v}" for k, v in counts.items()))
