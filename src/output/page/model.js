// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The profile as the page has it: what is in its data (src/output/page_data.h), in typed arrays. Nothing here knows
// of the screen.

"use strict";

// enum frame_kind
const KIND = { R: 0, ANON: 1, BUILTIN: 2, NATIVE: 3, KERNEL: 4, UNNAMED: 5, MARK: 6 };

const FRAME_FIELDS = 9;
const CALL_FIELDS = 7;
const PARTS_MAX = 6; // values of a label that have a separate colour

// Sample types in words; events have their own names.
const TYPES = new Map([
	["cpu", "CPU time"], ["wall", "wall time"], ["off_cpu", "waiting"], ["alloc_space", "memory"], ["elapsed", "CPU time and waiting"],
]);

// The last name of a path.
function baseName(path) {
	return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

// Equal things get equal numbers, from 0 on.
class Numbers {
	constructor() {
		this.map = new Map();
	}

	of(key) {
		let number = this.map.get(key);
		if (number === undefined) {
			number = this.map.size;
			this.map.set(key, number);
		}
		return number;
	}
}

// Add the values of tree nodes to their parents, which come before them.
function addUp(values, parent) {
	for (let i = values.length - 1; i > 0; i--)
		values[parent[i]] += values[i];
	return values;
}

class Model {
	constructor(data) {
		this.meta = data.meta;
		this.processes = data.processes;
		this.readStrings(data.strings);
		this.readFrames(data.frames);
		this.readNodes(data.nodes);
		this.readRows(data.rows);
		this.readCalls(data.calls, data.time ? data.time.begin : 0);
		this.readLabels(data.labels);
		this.readTime(data.time);
		this.readSources(data.sources);
		this.chooseType(this.types[0]);
	}

	// What a sample type is called; by default that of the type which is shown.
	called(type = this.type) {
		const name = this.meta.types[type].name;
		return TYPES.get(name) || name || "samples";
	}

	// Everything is of one sample type from now on.
	chooseType(type) {
		this.type = type;
		this.unit = this.meta.types[type].unit;
		this.processTotal = new Float64Array(this.processes.length);
		// how much of it is in a value of each row
		const scales = this.meta.types[type].scales;
		this.rowScale = Float64Array.from(this.rowType, (one) => (scales ? scales[one] || 0 : one === type ? 1 : 0));
		this.rowScale.forEach((scale, i) => { this.processTotal[this.rowProcess[i]] += scale * this.rowValue[i]; });
		this.show({ process: -1, label: -1 });
		this.filter({ from: -1, to: -1, color: "" });
		// what there is without any restriction
		this.fullSelf = this.self[0].map((value, i) => this.self.reduce((sum, self) => sum + self[i], 0));
		this.fullTotal = addUp(this.fullSelf.slice(), this.parent);
	}

	// Two profiles that are compared have their own tables: equal texts become one.
	readStrings(strings) {
		const first = new Map();
		this.strings = strings;
		this.same = new Int32Array(strings.length);
		strings.forEach((text, i) => {
			if (!first.has(text))
				first.set(text, i);
			this.same[i] = first.get(text);
		});
	}

	// Functions are distinguished by name, package and definition; a place is a line of a file.
	readFrames(frames) {
		const n = frames.length / FRAME_FIELDS;
		const functions = new Numbers(), places = new Numbers(), lines = new Numbers();
		this.functions = [];
		this.places = [];
		this.frameFunction = new Int32Array(n);
		this.framePlace = new Int32Array(n);
		this.frameLine = new Int32Array(n); // equal for the same line of the same function
		places.of("0:0");
		this.places.push({ file: 0, line: 0 });
		for (let i = 0; i < n; i++) {
			const at = i * FRAME_FIELDS;
			const text = (field) => this.same[frames[at + field]], number = (field) => frames[at + field];
			const name = text(0), pkg = text(1), module = text(2), kind = number(3);
			const definedFile = text(4), definedLine = number(5), file = text(6), line = number(7);
			const id = functions.of([name, pkg, module, kind, definedFile, definedLine].join());
			if (id === this.functions.length)
				this.functions.push(this.describe({
					name: this.strings[name], kind, pkg: this.strings[pkg], module: this.strings[module],
					file: definedFile, line: definedLine, wrapper: number(8) === 1,
				}));
			const place = places.of(file && line ? `${file}:${line}` : "0:0");
			if (place === this.places.length)
				this.places.push({ file, line });
			this.frameFunction[i] = id;
			this.framePlace[i] = place;
			this.frameLine[i] = lines.of(`${id}:${place}`);
		}
		this.hasLines = this.places.length > 1;
	}

	describe(f) {
		const { name, kind } = f;
		f.defined = f.file && f.line ? `${this.strings[f.file]}:${f.line}` : "";
		f.label = f.defined && (name === "FUN" || kind === KIND.ANON) ?
			`${f.name} {${baseName(this.strings[f.file])}:${f.line}}` : f.name;
		f.group = this.group(f);
		// As everywhere in this program (src/profile/fold.h, name__bare()): how much it changes shiny's count of what it shows, and
		// whether it can call itself. Wrappers, builtins and native code cannot, nor functions without a name and a definition.
		const bare = name.replace(/^[^]*?:::?/, ""), r = kind === KIND.R;
		f.step = r && bare === "..stacktraceoff.." ? -1 : r && bare === "..stacktraceon.." ? 1 : 0;
		f.recurs = kind === KIND.ANON || (r && bare === "FUN") ? f.defined !== "" : r && !f.wrapper;
		return f;
	}

	// What the legend knows it by.
	group(f) {
		switch (f.kind) {
		case KIND.MARK: return f.name === "<GC>" ? "garbage collection" : "marks";
		case KIND.NATIVE: return "native code";
		case KIND.KERNEL: return "kernel";
		case KIND.BUILTIN: return "builtin";
		default: return f.pkg || "R functions";
		}
	}

	readNodes(nodes) {
		const n = nodes.length / 2 + 1, at = [0];
		let depth = 0;
		this.n = n;
		this.parent = new Int32Array(n);
		this.frame = new Int32Array(n);
		this.parent[0] = -1;
		this.frame[0] = -1;
		for (let i = 1; i < n; i++) {
			depth += 1 - nodes[2 * i - 2];
			at[depth] = i;
			this.parent[i] = at[depth - 1];
			this.frame[i] = nodes[2 * i - 1];
		}
		this.findFirstPlaces();
	}

	// firstPlace: no caller further out is in the same place, so that its total counts there.
	findFirstPlaces() {
		const inside = new Int32Array(this.places.length), path = [];
		this.firstPlace = new Uint8Array(this.n);
		if (!this.hasLines)
			return;
		for (let i = 1; i < this.n; i++) {
			while (path.length && path[path.length - 1] !== this.parent[i])
				inside[this.framePlace[this.frame[path.pop()]]]--;
			this.firstPlace[i] = inside[this.framePlace[this.frame[i]]]++ === 0 ? 1 : 0;
			path.push(i);
		}
	}

	readRows(rows) {
		const n = rows.length / 4;
		let node = 0;
		this.rowNode = new Int32Array(n);
		this.rowProcess = new Int32Array(n);
		this.rowValue = new Float64Array(n);
		this.rowType = new Uint8Array(n);
		for (let i = 0; i < n; i++) {
			node += rows[4 * i];
			this.rowNode[i] = node;
			this.rowProcess[i] = rows[4 * i + 1];
			this.rowValue[i] = rows[4 * i + 2];
			this.rowType[i] = rows[4 * i + 3];
		}
		// those of which there is anything; the first that can be if there is nothing at all
		this.types = this.meta.types.map((type, i) => i).filter((i) => this.meta.types[i].name && this.rowType.includes(i));
		if (!this.types.length)
			this.types = [Math.max(0, this.meta.types.findIndex((type) => type.name))];
	}

	// Calls by number, from 1 on, each after the one outside of it. rowCall: a row's innermost one; 0: none.
	// They start where the strip does.
	readCalls(calls, begin) {
		const list = calls ? calls.list : [], types = this.meta.types, off = types.findIndex((type) => type.name === "off_cpu");
		this.calls = [null];
		this.callTexts = calls ? calls.texts : [];
		this.rowCall = calls ? calls.rows : [];
		for (let i = 0; i < list.length; i += CALL_FIELDS)
			this.calls.push({
				number: this.calls.length, name: list[i], request: list[i + 1], start: Math.max(0, list[i + 2] / 1e6 - begin),
				time: list[i + 3] / 1e6, error: list[i + 4] / 1e6, state: list[i + 5], outer: list[i + 6], process: -1,
			});
		this.rowCall.forEach((call, row) => {
			for (let at = call; at && this.calls[at].process < 0; at = this.calls[at].outer)
				this.calls[at].process = this.rowProcess[row];
		});
		// what a call takes is both
		if (!calls || !this.meta.freq || types[0].name !== "cpu" || off < 0 || this.meta.diff)
			return;
		this.types.unshift(types.length);
		types.push({ name: "elapsed", unit: "ns", scales: { 0: 1e9 / this.meta.freq, [off]: 1 } });
	}

	// By call: 1, a row that is shown is in it.
	shownCalls() {
		const shown = new Uint8Array(this.calls.length);
		this.rowCall.forEach((call, row) => {
			for (let at = this.rowShown[row] ? call : 0; at && !shown[at]; at = this.calls[at].outer)
				shown[at] = 1;
		});
		return shown;
	}

	// Labels that the program gave its samples: {key, value, sets}, sets being the numbers of the sets that have it. Of each
	// key there is also value null, of which these are the sets that do not count. rowLabels: the set of a row.
	readLabels(labels) {
		const keys = new Map();
		this.rowLabels = labels ? labels.rows : [];
		(labels ? labels.sets : []).forEach((set, i) => new Map(set).forEach((value, key) => {
			if (!keys.has(key))
				keys.set(key, new Map([[null, []]]));
			for (const one of [null, value])
				keys.get(key).set(one, keys.get(key).get(one) || []).get(one).push(i + 1);
		}));
		this.labels = Array.from(keys).flatMap(([key, values]) => Array.from(values, ([value, sets]) => ({ key, value, sets })));
	}

	// By label, how much of this type of sample has it.
	labelSums() {
		const sums = new Map(), of = (sets) => sets.reduce((sum, set) => sum + (sums.get(set) || 0), 0);
		this.rowLabels.forEach((set, i) => sums.set(set, (sums.get(set) || 0) + this.rowScale[i] * this.rowValue[i]));
		const all = of(Array.from(sums.keys()));
		return this.labels.map(({ value, sets }) => (value === null ? Math.round(all - of(sets)) : of(sets)));
	}

	// Divide the samples by the values of a label: those with the most, all others together, and those without it. Sets parts:
	// {name, label: a place in labels, or -1, color: a number}; and rowPart, the part of each row.
	divide(key) {
		const sums = this.labelSums(), of = new Map(), all = this.labels.flatMap((one, label) => (one.key === key ? [label] : []));
		const values = all.slice(1).sort((a, b) => sums[b] - sums[a] || a - b); // the first is for none
		this.parts = values.slice(0, PARTS_MAX).map((label, color) => ({ name: this.labels[label].value, label, color }));
		if (values.length > PARTS_MAX)
			this.parts.push({ name: `${formatCount(values.length - PARTS_MAX)} others`, label: -1, color: PARTS_MAX });
		values.forEach((label, i) => this.labels[label].sets.forEach((set) => of.set(set, Math.min(i, PARTS_MAX))));
		this.rowPart = Uint8Array.from(this.rowLabels, (set) => (of.has(set) ? of.get(set) : this.parts.length));
		this.parts.push({ name: "(none)", label: all[0], color: PARTS_MAX + 1 });
	}

	// By row: 1, it has something at all of a process and of a label; -1: not restricted.
	show(only) {
		const label = this.labels[only.label] || { sets: [], value: null }, sets = new Set(label.sets);
		this.rowShown = Uint8Array.from(this.rowProcess, (process, row) =>
			((only.process < 0 || process === only.process) && sets.has(this.rowLabels[row]) === (label.value !== null) ? 1 : 0));
	}

	// By row: 1, it is in a call that is 1 in @of; 2, in none of these, but in one that is 2; 0: in neither.
	sides(of) {
		const sides = of.slice();
		for (let i = 1; i < sides.length; i++)
			sides[i] = Math.min(sides[i] || 3, sides[this.calls[i].outer] || 3) % 3;
		return Uint8Array.from(this.rowCall, (call) => sides[call]);
	}

	// Entries by span: those of span s are from spanStart[s] on, up to spanStart[s + 1]. Of a file that was read there are none:
	// then only calls have a time.
	readTime(time) {
		this.timed = time !== null;
		if (!time) {
			this.spans = this.calls.length > 1 ? 1000 : 0;
			this.timeWidth = this.calls.slice(1).reduce((end, call) => Math.max(end, call.start + call.time), 0.001) / this.spans;
			this.spanStart = new Int32Array(this.spans + 1);
			return;
		}
		this.spans = 0;
		const n = time.entries.length / 3, spans = new Int32Array(n);
		let span = 0;
		for (let i = 0; i < n; i++) {
			span += time.entries[3 * i];
			spans[i] = span;
			this.spans = Math.max(this.spans, span + 1);
		}
		this.timeWidth = time.width;
		this.spanStart = new Int32Array(this.spans + 1);
		for (const one of spans)
			this.spanStart[one + 1]++;
		for (let i = 0; i < this.spans; i++)
			this.spanStart[i + 1] += this.spanStart[i];
		const next = this.spanStart.slice();
		this.entryRow = new Int32Array(n);
		this.entryValue = new Float64Array(n);
		for (let i = 0; i < n; i++) {
			const to = next[spans[i]]++;
			this.entryRow[to] = time.entries[3 * i + 1];
			this.entryValue[to] = time.entries[3 * i + 2];
		}
	}

	readSources(sources) {
		this.sources = new Map(); // text by the number of the file's name
		this.without = new Map(); // why there is none
		for (const source of sources)
			if (source.text === undefined)
				this.without.set(this.same[source.file], source.why);
			else
				this.sources.set(this.same[source.file], source.text);
	}

	// Restrict all to what show() chose, and to spans [from, to); -1: not restricted; and to calls, as sides() has them; null: not.
	// compare: those that are 2 are the second set. Sets self, by node, and whole; if there is one set and a color, a key of
	// labels, also parts, and behind the set self and whole of each part.
	filter(only) {
		const set = this.processes.map((p) => (p.before ? 1 : 0));
		this.rowSide = only.calls ? this.sides(only.calls) : null;
		this.sets = this.meta.diff || (only.calls && only.compare) ? 2 : 1;
		this.parts = null;
		if (only.color && this.sets === 1)
			this.divide(only.color);
		const timed = only.from >= 0 && this.timed;
		const values = timed ? new Float64Array(this.rowValue.length) : this.rowValue;
		if (timed)
			for (let i = this.spanStart[only.from]; i < this.spanStart[only.to]; i++)
				values[this.entryRow[i]] += this.entryValue[i];
		this.whole = new Array(this.sets + (this.parts ? this.parts.length : 0)).fill(0);
		this.self = this.whole.map(() => new Float64Array(this.n));
		this.totals = [];
		for (let i = 0; i < values.length; i++) {
			const side = this.rowSide ? this.rowSide[i] - 1 : set[this.rowProcess[i]];
			if (side >= 0 && side < this.sets && this.rowShown[i])
				for (const at of this.parts ? [side, 1 + this.rowPart[i]] : [side]) {
					this.self[at][this.rowNode[i]] += values[i] * this.rowScale[i];
					this.whole[at] += values[i] * this.rowScale[i];
				}
		}
	}

	// Of a set, by node: what is in it and in what it called.
	total(set = 0) {
		this.totals[set] = this.totals[set] || addUp(this.self[set].slice(), this.parent);
		return this.totals[set];
	}

	// By span, how much there is of the rows for which which(row) is 0, 1 and so on, up to n.
	overTime(which, n) {
		const sums = Array.from({ length: n }, () => new Float64Array(this.spans));
		for (let s = 0; s < this.spans; s++)
			for (let i = this.spanStart[s]; i < this.spanStart[s + 1]; i++) {
				const of = which(this.entryRow[i]);
				if (of >= 0)
					sums[of][s] += this.entryValue[i] * this.rowScale[this.entryRow[i]];
			}
		return sums;
	}
}
