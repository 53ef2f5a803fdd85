// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The source beside the graph: each line with its time.

class Source {
	constructor(app) {
		this.app = app;
		this.chooser = document.getElementById("source-file");
		this.view = document.getElementById("source-lines");
		this.none = document.getElementById("source-none");
		this.file = 0;
		this.line = 0;
		this.files = this.findFiles();
		offer("source-file", this.files.map((file) => [file, app.model.strings[file]]), (file) => this.open(Number(file), 0));
	}

	// Those with text, those with most in them first.
	findFiles() {
		const model = this.app.model, weight = new Map();
		for (const file of model.sources.keys())
			weight.set(file, 0);
		if (!weight.size)
			return [];
		const total = model.total();
		for (let i = 1; i < model.n; i++) {
			const file = model.places[model.framePlace[model.frame[i]]].file;
			if (weight.has(file))
				weight.set(file, weight.get(file) + total[i]);
		}
		return Array.from(weight.keys()).sort((a, b) => weight.get(b) - weight.get(a) || a - b);
	}

	has(file) {
		return this.app.model.sources.has(file);
	}

	// Values of the lines of the file: by line {self, total}.
	lineValues(file) {
		const model = this.app.model, lines = new Map(), total = model.total();
		for (let i = 1; i < model.n; i++) {
			const place = model.places[model.framePlace[model.frame[i]]];
			if (place.file !== file)
				continue;
			let one = lines.get(place.line);
			if (!one)
				lines.set(place.line, one = { self: 0, total: 0 });
			one.self += model.self[0][i];
			if (model.firstPlace[i])
				one.total += total[i];
		}
		return lines;
	}

	// Show a file, from near a line on; 0: where most of its time is.
	open(file, line) {
		this.file = file;
		this.line = line;
		this.refresh();
		if (!this.has(file))
			return;
		this.chooser.value = String(file);
		const to = this.view.querySelector(`[data-line="${line || this.heaviest}"]`);
		if (to) {
			const area = this.view.getBoundingClientRect(), at = to.getBoundingClientRect();
			this.view.scrollTop += at.top - area.top - area.height / 3;
		}
	}

	refresh() {
		const app = this.app, text = app.model.sources.get(this.file);
		this.chooser.hidden = this.files.length === 0;
		this.view.hidden = text === undefined;
		this.none.hidden = text !== undefined;
		if (text === undefined) {
			this.none.textContent = this.why();
			return;
		}
		const values = this.lineValues(this.file), sum = app.model.whole[0] || 1, most = { total: 0, line: 1 };
		values.forEach((value, line) => {
			if (value.total > most.total)
				Object.assign(most, { total: value.total, line });
		});
		this.heaviest = most.line;
		const lines = text.split(/\r\n|\r|\n/);
		if (lines[lines.length - 1] === "")
			lines.pop();
		this.view.replaceChildren(...lines.map((content, i) => this.lineElement(content, i + 1, values.get(i + 1), sum, most.total)));
	}

	lineElement(content, number, value, sum, most) {
		const app = this.app, marked = app.marked && app.marked.file === this.file && app.marked.line === number;
		return make("div", {
			class: `line${value ? " hot" : ""}${number === this.line ? " here" : ""}${marked ? " marked" : ""}`,
			"data-line": number, role: value ? "button" : null, tabindex: value ? "0" : null,
			title: value ? `${app.valueText(value.total)}, ${app.valueText(value.self)} of it in the line itself` : null,
			click: value ? () => app.mark(marked ? null : { file: this.file, line: number }) : null,
		},
		make("span", { class: "line-time", text: value ? formatShare(value.total / sum) : "" }),
		make("span", { class: "line-bar" }, make("i", { class: "bar", width: widthOf(value && most ? value.total / most : 0) })),
		make("span", { class: "line-number", text: String(number) }),
		make("code", { class: "line-text", text: content.slice(0, 2000) || " " }));
	}

	why() {
		const model = this.app.model;
		if (this.file) {
			const why = model.without.get(this.file) || "this page was made from a file without sources";
			return `${model.strings[this.file]}: ${why}`;
		}
		if (!model.hasLines)
			return "This profile has no lines. Record with --lines, and let R keep source references: run a script by " +
				"source(FILE, keep.source = TRUE), and install packages with R_KEEP_PKG_SOURCE=yes.";
		if (!this.files.length)
			return "This profile has no source text. Select a frame to see the reason.";
		return "Select a frame.";
	}
}
