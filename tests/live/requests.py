#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""requests.py FOLDER PAGE FUNCTION...: open PAGE in Chromium, which keeps its files in FOLDER. Prints the first four calls of its
list in alphabetical order, whether calls have bars in the time, the slowest first, and how these functions differ between the
slowest tenth of the calls and the others: "more", "less" or "-"; with commas between them."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser

folder, path, *functions = sys.argv[1:]
with Browser(folder) as browser:
    page = browser.open(f"file://{path}#fold=1")
    page.wait("window.xrprof && xrprof.ready && xrprof.state().drawn > 0")
    said = sorted(page.evaluate("[...document.querySelectorAll('#calls-body tr')].map(row => row.lastChild.innerText)")[:4])
    said.append("bars" if page.evaluate("xrprof.state().bars > 3 && xrprof.app.strip.placed[0].call === xrprof.app.calls.slowest[0]")
                else "no bars")
    page.key("d")
    page.wait("xrprof.state().calls.compare")
    more = page.evaluate("Object.fromEntries(xrprof.app.table.rows.map(row => [row.name, row.delta]))")
    said += [f"{name} {'-' if name not in more else 'more' if more[name] > 0 else 'less'}" for name in functions]
    print(*said, *page.complaints(), sep=",")
