// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Samples over time, and a part of it that the page shows alone.

// Bars of which a person selects some beside each other, by pointer and keys. Who extends it has steps(), how many there
// are, draw(), and changed(), which is called when others are selected.
class Bars {
	constructor(app, id) {
		this.app = app;
		this.element = document.getElementById(id);
		this.canvas = document.getElementById(`${id}-canvas`);
		this.from = this.to = -1; // steps [from, to) that are chosen; -1: all
		this.anchor = -1;
	}

	// least: px of what is not empty
	drawBars(context, values, most, width, base, color, least) {
		const n = values.length;
		context.fillStyle = color;
		values.forEach((value, i) => {
			const left = Math.round(i * width / n), right = Math.round((i + 1) * width / n);
			const tall = value ? Math.max(least, value / most * (base - 4)) : 0;
			context.fillRect(left, base - tall, Math.max(1, right - left - (right - left > 2 ? 1 : 0)), tall);
		});
	}

	// Below the bars, and how labels are written there.
	line(context, width, base, ink) {
		context.fillStyle = ink.line;
		context.fillRect(0, base, width, 1);
		context.font = "11px system-ui, sans-serif";
		context.textBaseline = "alphabetic";
		context.fillStyle = ink.muted;
	}

	window(context, width, base, ink) {
		const left = this.from / this.steps() * width, right = this.to / this.steps() * width;
		context.fillStyle = ink.panel;
		context.globalAlpha = 0.68;
		context.fillRect(0, 0, left, base);
		context.fillRect(right, 0, width - right, base);
		context.globalAlpha = 1;
		context.strokeStyle = ink.accent;
		context.lineWidth = 2;
		context.strokeRect(left, 1, Math.max(2, right - left), base - 1);
	}

	choose(from, to) {
		const n = this.steps();
		from = Math.max(0, Math.min(n - 1, from));
		to = Math.max(from + 1, Math.min(n, to));
		[this.from, this.to] = from === 0 && to === n ? [-1, -1] : [from, to];
		this.draw();
		this.changed();
	}

	clear() {
		if (this.from < 0)
			return false;
		this.from = this.to = -1;
		this.draw();
		this.changed();
		return true;
	}

	stepAt(event) {
		const area = this.canvas.getBoundingClientRect();
		return (event.clientX - area.left) / area.width * this.steps();
	}

	drag(event) {
		const here = this.stepAt(event), from = Math.min(this.anchor, here), to = Math.max(this.anchor, here);
		if ((to - from) / this.steps() * this.element.clientWidth < 4)
			return;
		this.choose(Math.floor(from), Math.ceil(to));
	}

	listen() {
		const e = this.element;
		e.addEventListener("pointerdown", (event) => {
			if (event.button)
				return;
			this.anchor = this.stepAt(event);
			e.setPointerCapture(event.pointerId);
		});
		e.addEventListener("pointermove", (event) => {
			if (this.anchor >= 0)
				this.drag(event);
		});
		e.addEventListener("pointerup", () => { this.anchor = -1; });
		e.addEventListener("pointercancel", () => { this.anchor = -1; });
		e.addEventListener("dblclick", () => this.clear());
		e.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.draw()).observe(e);
	}

	// Left and right move what is chosen, with Shift they change where it ends.
	key(event) {
		const n = this.steps(), step = Math.max(1, Math.round(n / 50));
		const sign = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		if (!sign)
			return;
		event.preventDefault();
		event.stopPropagation();
		if (this.from < 0)
			this.choose(sign > 0 ? 0 : n - 5 * step, sign > 0 ? 5 * step : n);
		else if (event.shiftKey)
			this.choose(this.from, Math.max(this.from + step, this.to + sign * step));
		else if (this.from + sign * step >= 0 && this.to + sign * step <= n)
			this.choose(this.from + sign * step, this.to + sign * step);
	}
}

const LANES = 5; // rows of calls, at most
const LANE = 9; // px of each

class Strip extends Bars {
	constructor(app) {
		super(app, "strip");
		this.placed = []; // calls that are drawn: {call, lane, left, right}
		this.lanes = 0; // that there were so far
		this.element.hidden = !app.model.spans;
		if (!app.model.spans)
			return;
		this.listen();
		this.listenCalls();
	}

	steps() {
		return this.app.model.spans;
	}

	changed() {
		this.app.timeChanged();
	}

	// What it is of, for those who do not see it.
	name() {
		const model = this.app.model, what = model.unit === "samples" ? "samples" : model.called();
		this.element.setAttribute("aria-label", `${what.replace(/^./, (c) => c.toUpperCase())} over time. Drag to select a part; arrow keys ` +
			"move it, Shift+arrow keys change its end, Escape clears it.");
	}

	// Values have changed: what process or label there is, or what is searched for.
	refresh() {
		const app = this.app, model = app.model, matched = app.matched !== null ? app.matchedRows() : null;
		if (!model.spans)
			return;
		this.name();
		const visible = (row) => model.rowScale[row] > 0 && model.rowShown[row] === 1 && (!model.rowSide || model.rowSide[row] === 1);
		const part = matched ? (row) => 1 - matched[row] : model.parts ? (row) => model.rowPart[row] : () => 0;
		// each on top of those before it
		this.layers = model.overTime((row) => (visible(row) ? part(row) : -1), matched ? 2 : model.parts ? model.parts.length : 1);
		this.layers.slice(1).forEach((layer, i) => this.layers[i].forEach((value, span) => { layer[span] += value; }));
		this.matching = matched !== null;
		this.draw();
	}

	draw() {
		const width = this.element.clientWidth, { model, ink, calls } = this.app;
		if (!this.layers || !width)
			return;
		this.place(width);
		const context = fitCanvas(this.canvas, width, this.element.clientHeight, ink.panel);
		const all = this.layers[this.layers.length - 1], base = this.element.clientHeight - 16, top = base - this.lanes * LANE;
		// few samples would make a comb of many columns
		const samples = all.reduce((sum, value) => sum + value, 0), fill = model.unit === "samples" ? samples / 2 : Infinity;
		const columns = Math.max(1, Math.min(Math.floor(width / 3), model.spans, Math.max(60, Math.floor(fill))));
		const colors = this.matching ? [ink.match, ink.strip] : model.parts ? model.parts.map((part) => PART_COLORS[part.color]) : [ink.strip];
		const most = this.columns(all, columns).reduce((a, b) => Math.max(a, b), 0) || 1;
		for (let i = this.layers.length - 1; i >= 0; i--)
			this.drawBars(context, this.columns(this.layers[i], columns), most, width, top, colors[i], 0);
		for (const { call, lane, left, right } of this.placed) {
			const tall = 2 + Math.round((LANE - 3) * (calls.bin(call) + 1) / calls.bins);
			context.fillStyle = calls.of[call.number] === 1 ? ink.accent : ink.strip;
			context.fillRect(left, top + (lane + 1) * LANE - tall, right - left - (right - left > 2 ? 1 : 0), tall);
		}
		this.axis(context, width, base, ink);
		if (this.from >= 0)
			this.window(context, width, base, ink);
	}

	// Calls from their start to their end, the slowest first, each in the first lane in which its pixels are free. What is
	// shorter than a pixel is as wide as one; of several such on the same pixel the slowest is there for all.
	place(width) {
		const { model, calls } = this.app, scale = width / (model.spans * model.timeWidth), taken = new Uint8Array(LANES * width);
		this.placed = [];
		for (const call of calls.slowest) {
			const left = Math.min(width - 1, Math.floor(call.start * scale)), size = call.time * scale < 1 ? 1 : 2;
			const right = Math.min(width, Math.max(left + 1, Math.floor((call.start + call.time) * scale)));
			let lane = calls.of[call.number] ? 0 : LANES;
			for (let x = left; x < right && lane < LANES; x++)
				if (taken[lane * width + x] > 2 - size)
					[lane, x] = [lane + 1, left - 1];
			if (lane === LANES || taken[lane * width + left])
				continue;
			taken.fill(size, lane * width + left, lane * width + right);
			this.placed.push({ call, lane, left, right });
			this.lanes = Math.max(this.lanes, lane + 1);
		}
		this.element.style.height = `${(model.timed ? 68 : 24) + this.lanes * LANE}px`;
	}

	callAt(event) {
		const area = this.canvas.getBoundingClientRect(), x = event.clientX - area.left;
		const lane = Math.floor((event.clientY - area.bottom + 16) / LANE) + this.lanes;
		return this.placed.find((one) => one.lane === lane && x >= one.left - 1 && x < one.right + 1);
	}

	listenCalls() {
		const { element, app } = this, hint = element.title;
		element.addEventListener("pointermove", (event) => {
			const at = event.buttons ? undefined : this.callAt(event);
			element.style.cursor = at ? "pointer" : "";
			element.title = at ? "" : hint;
			if (at && event.pointerType !== "touch")
				app.detail.show(app.calls.title(at.call), app.calls.facts(at.call), event.clientX, event.clientY);
			else
				app.detail.hide();
		});
		element.addEventListener("pointerleave", () => app.detail.hide());
		element.addEventListener("pointerdown", (event) => { this.pressed = event.clientX; });
		element.addEventListener("click", (event) => {
			const at = Math.abs(event.clientX - this.pressed) < 4 ? this.callAt(event) : undefined;
			if (!at)
				return;
			app.controls.showTab("calls");
			app.calls.chooseOne(at.call.number);
		});
	}

	// Values of spans as those of columns.
	columns(values, columns) {
		const sums = new Float64Array(columns);
		for (let i = 0; i < values.length; i++)
			sums[Math.min(columns - 1, Math.floor(i * columns / values.length))] += values[i];
		return sums;
	}

	axis(context, width, base, ink) {
		const model = this.app.model, seconds = model.spans * model.timeWidth, ticks = Math.max(1, Math.floor(width / 110));
		const step = niceStep(seconds / ticks);
		this.line(context, width, base, ink);
		for (let t = 0; t <= seconds; t += step) {
			const x = t / seconds * width, label = formatSeconds(t, step);
			context.fillRect(x, base, 1, 4);
			if (x + context.measureText(label).width + 6 < width)
				context.fillText(label, x + 4, base + 13);
		}
	}
}

// 1, 2 or 5 times a power of ten, at least `least`.
function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(least));
	return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * 0.999) || least;
}
