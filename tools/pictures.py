#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""usage: tools/pictures.py PROGRAM FOLDER

Take the pictures of the documentation: profile the API of docs/tutorial.md with PROGRAM while it
answers requests, and write FOLDER/page.png (the page, in Chromium), FOLDER/waiting.png (the same,
waiting), FOLDER/requests.png (its requests), FOLDER/labels.png (docs/examples/labels.R, in colours)
and FOLDER/top.png (`top`, in tmux). Needs what tutorial needs: R with httpuv, and root.
"""
import html
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, f"{TREE}/tests/lib")
from browser import Browser  # noqa: E402

MOST = 200_000  # bytes of a picture
SECONDS = 10  # of the profile
COLUMNS, LINES = 100, 24
# The colours of a light terminal, by their numbers in SGR sequences.
COLOURS = ["#1f2328", "#b42318", "#1a7f37", "#8a6100", "#0550ae", "#8250df", "#116d76", "#6e7781"]
STYLE = """body { margin: 0; padding: 16px 20px; background: #fff; display: inline-block }
pre { margin: 0; font: 14px/1.35 "DejaVu Sans Mono", monospace; color: #1f2328 }"""
MARK = "window.xrprof && window.xrprof.state()"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def wait_until(condition, what):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"pictures: never seen: {what}")
        time.sleep(0.1)


def answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


class Api:
    """The API, the service that it asks, and a client that asks for reports one after another."""

    def __init__(self, folder):
        port, rates = free_port(), free_port()
        examples = f"{TREE}/docs/examples"
        asks = f"while :; do curl -s 'http://127.0.0.1:{port}/report?customer=7'; done"
        self.jobs = []
        with open(f"{folder}/api.log", "wb") as log:
            def start(*argv):
                self.jobs.append(subprocess.Popen(argv, cwd=examples, stdin=subprocess.DEVNULL, stdout=log,
                                                  stderr=log, start_new_session=True))
            start("Rscript", "rates.R", str(rates))
            start("Rscript", "api.R", str(port), f"http://127.0.0.1:{rates}")
            wait_until(lambda: answers(port) and answers(rates), "the API's answer")
            start("sh", "-c", asks)
        self.pid = self.jobs[1].pid  # Rscript executes R in the same process

    def end(self):
        for job in self.jobs:
            os.killpg(job.pid, signal.SIGTERM)
            job.wait()


def ansi_to_html(text):
    """Text with SGR sequences (bold, reverse, the eight colours) as HTML."""
    bold, reverse, front, parts = False, False, None, []
    for piece in re.split(r"(\x1b\[[\d;]*m)", text.replace("\x0e", "").replace("\x0f", "")):
        found = re.fullmatch(r"\x1b\[([\d;]*)m", piece)
        if not found:
            colour = COLOURS[front] if front is not None else COLOURS[0]
            extra = ("; font-weight: bold" if bold else "") + ("; padding-bottom: 2px" if reverse else "")
            style = f"background: {colour}; color: #fff" if reverse else f"color: {colour}"
            parts.append(f"<span style='{style}{extra}'>{html.escape(piece)}</span>")
            continue
        for code in (int(number or 0) for number in found[1].split(";")):
            if code == 0:
                bold, reverse, front = False, False, None
            elif code in (1, 22):
                bold = code == 1
            elif code in (7, 27):
                reverse = code == 7
            elif 30 <= code <= 37:
                front = code - 30
            elif code == 39:
                front = None
    return f"<style>{STYLE}</style><pre>{''.join(parts)}</pre>"


def top__capture(program, pid, folder):
    """What `top` shows after some seconds, as HTML."""
    def tmux(*argv):
        return subprocess.run(["tmux", "-L", f"xrprof-pictures-{os.getpid()}", "-f", "/dev/null", *argv],
                              capture_output=True, text=True, check=False).stdout
    tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), f"{program} top -p {pid} --window 5")
    try:
        time.sleep(6)  # the window is full
        wait_until(lambda: "running_total" in tmux("capture-pane", "-p"), "running_total in top")
        screen = tmux("capture-pane", "-p", "-e")
    finally:
        tmux("kill-server")
    with open(f"{folder}/top.html", "w", encoding="utf-8") as file:
        file.write("<meta charset='utf-8'>" + ansi_to_html(screen))


def page__take(browser, folder, out):
    """The page with the slow function and its source, what the API waits for, its requests, and labels."""
    page = browser.open(f"file://{folder}/api.html#fold=1", width=1200, height=720)
    page.wait(MARK)
    rows = ("[...document.querySelectorAll('#table-body tr')].find((row) => /running_total/.test(row.textContent))")
    page.wait(f"!!{rows}")
    page.evaluate(f"{rows}.click()")
    page.key("s")
    time.sleep(0.5)
    page.screenshot(f"{out}/page.png")
    for name, address, action in (("waiting", "api.html#type=off_cpu&fold=1", "0"),
                                  ("requests", "requests.html#fold=1", "document.querySelector('#calls-body tr').click()"),
                                  ("labels", "labels.html#color=route", "0")):
        page = browser.open(f"file://{folder}/{address}", width=1200, height=720 if name != "labels" else 540)
        page.wait(MARK)
        page.evaluate(action)
        time.sleep(0.5)
        page.screenshot(f"{out}/{name}.png")
    terminal = browser.open(f"file://{folder}/top.html", width=1000, height=600)
    terminal.wait("document.readyState === 'complete'")
    size = terminal.evaluate("(() => { const b = document.body.getBoundingClientRect(); return [b.width, b.height]; })()")
    terminal.screenshot(f"{out}/top.png", clip={"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, out = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    folder = tempfile.mkdtemp(prefix="xrprof-pictures.")
    api = Api(folder)
    try:
        subprocess.run([program, "-q", "-p", str(api.pid), "-F", "199", "-d", str(SECONDS), "--lines", "--off-cpu",
                        "-o", "api.html"], cwd=folder, check=True)
        subprocess.run([program, "-q", "-p", str(api.pid), "-d", str(SECONDS), "--calls", "http",
                        "-o", "requests.html"], cwd=folder, check=True)
        top__capture(program, api.pid, folder)
        shutil.copy(f"{TREE}/docs/examples/labels.R", folder)
        subprocess.run([program, "-q", "-o", "labels.html", "--", "Rscript", "labels.R"], cwd=folder, check=True)
        os.makedirs(out, exist_ok=True)
        with Browser(folder) as browser:
            page__take(browser, folder, out)
    finally:
        api.end()
        shutil.rmtree(folder, ignore_errors=True)
    for name in ("page", "waiting", "requests", "labels", "top"):
        size = os.path.getsize(f"{out}/{name}.png")
        print(f"{out}/{name}.png: {size} bytes")
        if size > MOST:
            sys.exit(f"pictures: {name}.png is larger than {MOST} bytes")


main()
