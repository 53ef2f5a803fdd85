// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What is known of one frame: beside the pointer, and of the selected one below the graph.

const KIND_NAMES = {
	[KIND.BUILTIN]: "builtin", [KIND.NATIVE]: "native code", [KIND.KERNEL]: "kernel", [KIND.MARK]: "mark",
};

const MARK_TEXTS = {
	"<GC>": "The garbage collector was running.",
	"<truncated>": "Outer frames were cut here.",
	"<other-thread>": "A thread that does not run R: its R functions are unknown.",
	"<no-native>": "Native code between these functions that could not be unwound.",
	"<no-room>": "These frames did not fit into memory (--max-memory).",
	"<toplevel>": "No R function was running.",
};

class Detail {
	constructor(app) {
		this.app = app;
		this.tip = document.getElementById("tip");
		this.bar = document.getElementById("detail");
		this.hide();
	}

	// [name, value] of a node of the graph.
	facts(node, frame) {
		const app = this.app, model = app.model, total = app.graph.shape.total, facts = [];
		if (frame >= 0) {
			const f = model.functions[model.frameFunction[frame]], place = model.places[model.framePlace[frame]];
			if (f.pkg)
				facts.push(["Package", f.pkg]);
			if (f.module)
				facts.push(["Module", f.module]);
			if (KIND_NAMES[f.kind])
				facts.push(["Kind", f.kind === KIND.MARK && MARK_TEXTS[f.name] || KIND_NAMES[f.kind]]);
			if (f.defined)
				facts.push(["Defined", f.defined]);
			if (place.line && (app.state.lines || this.onePlace(node)))
				facts.push(["Line", `${model.strings[place.file]}:${place.line}`]);
		}
		if (model.sets === 2) {
			const after = total[0][node], before = total[1][node] * app.scaleBefore();
			const names = app.setNames();
			facts.push([names[1], app.valueText(before)], [names[0], app.valueText(after)],
				[names[2], `${after < before ? "−" : "+"}${app.valueText(Math.abs(after - before), true)}`]);
			return facts;
		}
		facts.push([app.callers ? "Through here" : "Total", app.valueText(total[0][node])]);
		if (!app.callers)
			facts.push(["Self", app.valueText(app.tree.self[0][node])]);
		(model.parts || []).forEach((part, i) => {
			if (total[1 + i][node] > 0)
				facts.push([part.name, app.valueText(total[1 + i][node])]);
		});
		return facts;
	}

	// Calls from different lines may be one box; a place is shown if there is only one.
	onePlace(node) {
		const app = this.app;
		if (app.callers)
			return false;
		if (!this.places || this.placesOf !== app.tree) {
			const tree = app.tree, model = app.model, places = new Int32Array(tree.n).fill(-1);
			for (let i = 1; i < model.n; i++) {
				const to = tree.nodeOf[i], place = model.framePlace[model.frame[i]];
				if (model.frameFunction[model.frame[i]] === tree.fn[to])
					places[to] = places[to] === -1 || places[to] === place ? place : -2;
			}
			this.places = places;
			this.placesOf = tree;
		}
		return this.places[node] > 0;
	}

	// Beside the pointer: a name, and facts.
	show(name, facts, x, y) {
		const tip = this.tip;
		tip.replaceChildren(make("bdi", { class: "code", text: name.slice(0, 600) }),
			make("dl", {}, ...facts.flatMap(([term, value]) =>
				[make("dt", { text: term.slice(0, 100) }), make("dd", {}, make("bdi", { text: String(value).slice(0, 600) }))])));
		tip.hidden = false;
		const width = tip.offsetWidth, height = tip.offsetHeight;
		tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - width - 8))}px`;
		tip.style.top = `${y + 18 + height < innerHeight ? y + 18 : Math.max(8, y - height - 12)}px`;
	}

	hide() {
		this.tip.hidden = true;
	}

	hint() {
		const app = this.app, touch = matchMedia("(pointer: coarse)").matches;
		const how = touch ? "Tap a frame to zoom in. Tap a name above the graph to go back." :
			"Click a frame to zoom in, Esc goes back, / searches, ? lists the keys.";
		if (app.model.sets === 2)
			return `${app.calls.compare ? "Red takes longer in the selected calls, blue less long" : "Red grew, blue shrank"}. ${how}`;
		return app.callers ? `Next to each function are its callers. ${how}` : how;
	}

	showSelected() {
		const app = this.app, node = app.graph.selected;
		if (node === null) {
			this.bar.replaceChildren(make("span", { class: "muted", text: this.hint() }));
			return;
		}
		const frame = app.graph.shape.frame[node], fn = app.model.frameFunction[frame];
		const place = app.placeOf(node), action = (text, title, click) => make("button", { type: "button", text, title, click });
		this.bar.replaceChildren(
			make("span", { class: "what" }, make("bdi", { class: "code", text: app.labelOf(frame).slice(0, 300) })),
			...this.facts(node, frame).filter(([term]) => term !== "Kind").map(([term, value]) =>
				make("span", {}, make("span", { class: "muted", text: `${term} ` }), make("bdi", { text: String(value).slice(0, 200) }))),
			make("span", { class: "actions" },
				action("Callers", "Callers of this function (c)", () => app.showCallers(fn)),
				action("Highlight", "All calls of this function", () => app.mark({ fn })),
				place.file ? action("Source", "Show its line (s)", () => app.showSource(place)) : null));
	}
}
