// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What of a tree is visible, as boxes, and how boxes are painted.

const ROW = 19; // px of a level, a line between two included
const NARROW = 0.5; // px: what is narrower is not drawn
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

// Neighbours that are too narrow to be drawn are one box together, so that their place is not empty: {rest: true}.
class Rest {
	constructor(boxes) {
		this.boxes = boxes;
		this.open = []; // by level
	}

	add(depth, left, right) {
		const last = this.open[depth];
		if (last && left - last.right < NARROW && left >= last.left) {
			last.right = Math.max(last.right, right);
			return;
		}
		this.close(depth);
		this.open[depth] = { left, right };
	}

	close(depth) {
		const last = this.open[depth];
		if (last && last.right - last.left >= NARROW)
			this.boxes.push({ node: null, frame: -1, depth, left: last.left, right: last.right, rest: true });
		this.open[depth] = null;
	}

	end() {
		this.open.forEach((last, depth) => this.close(depth));
	}
}

// A window onto a tree or callers: of values from x0 to x1, on view.pixels pixels; levels from top to bottom.
// Boxes are {node, frame, depth, left, right}: left and right in pixels, cut at the window. Callers are before what they call.
function boxesOf(shape, view) {
	const scale = view.pixels / (view.x1 - view.x0), boxes = [], rest = new Rest(boxes), todo = [0];
	while (todo.length) {
		const node = todo.pop(), depth = shape.depth[node];
		const left = (shape.x[node] - view.x0) * scale, right = left + shape.width[node] * scale;
		if (right <= Math.max(0, left) || left >= view.pixels)
			continue;
		if (right - left < NARROW) {
			if (depth >= view.top)
				rest.add(depth, left, right);
			continue;
		}
		if (depth >= view.top)
			boxes.push({ node, frame: shape.frame[node], depth, left: Math.max(0, left), right: Math.min(view.pixels, right) });
		const children = depth < view.bottom ? shape.children(node) : [];
		for (let i = children.length - 1; i >= 0; i--)
			todo.push(children[i]);
	}
	rest.end();
	return boxes;
}

// Text that is as wide as its box.
class Labels {
	constructor(context) {
		this.context = context;
		this.widths = new Map();
	}

	width(text) {
		let width = this.widths.get(text);
		if (width === undefined) {
			if (this.widths.size > 20000)
				this.widths.clear();
			width = this.context.measureText(text).width;
			this.widths.set(text, width);
		}
		return width;
	}

	fit(text, room) {
		if (room < 14)
			return "";
		if (text.length > 400)
			text = text.slice(0, 400);
		const width = this.width(text);
		if (width <= room)
			return text;
		let length = Math.floor(text.length * room / width);
		while (length > 0 && this.width(`${text.slice(0, length)}…`) > room)
			length -= Math.max(1, length >> 4);
		return length > 0 ? `${text.slice(0, length)}…` : "";
	}
}

// Have a canvas cover its element, whatever a pixel of the screen is, and be of one colour. Returns its context, in CSS pixels.
function fitCanvas(canvas, width, height, color) {
	const ratio = window.devicePixelRatio || 1;
	const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	const context = canvas.getContext("2d", { alpha: false });
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.fillStyle = color;
	context.fillRect(0, 0, width, height);
	return context;
}

// The colours that the style sheet has for canvases.
function readInk(element) {
	const style = getComputedStyle(element), ink = {};
	for (const name of ["panel", "ink", "muted", "line", "accent", "match", "match-ink", "box-ink", "faded", "strip"])
		ink[name] = style.getPropertyValue(`--${name}`).trim();
	return ink;
}

// Paint boxes. how: {top(box), colors(box): [color, share] each, state(box): "", "faded" or "match", label(box), selected,
// hovered, ink}.
function paintBoxes(context, labels, boxes, how) {
	context.font = FONT;
	context.textBaseline = "middle";
	for (const box of boxes) {
		const state = how.state(box), top = how.top(box), room = box.right - box.left;
		const width = room > 3 ? room - 1 : Math.max(NARROW, room); // a gap where there is room for one
		const colors = state === "match" ? [[how.ink.match, 1]] : box.rest ? [[how.ink.line, 1]] : how.colors(box);
		context.globalAlpha = state === "faded" ? 0.32 : 1;
		colors.reduce((left, [color, share]) => {
			context.fillStyle = color;
			context.fillRect(left, top, width * share, ROW - 1);
			return left + width * share;
		}, box.left);
		context.globalAlpha = 1;
		if (width > 18 && !box.rest) {
			const label = labels.fit(how.label(box), width - 8);
			if (label) {
				context.fillStyle = state === "match" ? how.ink["match-ink"] :
					state === "faded" ? how.ink.faded : how.ink["box-ink"];
				context.fillText(label, box.left + 4, top + ROW / 2);
			}
		}
	}
	const outline = (box, width, color) => {
		context.strokeStyle = color;
		context.lineWidth = width;
		context.strokeRect(box.left + width / 2, how.top(box) + width / 2,
			Math.max(1, box.right - box.left - 1 - width), ROW - 1 - width);
	};
	for (const box of boxes) {
		if (how.hovered !== null && box.node === how.hovered)
			outline(box, 1, how.ink.ink);
		if (how.selected !== null && box.node === how.selected)
			outline(box, 2, how.ink.accent);
	}
}
