// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// node page_sums.js FOLDER: the page's script in FOLDER, unchanged and without a page, over a small profile. A line for each
// number: "same WHAT", or "WHAT: what it is, not what it should be".

"use strict";

const fs = require("fs"), path = require("path"), vm = require("vm");

const context = vm.createContext({});
for (const file of ["model.js", "tree.js", "color.js", "draw.js", "graph.js", "strip.js", "calls.js", "state.js"])
	vm.runInContext(fs.readFileSync(path.join(process.argv[2], file), "utf8"), context, file);
const { Model, Tree, Callers, Strip, Calls, formatShare, formatChange } =
	vm.runInContext("({ Model, Tree, Callers, Strip, Calls, formatShare, formatChange })", context);

function is(got, want, what) {
	const text = JSON.stringify(got, (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value));
	console.log(text === JSON.stringify(want) ? `same ${what}` : `${what}: ${text}, not ${JSON.stringify(want)}`);
}

// main() calls a() at line 5, which calls itself, b(), and a() at line 7.
const frame = (name, line) => [name, 0, 0, 0, 0, 0, line ? 4 : 0, line, 0];
const profile = () => ({
	meta: { types: [{ name: "cpu", unit: "samples" }, {}, { name: "alloc_space", unit: "bytes" }], diff: false },
	processes: [{ pid: 1 }, { pid: 2 }],
	strings: ["", "main", "a", "b", "f.R"],
	frames: [frame(0, 0), frame(1, 0), frame(2, 5), frame(3, 0), frame(2, 7)].flat(),
	nodes: [0, 1, 0, 2, 0, 2, 2, 3, 1, 4],
	rows: [2, 0, 3, 0, 1, 0, 2, 0, 1, 1, 4, 0, 1, 0, 1, 0, 0, 0, 4096, 2],
	time: { begin: 0, width: 0.5, entries: [0, 0, 1, 0, 1, 2, 1, 0, 2, 1, 2, 4, 0, 3, 1, 0, 4, 4096] },
	labels: { rows: [1, 1, 0, 2, 0], sets: [["route", "/x"], ["route", "/y"]].map((pair) => [pair]) },
	calls: { list: [0, 0, 0, 9e6, 0, 0, 0, 0, 0, 1e6, 2e6, 0, 0, 1], rows: [2, 1, 0, 0, 0], texts: ["f"] },
	sources: [],
});

const all = { process: -1, label: -1 }, whole = { from: -1, to: -1, color: "" };
const model = new Model(profile());
is([model.whole, model.total(), model.processTotal], [[10], [10, 10, 5, 2, 4, 1], [6, 4]], "sums of stacks and processes");

// [label, self, total] of each node, as they are drawn; of each function
const names = (tree, self, total, fn) => Array.from(fn, (f, i) => [f < 0 ? "" : model.functions[f].label, self[i], total[i]]);
function shows(options, nodes, functions, what) {
	const tree = new Tree(model, options);
	tree.refresh(0);
	const by = tree.byFunction();
	is(names(tree, tree.self[0], tree.total[0], tree.fn), nodes, `${what}: the tree`);
	is(names(tree, by.self[0], by.total[0], model.functions.keys()).slice(-3), functions, `${what}: functions`);
	return tree;
}
const each = [["main", 0, 10], ["a", 6, 6], ["b", 4, 4]];
shows({}, [["", 0, 10], ["main", 0, 10], ["a", 4, 6], ["a", 2, 2], ["b", 4, 4]], each, "calls of one function are one");
const tree = shows({ lines: true }, [["", 0, 10], ["main", 0, 10], ["a", 3, 5], ["a", 2, 2], ["b", 4, 4], ["a", 1, 1]], each, "by line");
shows({ recursion: true }, [["", 0, 10], ["main", 0, 10], ["a", 6, 6], ["b", 4, 4]], each, "recursion");
is([tree.x, tree.width], [[0, 0, 0, 0, 5, 9], [10, 10, 5, 2, 4, 1]], "where boxes begin, and how wide they are");

// as name__bare(): behind the first colons (tests/unit/profile/test_fold.c has the same names)
const step = (name) => model.describe({ name, kind: 0 }).step;
is(["..stacktraceoff..", "a::..stacktraceoff..", "a:::..stacktraceon..", "a\n::..stacktraceoff..", "a::b::..stacktraceoff.."].map(step),
	[-1, -1, 1, -1, 0], "a name without its package");

const label = (value) => model.labels.findIndex((one) => one.value === value);
is(["/x", "/y", null].map((value) => model.labelSums()[label(value)]), [5, 1, 4], "sums of labels");
const of = (show, filter) => {
	model.show({ ...all, ...show });
	model.filter({ ...whole, ...filter });
	return Array.from(model.whole);
};
is([of({ label: label("/x") }), of({ label: label("/y") }), of({ label: label(null) }), of({ process: 1 })], [[5], [1], [4], [4]],
	"of a label, of those without one, of a process");
is([of({}, { from: 0, to: 2 }), of({}, { from: 2, to: 3 }), of({ process: 0 }, { from: 2, to: 3 })], [[5], [5], [1]], "of a time");
is(of({}, { color: "route" }), [10, 5, 1, 4], "divided by a label");
is([of({}, { calls: [0, 1, 2] }), of({}, { calls: [0, 2, 1] }), of({}, { calls: [0, 2, 1], compare: true })], [[5], [3], [3, 2]],
	"in calls and what is inside of them, and beside others");
of({}, {});
is(model.overTime((row) => (model.rowProcess[row] === 0 ? 0 : 1), 2), [[3, 2, 1], [0, 0, 4]], "over time");
is(Strip.prototype.columns([1, 2, 3, 4, 5], 2), [6, 9], "columns of the strip");
model.chooseType(2);
is([model.whole, model.total()[1], model.called()], [[4096], 4096, "memory"], "another sample type");

// the slowest first
const lasted = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((time) => ({ time }));
is([0.5, 0.9, 0.99, 0.01].map((share) => Calls.prototype.within(lasted, share)), ["5.00 s", "9.00 s", "10.00 s", "1.00 s"],
	"quantiles of calls");
is([0, 0.0005, 0.001, 0.1234, 0.9996, 1].map(formatShare), ["0 %", "<0.1 %", "0.1 %", "12.3 %", "100 %", "100 %"], "shares");
is([0.1, -0.1, 0.0001, 0].map(formatChange), ["+10.0 %", "−10.0 %", "+<0.1 %", "0 %"], "changes");

model.chooseType(0);
const up = new Tree(model, {});
up.refresh(0);
const callers = new Callers(up, model.functions.findIndex((f) => f.label === "a"), 0, false);
const caller = (node) => callers.children(node).map((one) => [model.functions[model.frameFunction[callers.frame[one]]].label,
	callers.total[0][one]]);
is([caller(0), caller(1)], [[["a", 6]], [["main", 6]]], "callers of a function");
