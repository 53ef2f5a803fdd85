# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""prompt.py PIDFILE COMMAND [ARG...] <LINES: run COMMAND at a terminal, with LINES typed into it one by one as they come;
its pid goes to PIDFILE.  Ends with it, or when no more lines come."""
import os
import pty
import select
import sys

pid, terminal = pty.fork()
if not pid:
    os.execvp(sys.argv[2], sys.argv[2:])
with open(sys.argv[1] + ".tmp", "w") as out:
    out.write(f"{pid}\n")
os.rename(sys.argv[1] + ".tmp", sys.argv[1])
while True:
    ready, _, _ = select.select([0, terminal], [], [])
    if terminal in ready:
        try:
            shown = os.read(terminal, 4096)
        except OSError:  # it has ended
            break
        if not shown:
            break
        os.write(1, shown)
    if 0 in ready:
        typed = os.read(0, 4096)
        if not typed:
            break
        os.write(terminal, typed)
