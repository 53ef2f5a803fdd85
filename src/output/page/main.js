// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The page as a whole: what is shown, and what changes it.

class App {
	constructor(model) {
		this.model = model;
		this.state = {}; // readState() has its parts
		this.search = null; // a RegExp
		this.marked = null; // {fn}, {group} or {file, line}: what is highlighted without a search
		this.matched = null; // by frame: 1, is one of these
		this.matchedIn = null; // the tree of which matchedTree holds the same by node
		this.back = []; // where it was zoomed to before
		this.colors = new Colors(model);
		this.callers = null;
	}

	start() {
		const wanted = readState(this.model);
		this.state = wanted.state;
		this.setTheme(storedTheme());
		if (wanted.type !== undefined)
			this.model.chooseType(wanted.type);
		showFacts(this.model);
		this.makeTrees();
		this.detail = new Detail(this);
		this.strip = new Strip(this);
		this.calls = new Calls(this);
		this.calls.read(new URLSearchParams(location.hash.slice(1)));
		this.graph = new Graph(this);
		this.table = new Table(this);
		this.legend = new Legend(this);
		this.source = new Source(this);
		if (wanted.time)
			[this.strip.from, this.strip.to] = wanted.time;
		if (wanted.callers !== null)
			this.callers = this.callersOf(wanted.callers);
		this.controls = new Controls(this);
		this.controls.setSearch(wanted.search);
		this.marked = wanted.mark;
		this.refilter(wanted.zoom);
		if (this.model.calls.length > 1)
			this.controls.showTab(this.calls.compare ? "functions" : "calls");
		if (this.source.files.length)
			this.source.open(this.source.files[0], 0);
		else
			this.source.refresh();
	}

	set() {
		return this.model.meta.diff && this.state.before ? 1 : 0;
	}

	// What the two sets are called that are compared, and what is between them.
	setNames() {
		return this.model.meta.diff ? ["After", "Before", "Change"] : ["Selected", "Others", "More"];
	}

	// What samples of before count, so that both profiles have as many.
	scaleBefore() {
		if (this.calls.compare)
			return this.calls.scale();
		return this.state.even && this.model.whole[1] ? this.model.whole[0] / this.model.whole[1] : 1;
	}

	// allCalls has each call, also if recursion is collapsed in `tree`, which is drawn: what a function has in total is
	// in all of its calls, and its callers are those of its outermost one.
	makeTrees() {
		this.tree = new Tree(this.model, this.state);
		this.allCalls = this.state.recursion ? new Tree(this.model, { ...this.state, recursion: false }) : this.tree;
	}

	refreshTrees() {
		this.tree.refresh(this.set());
		if (this.allCalls !== this.tree)
			this.allCalls.refresh(this.set());
	}

	callersOf(focus) {
		return new Callers(this.allCalls, focus, this.set(), this.state.recursion);
	}

	// --- what changed, and what follows from it ---

	// Another process, label or time, or other calls.
	refilter(zoom) {
		this.model.show(this.state);
		const calls = this.calls.refilter();
		this.model.filter({ from: this.strip.from, to: this.strip.to, calls, compare: this.calls.compare, color: this.state.color });
		this.refreshTrees();
		if (this.callers)
			[this.callers, this.back] = [this.callersOf(this.callers.focus), []];
		this.graph.reset(!this.callers && !zoom);
		if (zoom)
			this.zoomTo(zoom);
		this.rematch();
		this.changed();
	}

	// Another sample type: all is made again, and seen from the outside.
	chooseType(type) {
		this.model.chooseType(type);
		showFacts(this.model);
		this.table.makeHead();
		this.controls.makeProcesses();
		this.controls.makeLabels();
		this.makeTrees();
		this.stripOf = null;
		this.back = [];
		this.graph.zoomed = 0;
		this.graph.selected = null;
		this.refilter(null);
	}

	// Calls are merged in another way.
	rebuild() {
		this.makeTrees();
		this.refreshTrees();
		this.showCallers(this.callers && this.callers.focus);
	}

	// Calls or callers; focus: of one function.
	showCallers(focus) {
		this.callers = focus === null ? null : this.callersOf(focus);
		this.back = [];
		this.graph.reset(false);
		this.changed();
	}

	changed() {
		const sum = this.model.whole[0] + (this.model.sets === 2 ? this.model.whole[1] : 0), empty = document.getElementById("empty");
		empty.hidden = sum > 0;
		if (!sum) {
			const [title, why] = emptyText(this);
			empty.replaceChildren(make("strong", { text: title }), make("span", { text: why }));
		}
		this.sums = this.allCalls.byFunction();
		this.table.refresh();
		this.legend.refresh();
		this.source.refresh();
		this.calls.showList();
		if (this.stripOf !== this.stripKey())
			this.refreshStrip();
		this.selectionChanged();
		this.zoomChanged();
		this.controls.show();
	}

	// While somebody drags it changes faster than a picture is drawn.
	timeChanged() {
		if (this.asked)
			return;
		this.asked = true;
		requestAnimationFrame(() => {
			this.asked = false;
			this.refilter(null);
		});
	}

	selectionChanged() {
		this.detail.showSelected();
		const node = this.graph.selected;
		if (node === null)
			return;
		const place = this.placeOf(node);
		if (place.file && this.source.has(place.file))
			this.source.open(place.file, place.line);
	}

	zoomChanged() {
		this.controls.showCrumbs();
		writeState(this);
	}

	zoom(node) {
		if (node !== this.graph.zoomed)
			this.back.push(this.graph.zoomed);
		this.graph.zoom(node);
	}

	// The way back of Escape: where it was zoomed to, then what else was chosen.
	goBack() {
		if (this.back.length) {
			const node = this.back.pop();
			this.graph.select(node);
			this.graph.zoom(node);
		} else if (this.graph.zoomed) {
			this.graph.select(0);
			this.graph.zoom(0);
		} else if (this.search || this.marked) {
			this.controls.setSearch("");
			this.mark(null);
		} else if (this.callers) {
			this.showCallers(null);
		} else if (!this.calls.clear()) {
			this.strip.clear();
		}
	}

	// By the frames on the way, as far as they are there.
	zoomTo(frames) {
		const shape = this.graph.shape;
		let node = 0;
		for (const frame of frames) {
			const next = shape.children(node).find((child) => shape.frame[child] === frame);
			if (next === undefined || shape.width[next] <= 0)
				break;
			node = next;
		}
		this.graph.zoomed = node;
		this.graph.selected = node || null;
		this.graph.window = this.graph.windowOf(node);
		this.graph.settle();
	}

	// --- search and highlighting ---

	matchesFunction(fn) {
		const f = this.model.functions[fn];
		return this.search.test(f.label) || (f.pkg !== "" && this.search.test(`${f.pkg}::${f.name}`)) ||
			(f.defined !== "" && this.search.test(f.defined)) || (f.module !== "" && this.search.test(f.module));
	}

	rematch() {
		const model = this.model, frames = model.frameFunction.length;
		this.matched = this.matchedIn = null;
		if (this.search || this.marked) {
			const mark = this.marked, byFunction = model.functions.map((f, fn) =>
				(this.search ? this.matchesFunction(fn) : mark.fn === fn || mark.group === f.group));
			this.matched = new Uint8Array(frames);
			for (let i = 0; i < frames; i++) {
				const place = model.places[model.framePlace[i]];
				this.matched[i] = byFunction[model.frameFunction[i]] ||
					(!this.search && mark.line && place.line === mark.line && place.file === mark.file) ? 1 : 0;
			}
		}
		this.share = this.matched ? this.matchedShare() : null;
	}

	// By node of the model: is it, or is a caller of it, one that matches?
	matchedNodes() {
		const model = this.model, nodes = new Uint8Array(model.n);
		for (let i = 1; i < model.n; i++)
			nodes[i] = nodes[model.parent[i]] | this.matched[model.frame[i]];
		return nodes;
	}

	// Each sample once, however often the function is in it.
	matchedShare() {
		const nodes = this.matchedNodes();
		return this.model.self.map((self) => {
			let sum = 0;
			for (let i = 0; i < nodes.length; i++)
				if (nodes[i])
					sum += self[i];
			return sum;
		});
	}

	matchedRows() {
		const nodes = this.matchedNodes();
		return Uint8Array.from(this.model.rowNode, (node) => nodes[node]);
	}

	// Is a node of what is drawn one of those that match? One that is made of several lines is, if one of them does.
	isMatch(node) {
		if (this.matched === null)
			return false;
		const tree = this.callers ? this.allCalls : this.tree;
		if (this.matchedIn !== tree)
			this.matchTree(tree);
		return this.callers ? this.callers.at[node].some((one) => this.matchedTree[one] === 1) : this.matchedTree[node] === 1;
	}

	matchTree(tree) {
		const model = this.model, nodes = new Uint8Array(tree.n);
		for (let i = 1; i < model.n; i++) {
			const to = tree.nodeOf[i];
			if (this.matched[model.frame[i]] && model.frameFunction[model.frame[i]] === tree.fn[to])
				nodes[to] = 1;
		}
		this.matchedTree = nodes;
		this.matchedIn = tree;
	}

	mark(what) {
		if (what && this.search)
			this.controls.setSearch("");
		this.marked = what;
		this.matchChanged();
	}

	stripKey() {
		const { process, label, color } = this.state;
		return JSON.stringify([process, label, color, this.calls.compare, this.calls.choiceKey(), String(this.search), this.marked]);
	}

	// It shows all of the time, whatever part is chosen.
	refreshStrip() {
		this.stripOf = this.stripKey();
		this.strip.refresh();
	}

	matchChanged() {
		this.rematch();
		this.refreshStrip();
		this.table.show();
		this.legend.refresh();
		this.source.refresh();
		this.graph.draw();
		this.controls.show();
		writeState(this);
	}

	// --- texts ---

	// In one call, of a value of all that are selected.
	callText(value) {
		const model = this.model, one = value / Math.max(1, this.calls.chosen.length);
		if (model.unit === "bytes")
			return formatBytes(Math.round(one));
		if (model.unit === "count" || (model.unit === "samples" && !model.meta.freq))
			return one.toPrecision(3);
		return formatDuration(one / (model.unit === "ns" ? 1e9 : model.meta.freq));
	}

	valueText(value, bare) {
		if (this.calls.compare)
			return `${this.callText(value)} a call`;
		const model = this.model, meta = model.meta, what = bare ? "" : ` ${model.called()}`;
		const share = bare ? "" : ` (${formatShare(value / (this.model.whole[0] || 1))})`;
		if (model.unit === "ns")
			return `${formatDuration(value / 1e9)}${what}${share}`;
		if (model.unit === "bytes")
			return `${formatBytes(value)}${what}${share}`;
		if (model.unit === "count")
			return `${formatCount(value)}${what}${share}`;
		const time = meta.freq ? `, ${formatDuration(value / meta.freq)}` : "";
		return `${formatCounted(value, "sample")}${time}${share}`;
	}

	labelOf(frame) {
		const model = this.model;
		if (frame < 0)
			return this.callers ? this.callers.focus < 0 ? "all functions" :
				`callers of ${model.functions[this.callers.focus].label}` : "all";
		const f = model.functions[model.frameFunction[frame]];
		if (this.state.lines) {
			const place = model.places[model.framePlace[frame]];
			if (place.line)
				return `${f.name} · ${baseName(model.strings[place.file])}:${place.line}`;
		}
		return f.label;
	}

	functionTitle(f) {
		return [f.label.slice(0, 1000), f.pkg && `package ${f.pkg}`, f.defined && `defined ${f.defined}`, f.module].filter(Boolean).join("\n");
	}

	// [colour, share of it] each.
	colorsOf(box) {
		const { model, ink } = this, total = this.graph.shape.total, value = (set) => total[set][box.node];
		if (model.parts)
			return model.parts.map((part, i) => [PART_COLORS[part.color], value(1 + i) / value(0)]);
		if (box.frame < 0)
			return [[ink.line, 1]];
		if (model.sets === 1)
			return [[this.colors.functions[model.frameFunction[box.frame]], 1]];
		const change = value(0) - value(1) * this.scaleBefore();
		return [[this.colors.ofDelta(change / Math.max(1, this.model.whole[0], this.model.whole[1] * this.scaleBefore())), 1]];
	}

	// The place of a node: the line executed, else the definition.
	placeOf(node) {
		const frame = this.graph.shape.frame[node], model = this.model;
		if (frame < 0)
			return { file: 0, line: 0 };
		const place = model.places[model.framePlace[frame]], f = model.functions[model.frameFunction[frame]];
		return place.file ? place : { file: f.file, line: f.line };
	}

	showSource(place) {
		this.controls.showTab("source");
		this.source.open(place.file, place.line);
	}

	showTip(box, x, y) {
		this.detail.show(this.labelOf(box.frame), this.detail.facts(box.node, box.frame), x, y);
	}

	// --- light and dark ---

	setTheme(theme) {
		const dark = theme === "dark" || (theme !== "light" && systemIsDark());
		document.documentElement.classList.toggle("dark", dark);
		this.dark = dark;
		this.ink = readInk(document.documentElement);
		this.colors.setDark(dark);
		if (this.graph) {
			this.graph.draw();
			this.strip.draw();
			this.calls.draw();
			this.table.show();
			this.legend.refresh();
		}
	}
}

function systemIsDark() {
	return matchMedia("(prefers-color-scheme: dark)").matches;
}

function storedTheme() {
	try {
		return localStorage.getItem("xrprof-theme");
	} catch (error) {
		return null;
	}
}

function storeTheme(theme) {
	try {
		// who has what the system has goes on as it does
		if ((theme === "dark") === systemIsDark())
			localStorage.removeItem("xrprof-theme");
		else
			localStorage.setItem("xrprof-theme", theme);
	} catch (error) {
		// it is for this page only then
	}
}

// For tests and scripts: window.xrprof.state() says what is shown, in plain values. ready: the page is; times: ms when
// the script began, the profile was parsed, it was taken in, and all was ready.
function expose(app, times) {
	window.xrprof = {
		ready: true,
		times,
		app,
		state: () => ({
			samples: app.model.whole[0],
			functions: app.table.rows.length,
			nodes: app.tree.n,
			boxes: app.graph.boxes.length,
			drawn: app.graph.drawn,
			moving: app.graph.moving !== null,
			zoom: app.graph.path(app.graph.zoomed).map((node) => app.labelOf(app.graph.shape.frame[node])),
			selected: app.graph.selected === null ? null : app.labelOf(app.graph.shape.frame[app.graph.selected]),
			callers: app.callers ? app.callers.focus : null,
			share: app.share,
			...app.state,
			label: app.state.label < 0 ? null : app.controls.labelText(app.state.label),
			type: app.model.meta.types[app.model.type].name,
			time: app.strip.from < 0 ? null : [app.strip.from, app.strip.to],
			calls: app.calls.state(),
			bars: app.strip.placed.length,
			dark: app.dark,
			source: app.source.file ? { file: app.model.strings[app.source.file], line: app.source.line } : null,
		}),
		boxes: () => app.graph.boxes.filter((box) => !box.rest).map((box) => ({
			label: app.labelOf(box.frame), depth: box.depth, left: box.left, right: box.right,
			top: app.graph.levelTop(box.depth) - app.graph.scroller.scrollTop,
		})),
	};
}

{
	const element = document.getElementById("profile"), times = [performance.now()];
	const data = JSON.parse(element.textContent);
	times.push(performance.now());
	// the element stays: a browser saves the page as it is then
	const app = new App(new Model(data));
	times.push(performance.now());
	app.start();
	times.push(performance.now());
	expose(app, times);
}
