#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""page.py FOLDER RELEASE TURNS: time FOLDER/page.html and, in the page of speedscope that is in the folder RELEASE,
FOLDER/page.speedscope.json, in turns. See tests/bench/page."""
import base64
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser

folder, release, turns = sys.argv[1], sys.argv[2], int(sys.argv[3])
NEXT = "await new Promise(done => requestAnimationFrame(() => setTimeout(done)));"


def paint(page):
    return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")


def ours(browser):
    page = browser.open(f"file://{folder}/page.html")
    page.wait("window.xrprof && xrprof.state().drawn > 0")
    drawn = page.evaluate("xrprof.times[3]")
    search = page.evaluate("(async () => { const t = performance.now(), i = document.getElementById('search');"
                           " i.value = 'leaf42$'; i.dispatchEvent(new Event('input'));"
                           f" while (!xrprof.app.share) {{ {NEXT} }} {NEXT} return performance.now() - t; }})()")
    result = [paint(page), drawn, search]
    page.close()
    return result


def theirs(browser):
    with open(f"{folder}/page.speedscope.json", "rb") as file:
        data = base64.b64encode(file.read()).decode()
    with open(f"{folder}/load.js", "w") as file:
        file.write(f"speedscope.loadFileFromBase64('page', {json.dumps(data)})")
    page = browser.open(f"file://{release}/index.html#localProfilePath={folder}/load.js")
    # speedscope adds a canvas for the graph once it has a profile
    page.wait("document.querySelectorAll('canvas').length > 0 && document.title !== 'speedscope'")
    drawn = page.evaluate(f"(async () => {{ {NEXT} return performance.now(); }})()")
    # its search is a field that comes up on Ctrl-F and tells how many frames match
    page.key("f", code="KeyF", modifiers=2, windowsVirtualKeyCode=70)
    search = None
    try:
        page.wait("document.querySelector('input')", 5)
        search = page.evaluate("(async () => { const t = performance.now(), i = document.querySelector('input');"
                               " i.value = 'leaf42'; i.dispatchEvent(new Event('input', {bubbles: true}));"
                               f" while (!/\\d+\\s*\\/\\s*\\d+/.test(document.body.innerText)) {{ {NEXT} }} {NEXT}"
                               " return performance.now() - t; })()")
    except Exception as failed:
        print("speedscope's search:", failed, file=sys.stderr)
    result = [paint(page), drawn, search]
    page.close()
    return result


rows = {"this page": [], "speedscope": []}
with Browser(folder) as chromium:
    for _ in range(turns):
        rows["this page"].append(ours(chromium))
        rows["speedscope"].append(theirs(chromium))
print(f"{'':12}{'first paint':>14}{'drawn':>10}{'search':>10}   ms")
for name, list_ in rows.items():
    columns = [[x for x in column if x is not None] for column in zip(*list_)]
    print(f"{name:12}" + "".join(f"{statistics.median(c) if c else float('nan'):{w}.0f}" for c, w in zip(columns, (14, 10, 10))))
