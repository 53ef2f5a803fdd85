# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Chromium without a screen, told what to do by the DevTools protocol over a pipe: no port, nothing but Python's own.

    with Browser(folder) as browser:
        page = browser.open("file:///tmp/x.html")
        page.wait("window.ready")
        page.evaluate("1 + 1")
"""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time

PATIENCE = 60  # seconds for an answer; only for what hangs


class Failed(Exception):
    pass


class Browser:
    """folder: for what it wants to keep; the caller removes it."""

    def __init__(self, folder, width=1440, height=900):
        program = shutil.which("chromium")
        if not program:
            raise Failed("no chromium: tools/install-deps test")
        to_read, to_write = os.pipe(), os.pipe()
        options = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}/browser", "--no-first-run",
                   "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync",
                   "--disable-component-update", "--no-default-browser-check", "--disable-extensions", "--mute-audio",
                   # names are not looked up: whatever the page asked for would fail, and be seen
                   "--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={width},{height}"]
        if os.getuid() == 0:
            options.append("--no-sandbox")

        def descriptors():
            os.dup2(to_read[0], 3)
            os.dup2(to_write[1], 4)

        # the pipes are out of the way of 3 and 4
        to_read = tuple(os.dup2(fd, 20 + i) for i, fd in enumerate(to_read))
        to_write = tuple(os.dup2(fd, 30 + i) for i, fd in enumerate(to_write))
        environment = dict(os.environ, HOME=str(folder), XDG_CONFIG_HOME=f"{folder}/config", XDG_CACHE_HOME=f"{folder}/cache")
        self.process = subprocess.Popen([program, *options, "about:blank"], preexec_fn=descriptors, pass_fds=(3, 4),
                                        env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=open(f"{folder}/browser.log", "wb"))
        os.close(to_read[0])
        os.close(to_write[1])
        self.input, self.output = to_read[1], to_write[0]
        self.buffer, self.last, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.input)
        os.close(self.output)

    def receive(self, end):
        while b"\0" not in self.buffer:
            if not select.select([self.output], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed("the browser does not answer")
            part = os.read(self.output, 1 << 20)
            if not part:
                raise Failed("the browser has ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.input, data):]
        end = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(end)
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, address, **how):
        return Page(self, address, **how)


class Page:
    """One tab. dark, touch, width, height: what it is shown on."""

    def __init__(self, browser, address, width=1440, height=900, scale=1, dark=False, touch=False):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=touch)
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.address = address
        if address:
            self.call("Page.navigate", url=address)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failed(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, condition, seconds=PATIENCE):
        """Until a condition holds; its value."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.evaluate(condition)
            except Failed:
                value = None  # a page that is being left
            if value:
                return value
            if time.monotonic() > end:
                raise Failed(f"never: {condition}")
            time.sleep(0.02)

    def key(self, key, code=None, **more):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        if key == "Escape":
            more["windowsVirtualKeyCode"] = 27  # what closes dialogs asks for that
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      **(text if kind == "keyDown" else {}), **more)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        for i in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=i)
            self.mouse("mouseReleased", x, y, button="left", clickCount=i)

    def tap(self, x, y):
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def drag(self, x0, x1, y):
        self.mouse("mouseMoved", x0, y)
        self.mouse("mousePressed", x0, y, button="left", clickCount=1)
        for i in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 5, y, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y, button="left", clickCount=1)

    def middle(self, selector):
        """Of an element: x, y."""
        box = self.evaluate(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                            " return [b.left + b.width / 2, b.top + b.height / 2]; })()")
        return box[0], box[1]

    def screenshot(self, path, **how):
        data = self.call("Page.captureScreenshot", format="png", **how)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def heard(self, method):
        """Events of this page so far."""
        self.evaluate("0")
        return [e["params"] for e in self.browser.events if e.get("method") == method and e.get("sessionId") == self.session]

    def complaints(self):
        """Errors and warnings of its console, uncaught exceptions."""
        lines = [e["exceptionDetails"].get("exception", {}).get("description", "exception") for e in self.heard("Runtime.exceptionThrown")]
        lines += [str([a.get("value", a.get("description")) for a in e["args"]])
                  for e in self.heard("Runtime.consoleAPICalled") if e["type"] in ("error", "warning", "assert")]
        lines += [e["entry"]["text"] for e in self.heard("Log.entryAdded") if e["entry"]["level"] in ("error", "warning")]
        return lines

    def requests(self):
        """Addresses it asked for, beside its own."""
        own = self.address.split("#")[0]
        return [e["request"]["url"] for e in self.heard("Network.requestWillBeSent") if e["request"]["url"].split("#")[0] != own]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
