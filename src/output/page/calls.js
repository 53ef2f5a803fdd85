// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Single calls: how long each lasted, those that the page shows alone, and these compared with the others.

const CALL_ROWS = 200; // at most
const CALL_BINS = 8; // of the histogram, in each power of ten
const RUNNING = 1, CUT = 2, AMBIGUOUS = 4; // bits of a call's state

class Calls extends Bars {
	constructor(app) {
		super(app, "histogram");
		const model = app.model;
		this.name = -1; // the function whose calls are shown, a place in model.callTexts; -1: all
		this.one = 0; // a call that is shown alone; 0: none
		this.compare = false; // with the other calls
		this.of = new Uint8Array(model.calls.length); // by call: 1, it is selected; 2, another one
		this.slowest = model.calls.slice(1).sort((a, b) => b.time - a.time || a.number - b.number);
		this.shown = this.listed = this.chosen = []; // by all filters; in the range, too; selected
		for (const id of ["tab-calls", "compare"])
			byId(id).hidden = !this.slowest.length;
		if (!this.slowest.length)
			return;
		const times = this.slowest.map((call) => CALL_BINS * Math.log10(Math.max(call.time, 1e-6)));
		this.first = Math.floor(times[times.length - 1]);
		this.bins = Math.max(4, Math.floor(times[0]) + 1 - this.first);
		this.element.setAttribute("aria-label", "How long calls lasted. Drag to select calls; arrow keys move the range, " +
			"Shift+arrow keys change its end, Escape clears it.");
		this.makeNames();
		this.listen();
		byId("calls-clear").addEventListener("click", () => this.clear());
	}

	makeNames() {
		const names = new Map();
		for (const call of this.slowest)
			names.set(call.name, (names.get(call.name) || 0) + 1);
		this.names = Array.from(names.keys()).sort((a, b) => names.get(b) - names.get(a) || a - b);
		offer("calls-name", [[-1, "Calls of all functions"], ...this.names.map((name) =>
			[name, `${this.text(name).slice(0, 100)} (${formatCount(names.get(name))})`])], (name) => {
			this.name = Number(name);
			this.changed();
		});
		byId("calls-name").hidden = names.size < 2;
	}

	text(number) {
		return this.app.model.callTexts[number];
	}

	// --- what is selected ---

	steps() {
		return this.bins;
	}

	changed() {
		this.one = 0;
		this.app.timeChanged();
	}

	// What is selected, without which nothing is restricted; the function is as the process is.
	choiceKey() {
		return [this.name, this.from, this.to, this.one].join();
	}

	clear() {
		if (this.from < 0 && !this.one)
			return false;
		this.from = this.to = -1;
		this.changed();
		return true;
	}

	choose(from, to) {
		this.one = 0;
		super.choose(from, to);
	}

	chooseOne(number) {
		this.one = this.one === number ? 0 : number;
		this.app.refilter(null);
	}

	bin(call) {
		const bin = Math.floor(CALL_BINS * Math.log10(Math.max(call.time, 1e-6))) - this.first;
		return Math.max(0, Math.min(this.bins - 1, bin));
	}

	// Seconds where bin @bin begins.
	edge(bin) {
		return 10 ** ((this.first + bin) / CALL_BINS);
	}

	// By all filters of the page: for the model, by call; null: all samples, whether in calls or not.
	refilter() {
		const app = this.app, { process, label } = app.state, strip = app.strip, width = app.model.timeWidth;
		const shown = process < 0 && label < 0 ? null : app.model.shownCalls();
		this.shown = [];
		this.listed = [];
		this.chosen = [];
		this.of.fill(0);
		for (const call of this.slowest) {
			if ((this.name >= 0 && call.name !== this.name) || (shown && !shown[call.number]))
				continue;
			const bin = this.bin(call), within = this.from < 0 || (bin >= this.from && bin < this.to);
			const chosen = this.one ? call.number === this.one : within;
			this.of[call.number] = chosen ? 1 : 2;
			// the time decides which there are, not which samples are theirs, if these have a time
			if (strip.from >= 0 && (call.start > strip.to * width || call.start + call.time < strip.from * width)) {
				if (!app.model.timed)
					this.of[call.number] = this.compare ? 0 : 2;
				continue;
			}
			this.shown.push(call);
			if (within)
				this.listed.push(call);
			if (chosen)
				this.chosen.push(call);
		}
		return this.compare || this.one || this.from >= 0 || this.name >= 0 || (strip.from >= 0 && !app.model.timed) ? this.of : null;
	}

	// The selected calls beside the others; if none are selected, the slowest tenth.
	toggleCompare() {
		if (!this.slowest.length)
			return;
		this.compare = !this.compare;
		if (this.compare && this.from < 0 && !this.one && this.shown.length)
			[this.from, this.to] = [this.bin(this.shown[Math.ceil(this.shown.length / 10) - 1]), this.bins];
		if (this.compare)
			this.app.controls.showTab("functions");
		this.app.table.makeHead();
		this.app.refilter(null);
	}

	// What a sample of another call counts, so that there are as many calls of both.
	scale() {
		return this.chosen.length / Math.max(1, this.shown.length - this.chosen.length);
	}

	// --- what is shown ---

	draw() {
		const width = this.element.clientWidth, height = this.element.clientHeight, counts = new Float64Array(this.bins || 0);
		if (!width || !this.slowest.length)
			return;
		const ink = this.app.ink, context = fitCanvas(this.canvas, width, height, ink.panel), base = height - 16;
		for (const call of this.shown)
			counts[this.bin(call)]++;
		this.drawBars(context, counts, counts.reduce((a, b) => Math.max(a, b), 1), width, base, ink.strip, 2);
		this.axis(context, width, base, ink);
		if (this.from >= 0)
			this.window(context, width, base, ink);
	}

	axis(context, width, base, ink) {
		let free = 0;
		this.line(context, width, base, ink);
		for (let power = Math.floor(this.first / CALL_BINS); power <= (this.first + this.bins) / CALL_BINS; power++)
			for (const step of [1, 2, 5]) {
				const time = step * 10 ** power, x = (CALL_BINS * Math.log10(time) - this.first) / this.bins * width;
				const label = `${Number((time < 1 ? 1000 * time : time).toPrecision(1))} ${time < 1 ? "ms" : "s"}`;
				if (x < free || x + context.measureText(label).width + 6 > width)
					continue;
				context.fillRect(x, base, 1, 4);
				context.fillText(label, x + 4, base + 13);
				free = x + context.measureText(label).width + 14;
			}
	}

	timeText(call) {
		return `${formatDuration(call.time)}${call.state & (RUNNING | CUT) ? " +" : ""}`;
	}

	// That long at most, of a share of the calls.
	within(calls, share) {
		return formatDuration(calls[calls.length - Math.max(1, Math.ceil(share * calls.length))].time);
	}

	showList() {
		const calls = this.listed, n = calls.length, several = this.app.model.processes.length > 1;
		if (!this.slowest.length)
			return;
		this.draw();
		byId("calls-name").value = String(this.name);
		byId("calls-note").textContent = n ? `${formatCounted(n, "call")}: median ${this.within(calls, 0.5)}, 90 % within ` +
			`${this.within(calls, 0.9)}, 99 % within ${this.within(calls, 0.99)}, longest ${this.within(calls, 1)}` : "No calls here.";
		const titles = [["Lasted", "time"], ["Began", "time"], ...several ? [["Process", "time"]] : [], ["Call", "name"]];
		byId("calls-head").replaceChildren(make("tr", {}, ...titles.map(([text, kind]) =>
			make("th", { scope: "col", class: `column-${kind}` }, make("span", { text })))));
		const body = byId("calls-body"), focused = body.contains(document.activeElement) ? document.activeElement.dataset.call : "";
		body.replaceChildren(...calls.slice(0, CALL_ROWS).map((call) => this.row(call, several)));
		// a row that is made again keeps the focus
		const row = focused && body.querySelector(`[data-call="${focused}"]`);
		if (row)
			row.focus();
		byId("calls-more").textContent = n > CALL_ROWS ? `The slowest ${CALL_ROWS} of ${formatCount(n)}: select others above.` : "";
	}

	title(call) {
		return `${this.text(call.name)} ${this.text(call.request)}`.trim();
	}

	facts(call) {
		const process = this.app.model.processes[call.process];
		const states = [[CUT, "it had begun before the profile"], [RUNNING, "it had not ended"], [AMBIGUOUS, "it may be two calls"]];
		return [["Lasted", `${this.timeText(call)} ± ${formatDuration(call.error)}`], ["Began", `${call.start.toFixed(2)} s`],
			...process ? [["Process", String(process.pid)]] : [],
			...states.filter(([bit]) => call.state & bit).map(([bit, what]) => ["State", what])];
	}

	row(call, several) {
		const number = (text) => make("td", { class: "number", text }), marked = this.one === call.number;
		const request = this.text(call.request), process = this.app.model.processes[call.process];
		return makeRow(marked, () => this.chooseOne(call.number), {
			"data-call": call.number,
			title: [this.title(call).slice(0, 1000), ...this.facts(call).map((fact) => fact.join(": "))].join("\n"),
		}, number(this.timeText(call)), number(`${call.start.toFixed(2)} s`), several ? number(process ? String(process.pid) : "") : null,
		make("td", { class: "column-name" }, make("div", { class: "name" },
			make("bdi", { class: "code", text: (request && this.names.length < 2 ? request : this.title(call)).slice(0, 300) }))));
	}

	// On the button that clears it.
	choiceText() {
		if (this.one)
			return `a call of ${this.timeText(this.app.model.calls[this.one])}  ✕`;
		return `${formatCounted(this.chosen.length, "call")}: ${formatDuration(this.edge(this.from))} – ${formatDuration(this.edge(this.to))}  ✕`;
	}

	// --- in the address, as state.js has the rest ---

	write(parts) {
		if (this.name >= 0)
			parts.set("function", String(this.name));
		if (this.from >= 0)
			parts.set("calls", `${this.from}-${this.to}`);
		if (this.one)
			parts.set("call", String(this.one));
		if (this.compare)
			parts.set("compare", "1");
	}

	read(parts) {
		const name = whole(parts.get("function"), 0, this.app.model.callTexts.length - 1);
		if (!this.slowest.length)
			return;
		if (name !== null && this.names.includes(name))
			this.name = name;
		[this.from, this.to] = range(parts.get("calls"), this.bins) || [-1, -1];
		this.one = whole(parts.get("call"), 1, this.slowest.length, 0);
		this.compare = parts.get("compare") === "1";
	}

	state() {
		return this.slowest.length ? {
			all: this.slowest.length, shown: this.shown.length, chosen: this.chosen.length, one: this.one, compare: this.compare,
			range: this.from < 0 ? null : [this.edge(this.from), this.edge(this.to)], rows: byId("calls-body").rows.length,
		} : null;
	}
}
