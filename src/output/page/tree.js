// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The trees that are drawn: calls merged by function (or by line), and callers of functions.

// Which nodes are left out when wrappers are folded away: 1. As everywhere in this program (src/profile/fold.h), the
// innermost function of a stack stays, and so do marks: that is up to the caller.
function foldedNodes(model, fold) {
	const folded = new Uint8Array(model.n);
	if (!fold)
		return folded;
	const shown = new Int32Array(model.n).fill(1);
	for (let i = 1; i < model.n; i++) {
		const f = model.functions[model.frameFunction[model.frame[i]]];
		shown[i] = shown[model.parent[i]] + f.step;
		folded[i] = f.kind !== KIND.MARK && (f.wrapper || shown[i] <= 0) ? 1 : 0;
	}
	return folded;
}

// The calls, merged: calls of one function by one caller are one node. Nodes are in the order in which they are drawn,
// each before those it called, the heaviest first; those below node i are i + 1 to end[i] - 1.
class Tree {
	constructor(model, options) {
		this.model = model;
		this.merge(options);
		this.order();
	}

	// nodeOf: for each node of the model the one that has what it did itself; the numbers change in order().
	merge(options) {
		const model = this.model, folded = foldedNodes(model, options.fold);
		const keys = options.lines ? model.frameLine : model.frameFunction;
		const isMark = model.functions.map((f) => f.kind === KIND.MARK);
		let size = 1024;
		while (size < 2 * model.n)
			size *= 2;
		const table = new Int32Array(size), mask = size - 1;
		const parent = new Int32Array(model.n), key = new Int32Array(model.n), frame = new Int32Array(model.n);
		const most = new Float64Array(model.n), nodeOf = new Int32Array(model.n);
		const below = options.fold ? new Int32Array(model.n) : nodeOf; // which has what it called
		let n = 1;
		parent[0] = key[0] = frame[0] = -1;
		// the caller of the outermost call on the way to `above` of the function of node i; else `above`
		const caller = (i, above) => {
			const fn = model.frameFunction[model.frame[i]];
			for (let at = options.recursion && model.functions[fn].recurs ? above : 0; at > 0; at = parent[at])
				if (model.frameFunction[frame[at]] === fn)
					return parent[at];
			return above;
		};
		// the node of a call by `from`, made if there is none
		const find = (i, from) => {
			const its = keys[model.frame[i]], above = caller(i, from);
			let at = (Math.imul(above, 0x9e3779b1) ^ Math.imul(its, 0x85ebca6b)) >>> 7 & mask;
			while (table[at] && (parent[table[at]] !== above || key[table[at]] !== its))
				at = (at + 1) & mask;
			if (!table[at]) {
				table[at] = n;
				parent[n] = above;
				key[n] = its;
				most[n++] = -1;
			}
			// of several lines the heaviest is shown
			if (model.fullTotal[i] > most[table[at]]) {
				most[table[at]] = model.fullTotal[i];
				frame[table[at]] = model.frame[i];
			}
			return table[at];
		};
		for (let i = 1; i < model.n; i++) {
			const from = model.parent[i];
			if (!folded[i]) {
				// a mark stays with its function, which is the innermost then
				const stays = folded[from] && isMark[model.frameFunction[model.frame[i]]];
				if (stays)
					nodeOf[from] = find(from, below[from]);
				nodeOf[i] = below[i] = find(i, stays ? nodeOf[from] : below[from]);
			} else {
				below[i] = below[from];
				nodeOf[i] = model.fullSelf[i] > 0 ? find(i, below[from]) : below[from];
			}
		}
		this.n = n;
		this.parent = parent.subarray(0, n);
		this.frame = frame.subarray(0, n);
		this.nodeOf = nodeOf;
		this.lines = options.lines;
	}

	// Number the nodes again in the order in which they are drawn.
	order() {
		const n = this.n, model = this.model, parent = this.parent;
		const weight = new Float64Array(n), sorted = new Float64Array(n), room = 2 ** Math.ceil(Math.log2(n + 1));
		for (let i = 1; i < model.n; i++)
			weight[this.nodeOf[i]] += model.fullSelf[i];
		addUp(weight, parent);
		// sort by (weight, number) as one number: exact as long as it has 53 bits
		for (let i = 0; i < n; i++)
			sorted[i] = Math.min(Math.floor(weight[i]), 2 ** 53 / room - 1) * room + (n - 1 - i);
		sorted.sort();
		const start = new Int32Array(n + 1), children = new Int32Array(n);
		for (let i = 1; i < n; i++)
			start[parent[i] + 1]++;
		for (let i = 0; i < n; i++)
			start[i + 1] += start[i];
		const next = start.slice();
		for (let i = n - 1; i >= 0; i--) {
			const node = n - 1 - sorted[i] % room;
			if (node)
				children[next[parent[node]]++] = node;
		}
		this.renumber(start, children);
	}

	renumber(start, children) {
		const n = this.n, parent = new Int32Array(n), frame = new Int32Array(n), number = new Int32Array(n);
		const inside = new Int32Array(this.model.functions.length), next = start.slice();
		const outermost = new Int32Array(inside.length);
		this.end = new Int32Array(n);
		this.depth = new Int32Array(n);
		// first: no caller further out is the same function, so that its total counts there
		this.first = new Uint8Array(n);
		// outer: the outermost call of its function on the way to it
		this.outer = new Int32Array(n);
		parent[0] = frame[0] = -1;
		let made = 1, old = 0;
		const path = [];
		for (;;) {
			if (next[old] < start[old + 1]) {
				const child = children[next[old]++], i = made++;
				parent[i] = number[old];
				number[child] = i;
				frame[i] = this.frame[child];
				this.depth[i] = this.depth[parent[i]] + 1;
				const fn = this.model.frameFunction[frame[i]];
				this.first[i] = inside[fn]++ === 0 ? 1 : 0;
				if (this.first[i])
					outermost[fn] = i;
				this.outer[i] = this.model.functions[fn].recurs ? outermost[fn] : i;
				path.push(old);
				old = child;
				continue;
			}
			this.end[number[old]] = made;
			if (!path.length)
				break;
			inside[this.model.frameFunction[this.frame[old]]]--;
			old = path.pop();
		}
		this.parent = parent;
		this.frame = frame;
		this.fn = frame.map((f) => (f < 0 ? -1 : this.model.frameFunction[f]));
		for (let i = 0; i < this.nodeOf.length; i++)
			this.nodeOf[i] = number[this.nodeOf[i]];
	}

	// After the model was restricted, and at first: self and total of each node, and where it begins by those of a set.
	refresh(set) {
		const model = this.model, n = this.n;
		this.self = [];
		this.total = [];
		for (const from of model.self) {
			const self = new Float64Array(n);
			for (let i = 0; i < model.n; i++)
				self[this.nodeOf[i]] += from[i];
			this.self.push(self);
			this.total.push(addUp(self.slice(), this.parent));
		}
		this.place(this.total[set]);
	}

	place(total) {
		const x = new Float64Array(this.n), next = new Float64Array(this.n);
		for (let i = 1; i < this.n; i++) {
			const above = this.parent[i];
			x[i] = next[i] = next[above];
			next[above] += total[i];
		}
		this.x = x;
		this.width = total;
	}

	// How much each function has, recursion counted once: {self: [by set], total: [by set]} of arrays.
	byFunction() {
		const count = this.model.functions.length;
		const sums = { self: [], total: [] };
		for (let s = 0; s < this.model.sets; s++) {
			const self = new Float64Array(count), total = new Float64Array(count);
			for (let i = 1; i < this.n; i++) {
				self[this.fn[i]] += this.self[s][i];
				if (this.first[i])
					total[this.fn[i]] += this.total[s][i];
			}
			sums.self.push(self);
			sums.total.push(total);
		}
		return sums;
	}

	children(node) {
		const list = [];
		for (let child = node + 1; child < this.end[node]; child = this.end[child])
			list.push(child);
		return list;
	}
}

// Callers: below each function those that called it. Made as far as it is looked at, as all of it would be as many
// nodes as all stacks have frames. What is known of a node is in the same fields as a tree's; and in `at` the nodes of the
// tree it stands for, in `of` those whose values count.
class Callers {
	// focus: a function, whose callers are wanted; -1: of all functions, by what they did themselves.
	// set: by whose values they are laid out. recursion: callers that call themselves are one, as in a tree.
	constructor(tree, focus, set, recursion) {
		const nodes = [];
		Object.assign(this, { tree, focus, recursion, parent: [-1], frame: [-1], depth: [0], x: [0], at: [[]], of: [[]] });
		this.values = focus < 0 ? tree.self : tree.total;
		for (let i = 1; i < tree.n; i++)
			if (focus < 0 ? tree.self.some((self) => self[i] > 0) : tree.fn[i] === focus && tree.first[i])
				nodes.push(i);
		this.total = this.values.map((values) => [nodes.reduce((sum, i) => sum + values[i], 0)]);
		this.width = this.total[set];
		this.known = [this.group(0, nodes, nodes)]; // children, by node
	}

	// Nodes of the tree, by what they call.
	group(parent, at, of) {
		const tree = this.tree, keys = tree.lines ? tree.model.frameLine : tree.model.frameFunction;
		const groups = new Map();
		at.forEach((one, i) => {
			const key = keys[tree.frame[one]];
			if (!groups.has(key)) {
				groups.set(key, this.frame.length);
				this.parent.push(parent);
				this.frame.push(tree.frame[one]);
				this.depth.push(this.depth[parent] + 1);
				this.at.push([]);
				this.of.push([]);
				this.total.forEach((total) => total.push(0));
			}
			const node = groups.get(key);
			this.at[node].push(one);
			this.of[node].push(of[i]);
			this.total.forEach((total, s) => { total[node] += this.values[s][of[i]]; });
		});
		const list = Array.from(groups.values());
		list.sort((a, b) => this.width[b] - this.width[a] || keys[this.frame[a]] - keys[this.frame[b]]);
		let x = this.x[parent];
		for (const node of list) {
			this.x[node] = x;
			x += this.width[node];
		}
		return list;
	}

	children(node) {
		if (!this.known[node]) {
			const at = [], of = [];
			this.at[node].forEach((one, i) => {
				const above = this.tree.parent[this.recursion ? this.tree.outer[one] : one];
				if (above > 0) {
					at.push(above);
					of.push(this.of[node][i]);
				}
			});
			this.known[node] = this.group(node, at, of);
		}
		return this.known[node];
	}
}
