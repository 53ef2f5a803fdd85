#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""page.py FOLDER SOURCE: look at the pages that test_page.sh made in FOLDER, in Chromium; SOURCE is the file of the
functions that real.html is about. Prints "ok WHAT" and "not ok WHAT", a line each. What the page counts is check:page_sums'.

A page says what it shows by window.xrprof.state() (src/output/page/main.js); nothing here waits for a time."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser, Failed

folder, source = sys.argv[1:]
PHONE = {"width": 390, "height": 844, "scale": 2, "touch": True}


def ok(fine, what, *why):
    print("ok" if fine else "not ok", what, flush=True)
    if not fine:
        for line in why:
            print("#", line)
    return fine


def equal(got, want, what):
    return ok(got == want, what, f"got {got!r}", f"not {want!r}")


class View:
    """One of the pages, opened."""

    def __init__(self, browser, name, fragment="", **how):
        self.name = name
        self.page = browser.open(f"file://{folder}/{name}.html{fragment}", **how)
        self.page.wait("window.xrprof && xrprof.ready && xrprof.state().drawn > 0")

    def state(self, key=None):
        state = self.page.evaluate("xrprof.state()")
        return state if key is None else state[key]

    def wait(self, condition, what=None):
        """condition: JavaScript over s, the state, when nothing moves; what: that it comes to hold is a check."""
        value = self.page.wait(f"(s => !s.moving && ({condition}))(xrprof.state())")
        if what:
            ok(True, what)
        return value

    def press(self, key, on="graph", **more):
        self.page.evaluate(f"document.getElementById('{on}').focus()")
        self.page.key(key, **more)

    def choose(self, selector, option):
        """option: JavaScript over c, the element."""
        self.page.evaluate(f"(c => {{ c.value = {option}; c.dispatchEvent(new Event('change')); }})(document.getElementById('{selector}'))")

    def drawn(self):
        """Until what was asked to be drawn is: it is asked for the next frame, and this for the one after it."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def box(self, label):
        """The middle of the widest box of that label, on the screen."""
        self.drawn()
        boxes = [b for b in self.page.evaluate("xrprof.boxes()") if b["label"] == label]
        if not boxes:
            raise Failed(f"{self.name}: no box {label}")
        widest = max(boxes, key=lambda b: b["right"] - b["left"])
        area = self.page.evaluate("(b => [b.left, b.top])(document.getElementById('graph').getBoundingClientRect())")
        return area[0] + (widest["left"] + widest["right"]) / 2, area[1] + widest["top"] + 8

    def search(self, text):
        self.press("/", code="Slash")
        self.page.wait("document.activeElement.id === 'search'")
        self.page.type(text)
        return self.page.wait(f"(a => a.search && a.search.source === {json.dumps(text)} && a.share !== null)(xrprof.app)")

    def __enter__(self):
        return self

    def __exit__(self, kind, *exception):
        if kind:
            return
        self.drawn()
        equal(self.page.complaints(), [], f"{self.name}: the console is silent")
        equal(self.page.requests(), [], f"{self.name}: makes no network requests")
        self.page.close()


def look_at_real(browser):
    with View(browser, "real") as view:
        page = view.page
        samples = view.state("samples")
        ok(samples > 50 and view.state("boxes") > 3, "real: it is drawn", view.state())
        painted = page.evaluate("(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, 60).data, seen = new Set();"
                                " for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);"
                                " return seen.size; })(document.getElementById('graph-canvas'))")
        ok(painted > 3, "real: there are colours on the canvas", painted)
        ok("real.html" in page.evaluate("document.getElementById('command').textContent"),
           "real: the page has the command")
        facts = page.evaluate("document.getElementById('facts').innerText")
        ok(re.search("499 (a second of CPU time )?requested", facts) and "Samples" in facts, "real: the rate and how many samples", facts)

        # zoom and back, by the mouse
        page.click(*view.box("outer_one"))
        view.wait("s.zoom[s.zoom.length - 1] === 'outer_one' && s.selected === 'outer_one'", "real: a click zooms")
        address = page.evaluate("location.hash")
        page.key("Escape")
        view.wait("s.zoom.length === 0", "real: Escape leads back")

        # from a frame to its line, and from a line to its frames
        page.click(*view.box("spin"))
        view.wait("s.zoom[s.zoom.length - 1] === 'spin'")
        view.press("s")
        page.wait("!document.getElementById('panel-source').hidden")
        equal(view.state("source"), {"file": source, "line": 3}, "real: a frame's source is shown at its line")
        text = page.evaluate("document.querySelector('#source-lines .here .line-text').textContent")
        equal(text, "  for (i in seq_len(n)) s <- s + sqrt(i)", "real: the line is the one of the file")
        ok("%" in page.evaluate("document.querySelector('#source-lines .here .line-time').textContent"), "real: with its time")
        page.click(*page.middle("#source-lines [data-line='3'] .line-text"))
        view.wait("s.share !== null")
        ok(view.state("share")[0] > samples / 2, "real: a click on a line highlights its frames", view.state("share"), samples)
        page.key("Escape")
        view.wait("s.zoom.length === 0")

        # keys
        view.press("ArrowDown")
        first = view.wait("s.selected")
        page.key("ArrowDown")
        view.wait(f"s.selected && s.selected !== {json.dumps(first)}")
        page.key("Enter")
        view.wait("s.zoom.length === 2")
        page.key("Backspace")
        view.wait("s.zoom.length === 0", "real: arrows select, Enter zooms, Backspace leads back")
        for key, what, condition in (("i", "callers", "s.callers === -1"), ("i", "calls again", "s.callers === null"),
                                     ("f", "flame", "s.flame"), ("f", "icicle", "!s.flame"), ("l", "lines", "s.lines"),
                                     ("l", "no lines", "!s.lines"), ("w", "wrappers folded", "s.fold")):
            page.key(key)
            view.wait(condition, f"real: {key}: {what}")
        view.drawn()
        # (a wrapper that was the innermost function itself stays)
        way = page.evaluate("(() => { const a = xrprof.app, i = a.graph.boxes.find(b => a.labelOf(b.frame) === 'spin').node;"
                            " return a.graph.path(i).map(n => a.labelOf(a.graph.shape.frame[n])); })()")
        ok(way[-2:] in (["outer_one", "spin"], ["inner_two", "spin"]), "real: without wrappers callers stay", way)
        page.key("w")
        view.wait("!s.fold")
        dark = view.state("dark")
        page.key("t")
        view.wait(f"s.dark !== {json.dumps(dark)}")
        page.key("t")
        page.key("?", code="Slash")
        page.wait("document.getElementById('keys').open")
        page.key("Escape")
        page.wait("!document.getElementById('keys').open")
        ok(True, "real: t: theme, ?: keys")

        # search
        view.search("^spin$")
        share = view.state("share")[0] / samples
        ok(0.5 < share <= 1, "real: most samples are in spin", share)
        told = page.wait("document.getElementById('result').textContent")
        ok(told.startswith(f"{100 * share:.1f} %" if share < 0.9995 else "100 %"),
           "real: the result has the share", told, share)
        page.evaluate("document.getElementById('search').value = ''")
        page.type("(")
        page.wait("document.getElementById('search').getAttribute('aria-invalid') === 'true'")
        ok(True, "real: an invalid regular expression is marked")
        page.key("Escape")
        view.wait("s.share === null")

        # time
        left, top, width = page.evaluate("(b => [b.left, b.top, b.width])(document.getElementById('strip').getBoundingClientRect())")
        page.drag(left + width * 0.25, left + width * 0.5, top + 20)
        view.wait("s.time !== null")
        view.drawn()
        some = view.state("samples")
        ok(0 < some < samples, "real: a part of the time has a part of the samples", some, samples)
        page.mouse("mouseMoved", left + 5, top + 20)
        page.click(left + 5, top + 20, count=2)
        view.wait(f"s.time === null && s.samples === {samples}", "real: a double click shows all of it")
        view.press("ArrowRight", "strip")
        view.wait(f"s.time !== null && s.samples < {samples}", "real: keys choose a time")

        # the table
        page.evaluate("document.getElementById('tab-functions').click()")
        page.evaluate("xrprof.app.strip.clear()")
        view.wait(f"s.samples === {samples}")
        page.click(*page.middle("#table-body tr"))
        view.wait("s.share !== null", "real: a click on a function highlights it")

        # paper
        ok(len(page.call("Page.printToPDF")["data"]) > 5000, "real: it prints")

    # the address has the view in it
    with View(browser, "real", address) as view:
        view.wait("s.zoom[s.zoom.length - 1] === 'outer_one'", "real: an address leads to the view that it is of")
    with View(browser, "real", "#zoom=99.98&time=5-2&process=77&mark=f.x&search=%28&callers=1e9&lines=2") as view:
        equal(view.state("samples"), samples, "real: what an address cannot mean is nothing")


def look_at_large(browser):
    with View(browser, "large") as view:
        stacks = range(100000)
        weight = [2 if i % 10 == 0 else 1 for i in stacks]
        equal(view.state("samples"), sum(weight), "large: all samples of 100,000 stacks")
        view.page.evaluate("xrprof.app.controls.setSearch('leaf42$'), xrprof.app.matchChanged(), xrprof.app.graph.paint()")
        equal(view.state("share")[0], sum(weight[i] for i in stacks if i % 997 == 42), "large: a search counts each sample once")
        view.page.evaluate("xrprof.app.showCallers(-1)")
        view.wait("s.callers === -1 && s.boxes > 1")
        view.page.evaluate("xrprof.app.showCallers(xrprof.app.model.functions.findIndex(f => f.name === 'step12_1'))")
        view.wait("s.callers >= 0 && s.boxes > 20", "large: callers of all functions, and of one")


def look_at_processes(browser):
    with View(browser, "processes") as view:
        whole = view.state("samples")
        view.press("p")
        view.wait("s.process >= 0")
        process, some = view.state("process"), view.state("samples")
        weight = sum(2 if i % 10 == 0 else 1 for i in range(4000) if i % 40 == process)
        equal((some, view.page.evaluate("document.getElementById('process').options.length")), (weight, 41),
              "processes: p shows one of 40 alone")
        verdict = view.page.evaluate("document.getElementById('verdict').textContent")
        ok("1003 used 0.06 s of CPU in 60.00 s" in verdict and "--clock wall" in verdict,
           "processes: the page reports a process that waited", verdict)
        view.page.evaluate("xrprof.app.controls.choose('process', -1)")
        view.wait(f"s.samples === {whole}")


def look_at_hostile(browser):
    view = View(browser, "hostile")
    names = view.page.evaluate("[...document.querySelectorAll('#table-body bdi')].map(e => e.textContent)")
    ok({"</script><script>window.hacked=1</script>", "constructor", "__proto__", "${x}`x`$(x)", "caf\u00e9"} <= set(names),
       "hostile: names are shown as they are", names)
    ok(any(len(name) == 300 for name in names), "hostile: one of 10,000 bytes is cut", [len(n) for n in names])
    view.search("><scr")
    ok(view.state("share")[0] > 0, "hostile: a name in angle brackets is found as it is", view.state("share"))
    view.page.evaluate("xrprof.app.controls.setSearch(''), xrprof.app.matchChanged()")
    for label in ("__proto__", "constructor"):
        view.page.click(*view.box(label))
        view.wait(f"s.selected === {json.dumps(label)}")
        view.page.evaluate("xrprof.app.goBack()")
        view.wait("s.zoom.length === 0")
    for tab in ("source", "packages", "functions"):
        view.page.evaluate(f"document.getElementById('tab-{tab}').click()")
    view.page.evaluate("xrprof.app.showCallers(-1)")
    view.drawn()
    view.page.evaluate("xrprof.app.graph.boxes.forEach(b => xrprof.app.showTip(b, 5, 5))")
    equal(view.page.evaluate("[window.hacked === undefined, document.scripts.length, document.querySelectorAll('img').length]"),
          [True, 2, 0], "hostile: none of them did anything")
    equal(view.page.complaints(), [], "hostile: the console is silent")
    # and if one had got through: the policy
    view.page.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hacked = 2'}))")
    equal(view.page.evaluate("window.hacked === undefined"), True, "hostile: the policy refuses any other script")
    view.page.close()


def look_at_types(browser):
    with View(browser, "types") as view:
        page = view.page
        whole = view.state("samples")
        equal([view.state("type"), whole], ["cpu", 7], "types: the first is shown at first")
        equal(page.evaluate("[...document.querySelectorAll('#type option')].map(e => e.textContent)"), ["CPU time", "waiting"],
              "types: there is a choice, in words")
        names = "[...document.querySelectorAll('#table-body bdi')].map(e => e.textContent)"
        ok("Sys.sleep" not in page.evaluate(names), "types: what only waited is not among what computed", page.evaluate(names))
        view.press("v", code="KeyV")
        view.wait("s.type === 'off_cpu'")
        equal(view.state("samples"), 4194304, "types: v shows the next")
        equal(sorted(page.evaluate(names)), ["Sys.sleep", "f"], "types: the table is of what waited")
        ok("waiting" in page.evaluate("document.getElementById('facts').innerText"), "types: the head says what is shown")
        tips = page.evaluate("[...document.querySelectorAll('#table-body td.number')].map(e => e.title)")
        ok(tips and all("waiting" in tip and "ms" in tip for tip in tips if not tip.startswith("0")), "types: values are durations", tips)
        ok("Waiting" in page.evaluate("document.getElementById('strip').getAttribute('aria-label')"), "types: so is time")
        page.click(*view.box("Sys.sleep"))
        view.wait("s.zoom[s.zoom.length - 1] === 'Sys.sleep'")
        page.evaluate("xrprof.app.graph.boxes.forEach(b => xrprof.app.showTip(b, 5, 5))")
        fragment = page.evaluate("location.hash")
        ok("type=off_cpu" in fragment, "types: the address keeps it", fragment)
        page.key("v", code="KeyV")
        view.wait("s.type === 'cpu' && s.zoom.length === 0")
        equal(view.state("samples"), whole, "types: and back again")
        view.choose("type", "'1'")
        view.wait("s.type === 'off_cpu'", "types: or by choosing it")
    with View(browser, "types", "#type=off_cpu") as view:
        equal(view.state("type"), "off_cpu", "types: a bookmark shows it again")
        equal(view.page.evaluate("document.getElementById('type').value"), "1",
              "types: the selector shows it")
    with View(browser, "types", "#type=constructor") as view:
        equal(view.state("type"), "cpu", "types: one that there is not is not shown")
    with View(browser, "typediff") as view:
        equal(view.page.evaluate("xrprof.app.model.whole"), [7, 7], "typediff: both profiles, of the first type")
        view.press("v", code="KeyV")
        view.wait("s.type === 'off_cpu'")
        equal(view.page.evaluate("xrprof.app.model.whole"), [4194304, 4194304], "typediff: and of the next")
        facts = view.page.evaluate("document.getElementById('facts').innerText")
        ok(facts.count("4.2 ms") == 2, "typediff: what there was, and what there is, are durations", facts)


# The pixels of a canvas; of a copy, because Chromium warns of a canvas that is read several times.
PIXELS = """((id) => { const c = document.getElementById(id), copy = new OffscreenCanvas(c.width, c.height);
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(c, 0, 0);
  return context.getImageData(0, 0, c.width, c.height); })"""

# Where the bar of the first call for which a condition holds is, on the screen, and its colour there.
BAR = f"""((wanted) => {{ const s = xrprof.app.strip, area = s.canvas.getBoundingClientRect(), b = s.placed.find(wanted);
  const x = (b.left + b.right) / 2, y = area.height - 16 + (b.lane - s.lanes + 0.5) * LANE, ratio = devicePixelRatio;
  const p = {PIXELS}("strip-canvas"), at = 4 * (Math.floor(y * ratio) * p.width + Math.floor(x * ratio));
  return {{ x: area.left + x, y: area.top + y, number: b.call.number, lane: b.lane, color: Array.from(p.data.slice(at, at + 3)) }}; }})"""


def look_at_bars(view):
    """Of all 300 calls of serve(): query() is in the slow ones, and three fast ones begin during each of these."""
    page = view.page
    page.evaluate("xrprof.app.calls.name = -1, xrprof.app.refilter(null)")
    view.wait("s.calls.shown === 330")
    equal([view.state("bars"), page.evaluate("xrprof.app.strip.lanes")], [330, 3], "bars: all calls, those at the same time below each other")
    overlap = page.evaluate("(p => p.some((a, i) => p.slice(i + 1).some(b => a.lane === b.lane && a.left < b.right && b.left < a.right)))"
                            "(xrprof.app.strip.placed)")
    equal(overlap, False, "bars: none is on another")
    seconds = page.evaluate("(s => s.placed.map(b => Math.abs((b.right - b.left) * s.app.model.spans * s.app.model.timeWidth /"
                            " s.element.clientWidth - b.call.time)).reduce((a, b) => Math.max(a, b)))(xrprof.app.strip)")
    ok(seconds < 0.05, "bars: they are as long as the calls, to two pixels", seconds)
    slow = page.evaluate(f"{BAR}(b => b.call.time > 0.399)")
    equal([slow["lane"], slow["color"]], [0, [31, 101, 204]], "bars: a slow one is in the first row, in the colour of what is selected")
    page.mouse("mouseMoved", slow["x"], slow["y"])
    page.wait("!document.getElementById('tip').hidden")
    tip = page.evaluate("document.getElementById('tip').innerText")
    ok("serve GET /<slow>" in tip and "Lasted" in tip and "\u00b1" in tip, "bars: the pointer shows which call it is", tip)
    page.click(slow["x"], slow["y"])
    view.wait(f"s.calls.one === {slow['number']} && s.calls.chosen === 1")
    view.drawn()
    other = page.evaluate(f"{BAR}(b => b.call.number !== {slow['number']} && b.call.time > 0.399)")
    equal(other["color"], [157, 183, 221], "bars: a click selects the call, and the others are pale")
    ok(page.evaluate("!document.getElementById('panel-calls').hidden"), "bars: and shows the list of calls")
    page.click(slow["x"], slow["y"])
    view.wait("s.calls.one === 0 && s.calls.chosen === 330")
    page.drag(slow["x"], other["x"], slow["y"])
    view.wait("s.time !== null")
    view.drawn()
    equal([view.state("calls")["one"], view.state("bars")], [0, 330], "bars: a drag over them selects a time, of which all are drawn")
    page.evaluate("xrprof.app.strip.clear()")
    view.wait("s.time === null")


def look_at_calls(browser):
    """300 calls of serve(), 10 ticks each, every tenth with a call of query() in it, which waits 300 ms."""
    with View(browser, "calls") as view:
        page, tick = view.page, 1e9 / 999
        near = lambda got, want: abs(got - want) < 1e-6 * want  # noqa: E731
        everything = 300 * 10 * tick + 30 * 300e6 + 10 * tick
        state = view.state()
        ok(state["type"] == "elapsed" and near(state["samples"], everything), "calls: CPU time and waiting together", state)
        equal({**state["calls"]}, {"all": 330, "shown": 330, "chosen": 330, "one": 0, "compare": False, "range": None, "rows": 200},
              "calls: all of them, 200 in the list")
        rows = "[...document.querySelectorAll('#calls-body tr')].map(e => e.innerText.split('\\t').map(t => t.trim()))"
        first = page.evaluate(rows)[0]
        equal([first[0], first[2], first[3]], ["400 ms", "102", "serve GET /<slow>"], "calls: the slowest is the first")
        equal(page.evaluate("document.getElementById('calls-more').textContent"), "The slowest 200 of 330: select others above.",
              "calls: how many there are")

        # of one function
        view.choose("calls-name", "c.options[1].value")
        view.wait("s.calls.shown === 300")
        ok(near(view.state("samples"), everything - 10 * tick), "calls: what is in none of its calls is gone", view.state())

        # a range, by the mouse: the right half of the histogram, the slow ones
        left, top, width = page.evaluate("(b => [b.left, b.top, b.width])(document.getElementById('histogram').getBoundingClientRect())")
        page.drag(left + width * 0.6, left + width, top + 20)
        view.wait("s.calls.chosen === 30")
        view.drawn()
        ok(near(view.state("samples"), 30 * (10 * tick + 300e6)), "calls: a range has what its calls did, and those in them", view.state())
        strip = page.evaluate("xrprof.app.strip.layers.slice(-1)[0].reduce((sum, v) => sum + v, 0)")
        ok(near(strip, view.state("samples")), "calls: the strip shows them alone", strip)
        ok(view.state("calls")["rows"] == 30 and "30 calls" in page.evaluate("document.getElementById('calls-clear').textContent"),
           "calls: the list has them alone")

        # one process of two
        page.evaluate("xrprof.app.controls.choose('process', xrprof.app.model.processes.findIndex(p => p.pid === 102))")
        view.wait("s.calls.chosen === 30 && s.calls.shown === 150")
        page.evaluate("xrprof.app.controls.choose('process', -1)")
        view.wait("s.calls.shown === 300")
        # a part of the time
        page.evaluate("xrprof.app.strip.choose(0, Math.ceil(xrprof.app.model.spans / 2))")
        view.wait("s.time !== null && s.calls.chosen < 20")
        half = view.state("calls")
        ok(14 <= half["chosen"] <= 17 and half["shown"] <= 155, "calls: those of a part of the time", half)
        page.evaluate("xrprof.app.strip.clear()")
        view.wait("s.time === null && s.calls.chosen === 30")

        # against the others
        view.press("d")
        view.wait("s.calls.compare")
        cells = "[...document.querySelectorAll('#table-body tr')].map(e => e.innerText.split(/\\s*\\n\\s*|\\t/).map(t => t.trim()))"
        table = {row[-1]: row[:3] for row in page.evaluate(cells)}
        equal(table, {"query": ["+300 ms", "300 ms", "0.0 ms"], "serve": ["+300 ms", "310 ms", "10 ms"], "parse": ["0.0 ms", "10 ms", "10 ms"]},
              "calls: what the slow ones do that the others do not, in each call")
        equal(page.evaluate("xrprof.app.model.whole.length"), 2, "calls: two sets")
        ok("More" in page.evaluate("(a => (a.graph.select(1), document.getElementById('detail').innerText))(xrprof.app)"),
           "calls: a frame has both")
        address = page.evaluate("location.hash")
        page.key("d")
        view.wait("!s.calls.compare")
        page.key("Escape")
        page.key("Escape")
        view.wait("s.calls.range === null", "calls: Escape selects all")

        # keys, and one call alone
        page.evaluate("document.getElementById('tab-calls').click(), document.getElementById('histogram').focus()")
        page.key("ArrowLeft")
        view.wait("s.calls.range !== null", "calls: keys select")
        page.evaluate("xrprof.app.calls.clear()")
        view.wait("s.calls.range === null")
        page.evaluate("document.querySelector('#calls-body tr').focus()")
        page.key("Enter")
        view.wait("s.calls.one > 0 && s.calls.chosen === 1")
        ok(near(view.state("samples"), 10 * tick + 300e6), "calls: one alone", view.state())
        page.key("Enter")
        view.wait("s.calls.one === 0 && s.calls.chosen === 300")
        ok("data-call" in page.evaluate("document.activeElement.outerHTML"), "calls: and the focus stays")
        equal(page.evaluate("document.querySelectorAll('i:not(.swatch):not(.bar)').length"), 0, "calls: names are text")
        look_at_bars(view)
        last = page.evaluate("(c => [c.timeText(c.app.model.calls[c.slowest.find(o => o.state & 1).number])])(xrprof.app.calls)")
        equal(last, ["10 ms +"], "calls: one that still runs has at least its time")
        shares = "[...document.querySelectorAll('#process option')].slice(1).map(e => e.textContent.split(': ')[1])"
        everywhere = page.evaluate(shares)
        view.choose("type", "[...c.options].find(o => o.textContent === 'waiting').value")
        view.wait("s.type === 'off_cpu'")
        equal([page.evaluate(shares), everywhere == page.evaluate(shares)], [["100 %", "0 %"], False],
              "calls: shares of processes are of the type that is shown")

    with View(browser, "calls", address) as view:
        equal([view.state("calls")["chosen"], view.state("calls")["compare"]], [30, True], "calls: a bookmark shows it again")
    with View(browser, "calls", "#calls=9-2&call=1e9&function=77&compare=2") as view:
        equal(view.state("calls")["chosen"], 330, "calls: what an address cannot mean is nothing")
    with View(browser, "readcalls") as view:
        equal([view.state("bars"), view.state("time")], [330, None], "bars: also of a file, whose samples have no time")
        view.page.evaluate("xrprof.app.strip.choose(0, xrprof.app.model.spans / 2)")
        view.wait("s.time !== null && s.calls.chosen < 200")
        half = view.state()
        ok(160 <= half["calls"]["chosen"] <= 170 and 0.4 < half["samples"] / everything < 0.6 and half["bars"] == 330,
           "bars: a time selects the calls in it, and their samples", half)
    with View(browser, "manycalls") as view:
        equal([view.state("calls")["all"], view.state("calls")["rows"]], [110000, 200], "calls: 110,000")
        bars, room = view.page.evaluate("[xrprof.app.strip.placed.length, xrprof.app.strip.element.clientWidth * LANES]")
        ok(1000 < bars <= room and view.page.evaluate("xrprof.app.strip.placed[0].call === xrprof.app.calls.slowest[0]"),
           "bars: of 110,000 calls at most one for each pixel, the slowest first", bars, room)
    with View(browser, "calls", **PHONE) as view:
        equal(view.page.evaluate("document.documentElement.scrollWidth"), 390, "calls: a phone is as wide as the screen")


def look_at_colors(browser):
    """Colours by route, in the page of look_at_labels(), and in one with 20 routes more."""
    legend = "[...document.querySelectorAll('#parts button')].map(b => [...b.children].slice(1).map(e => e.textContent))"
    seen = (f"(id => {{ const d = {PIXELS}(id).data, n = {{}};"
            " for (let i = 0; i < d.length; i += 4) { const k = '#' + [d[i], d[i + 1], d[i + 2]].map(v => v.toString(16).padStart(2, '0')).join('');"
            " n[k] = (n[k] || 0) + 1; } return PART_COLORS.map(c => n[c] || 0); })")
    shares = ("xrprof.app.graph.boxes.map(b => [xrprof.app.labelOf(b.frame),"
              " ...xrprof.app.colorsOf(b).map(c => Math.round(1000 * c[1]))])")
    with View(browser, "labels") as view:
        page = view.page
        equal([page.evaluate("document.getElementById('parts').hidden"), page.evaluate(f"{seen}('strip-canvas')")], [True, [0] * 8],
              "colours: of packages at first")
        view.choose("color", "'route'")
        view.wait("s.color === 'route'")
        view.drawn()
        equal(page.evaluate(legend), [["</script><b>", "25.0 %"], ["/a", "16.7 %"], ["(none)", "58.3 %"]], "colours: a legend of the values")
        for canvas in ("strip-canvas", "graph-canvas"):
            there = [i for i, pixels in enumerate(page.evaluate(f"{seen}('{canvas}')")) if pixels > 9]
            equal(there, [0, 1, 7], f"colours: {canvas} has those of the values")
        boxes = page.evaluate(shares)
        ok(["all", 250, 167, 583] in boxes, "colours: a frame is divided as its samples are", boxes)
        ok(all(abs(sum(box[1:]) - 1000) <= 2 for box in boxes), "colours: the parts of a frame are all of it", boxes)
        page.evaluate("xrprof.app.graph.boxes.forEach(b => xrprof.app.showTip(b, 5, 5))")
        page.evaluate("xrprof.app.showTip(xrprof.app.graph.boxes[0], 5, 5)")
        tip = page.evaluate("document.getElementById('tip').innerText")
        ok("</script><b>" in tip and "3 samples" in tip, "colours: the pointer shows the values in numbers", tip)
        page.evaluate("xrprof.app.detail.hide(), xrprof.app.showCallers(-1)")
        view.wait("s.callers === -1")
        view.drawn()
        boxes = page.evaluate(shares)
        ok(["all functions", 250, 167, 583] in boxes and all(abs(sum(box[1:]) - 1000) <= 2 for box in boxes), "colours: so are callers", boxes)
        page.evaluate("xrprof.app.showCallers(null)")
        address = page.evaluate("location.hash")
        page.click(*page.middle("#parts button:nth-child(2)"))
        view.wait("s.label === 'route = /a' && s.samples === 2")
        equal(page.evaluate(legend), [["</script><b>", "0 %"], ["/a", "100 %"], ["(none)", "0 %"]],
              "colours: a click on a value shows it alone, and the colours stay")
        page.click(*page.middle("#parts button:nth-child(2)"))
        view.wait("s.label === null && s.samples === 12")
        page.key("d")
        view.wait("s.calls.compare")
        equal([page.evaluate("document.getElementById('parts').hidden"), page.evaluate("xrprof.app.model.whole.length")], [True, 2],
              "colours: of compared calls they stand for the difference")
    with View(browser, "labels", address, dark=True) as view:
        equal([view.state("color"), len(view.page.evaluate(legend))], ["route", 3], "colours: a bookmark shows them again")
    with View(browser, "manylabels", "#color=route", **PHONE) as view:
        parts = view.page.evaluate(legend)
        equal([part[0] for part in parts], ["/v0", "/v1", "/v2", "/v3", "/v4", "/v5", "16 others", "(none)"],
              "colours: the values with the most have one, the others share one")
        equal(view.page.evaluate("document.documentElement.scrollWidth"), 390, "colours: a phone is as wide as the screen")


def look_at_labels(browser):
    """7 ticks without labels, 2 with route /a and user u in a call, and 3 of another process with a hostile route in another call."""
    with View(browser, "labels") as view:
        chosen = "(c => [...c.querySelectorAll('optgroup')].map(g => [g.label, ...[...g.children].map(o => o.textContent)]))"
        equal(view.page.evaluate(f"{chosen}(document.getElementById('label'))"),
              [["route", "route = (none): 58.3 %", "route = </script><b>: 25.0 %", "route = /a: 16.7 %"],
               ["user", "user = (none): 83.3 %", "user = u: 16.7 %"]], "labels: of each key its values, which are text")
        for text, samples, calls, name in (("route = </script>", 3, 1, "f"), ("route = (none)", 7, 0, "g"), ("user = u", 2, 1, "f")):
            view.choose("label", f"[...c.options].find(o => o.text.startsWith('{text}')).value")
            view.wait(f"s.label && s.label.startsWith('{text}')")
            strip = view.page.evaluate("xrprof.app.strip.layers.slice(-1)[0].reduce((sum, v) => sum + v, 0)")
            equal([view.state("samples"), strip, view.state("calls")["shown"]], [samples, samples, calls],
                  f"labels: samples of {text} alone, in the strip, too, and its calls")
            ok(name in view.page.evaluate("document.getElementById('table-body').textContent"), f"labels: functions of {text} are in the table")
        address = view.page.evaluate("location.hash")
        view.page.evaluate("xrprof.app.controls.choose('process', 1)")
        view.wait("s.samples === 0")
        ok("this label" in view.page.evaluate("document.getElementById('empty').textContent"), "labels: none in another process")
    with View(browser, "labels", address) as view:
        equal([view.state("label"), view.state("samples")], ["user = u", 2], "labels: a bookmark shows it again")
    look_at_colors(browser)
    with View(browser, "labels", "#label=77&color=constructor") as view:
        equal(view.state("color"), "", "labels: nor do colours stand for a key that there is not")
        equal([view.state("label"), view.state("samples")], [None, 12], "labels: one that there is not is not chosen")


def look_at_recursion(browser):
    with View(browser, "recursion") as view:
        totals = "xrprof.app.table.rows.map(r => [r.name, r.self, r.total]).sort()"
        table = view.page.evaluate(totals)
        view.press("r")
        view.wait("s.recursion")
        view.drawn()
        boxes = view.page.evaluate("xrprof.app.graph.boxes.filter(b => b.node).map(b => [xrprof.app.labelOf(b.frame), b.depth,"
                                   " xrprof.app.tree.total[0][b.node], xrprof.app.tree.self[0][b.node]]).sort()")
        equal(boxes, [["f", 2, 7, 1], ["g", 3, 2, 2], ["h", 3, 4, 4], ["leaf", 3, 3, 3], ["main", 1, 10, 0], ["walk", 2, 3, 0]],
              "recursion: each function is in one box, with what it did itself and in total")
        equal(view.page.evaluate(totals), table, "recursion: the table has what it had, a sample counts once")
        ok("recursion=1" in view.page.evaluate("location.hash"), "recursion: the address keeps it")
        view.page.evaluate("xrprof.app.showCallers(xrprof.app.model.functions.findIndex(f => f.name === 'h'))")
        way = "(() => { const c = xrprof.app.callers, p = []; for (let n = 0; n = c.children(n)[0];) p.push(c.frame[n]); return p; })()"
        equal(view.page.evaluate(f"{way}.map(frame => xrprof.app.labelOf(frame))"), ["h", "f", "main"],
              "recursion: callers are once on the way, too")


def look_at_others(browser):
    with View(browser, "empty") as view:
        ok(view.page.evaluate("!document.getElementById('empty').hidden && document.getElementById('empty').textContent.length > 40"),
           "empty: a text explains it")
    with View(browser, "idle") as view:
        said = view.page.evaluate("document.getElementById('empty').textContent")
        ok("waited for work" in said and "--idle" in said, "idle: why there is nothing, and what shows it", said)
        ok("Waiting for work" in view.page.evaluate("document.getElementById('facts').innerText"), "idle: the head has how long")
        equal(view.page.evaluate("document.getElementById('verdict').hidden"), True, "idle: what was asked for is not recommended")
    with View(browser, "diff", dark=True) as view:
        head = view.page.evaluate("[...document.querySelectorAll('#table-head th')].map(e => e.dataset.column)")
        equal(head, ["delta", "total", "before", "name"], "diff: the table has what changed")
        equal(view.page.evaluate("xrprof.app.model.whole"), [3300, 1650], "diff: both profiles are in it")
        view.page.evaluate("document.getElementById('even').click()")
        view.page.wait("xrprof.app.scaleBefore() === 2")
        equal(view.state("dark"), True, "diff: dark as the system is")
    with View(browser, "real", **PHONE) as view:
        equal(view.page.evaluate("document.documentElement.scrollWidth"), 390, "phone: as wide as the screen")
        view.page.tap(*view.box("outer_one"))
        view.wait("s.zoom[s.zoom.length - 1] === 'outer_one'", "phone: a tap zooms")


def look_at_saved(browser):
    """What a browser saves ("complete") is the document as it is then, whatever is open and wrong in it."""
    for name in ("real", "hostile", "types", "diff", "processes", "calls"):
        view = View(browser, name)
        first = {**view.state(), "drawn": 0}
        search, widest = "document.getElementById('search')", "xrprof.app.graph.boxes[1]"
        view.page.evaluate(f"{search}.value = '(', {search}.dispatchEvent(new Event('input'))")
        view.page.wait("document.getElementById('result').textContent")
        view.page.evaluate(f"xrprof.app.controls.showTab('source'), xrprof.app.showTip({widest}, 5, 5)")
        view.page.evaluate("document.getElementById('keys').showModal()")
        document = view.page.evaluate("'<!doctype html>' + document.documentElement.outerHTML")
        view.page.close()
        with open(f"{folder}/saved-{name}.html", "w", encoding="utf-8") as file:
            file.write(document)
        view = View(browser, f"saved-{name}")
        equal({**view.state(), "drawn": 0}, first, f"saved: {name} shows what it showed when it was new")
        equal(view.page.evaluate("['keys', 'tip', 'search', 'result'].map(id => (e => [e.open, e.hidden, e.ariaInvalid,"
                                 " e.textContent.length])(document.getElementById(id))).map((s, i) =>"
                                 " [s[0], s[1], s[2], i === 3 ? s[3] : 0])"),
              [[False, False, None, 0], [None, True, None, 0], [None, False, None, 0], [None, False, None, 0]],
              f"saved: {name} has no dialog open, no tip and no complaint of a search")
        again = view.page.evaluate("'<!doctype html>' + document.documentElement.outerHTML")
        ok(abs(len(again) - len(document)) < len(document) / 10, f"saved: {name} does not grow", len(document), len(again))
        # styles of elements are refused, and set again
        equal([line for line in view.page.complaints() if "inline style" not in line], [], f"saved: {name} runs without errors")
        view.page.close()


with Browser(folder) as chromium:
    for look in (look_at_real, look_at_saved, look_at_large, look_at_processes, look_at_hostile, look_at_types, look_at_calls, look_at_labels,
                 look_at_recursion, look_at_others):
        try:
            look(chromium)
        except Failed as failed:
            ok(False, f"{look.__name__}: comes to its end", failed)
