# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Run by gdb (gdb -batch -p PID -x dump_gdb.py, or with a core file; of an image with its folder as
sysroot): prints what gdb makes of the stacks of a process, for tests/lib/dump_native.py: a line a
frame, the innermost first: thread, file, address in that file, function, with tabs between.
"""
import os

import gdb

gdb.execute("set pagination off")
gdb.execute("set backtrace past-main on")
begins = {}  # of a file, where it is mapped
for line in gdb.execute("info proc mappings", to_string=True).splitlines():
    fields = line.split()
    if len(fields) > 4 and fields[0].startswith("0x") and fields[-1].startswith("/"):
        begins.setdefault(fields[-1], int(fields[0], 16))
root = gdb.parameter("sysroot")
root = os.path.realpath(root) if root.startswith("/") else ""
program = gdb.current_progspace().filename
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame = gdb.newest_frame()
    while frame is not None:
        # inlined functions and tail calls have no frame on the stack
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            path = gdb.solib_name(frame.pc()) or program
            path = os.path.realpath(path)
            path = path[len(root):] if path.startswith(root + "/") else path
            print("frame\t%d\t%s\t%d\t%s" % (thread.ptid[1] or thread.ptid[0], os.path.basename(path),
                frame.pc() - begins.get(path, 0), frame.name() or ""))
        frame = frame.older()
if gdb.selected_inferior().was_attached:
    gdb.execute("detach")
