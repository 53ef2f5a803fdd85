#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""speedscope.py RELEASE FILE WORK: load FILE into speedscope's own page (in the folder RELEASE) in Chromium, as its
command line does; print what it shows, a line each: profiles by name, then functions."""
import base64
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import browser

release, path, work = sys.argv[1:]
with open(path, "rb") as file:
    data = base64.b64encode(file.read()).decode()
script = os.path.join(work, "load.js")
with open(script, "w") as file:
    file.write(f"speedscope.loadFileFromBase64({json.dumps(os.path.basename(path))}, {json.dumps(data)})")

with browser.Browser(work) as chromium:
    page = chromium.open(f"file://{release}/index.html#localProfilePath={script}")
    page.wait("document.querySelector('canvas') && document.title != 'speedscope'")
    print("title", page.evaluate("document.title"))
    # 3: the sandwich view, where each function is a row of a table
    page.key("3", code="Digit3")
    page.wait("document.querySelectorAll('table tr').length > 1")
    for row in page.evaluate("[...document.querySelectorAll('table tr')].map(r => r.innerText.replace(/\\s+/g, ' '))"):
        print("row", row)
    for complaint in page.complaints():
        if "WebGL" not in complaint:  # how it draws, and on what, is between it and the browser
            print("complaint", complaint)
