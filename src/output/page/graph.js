// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The flame graph on the screen: where it is zoomed to, what is selected, pointer and keys.

const ZOOM_MS = 160;

class Graph {
	// app: what is shown of what (main.js).
	constructor(app) {
		this.app = app;
		this.scroller = document.getElementById("graph");
		this.canvas = document.getElementById("graph-canvas");
		this.spacer = document.getElementById("graph-spacer");
		this.context = this.canvas.getContext("2d", { alpha: false });
		this.labels = new Labels(this.context);
		this.zoomed = 0; // a node of the tree, or of the callers
		this.selected = null;
		this.hovered = null;
		this.window = { x0: 0, x1: 1 };
		this.boxes = [];
		this.drawn = 0;
		this.asked = false;
		this.moving = null;
		this.listen();
	}

	// What is drawn: the tree, or the callers. The root of both is 0.
	get shape() {
		return this.app.callers || this.app.tree;
	}

	// From the root on, which is not in it.
	path(node) {
		const path = [];
		for (let one = node; one; one = this.shape.parent[one])
			path.unshift(one);
		return path;
	}

	// --- what is shown ---

	// The tree is another one, or has other values.
	reset(keep) {
		if (!keep) {
			this.zoomed = 0;
			this.selected = null;
		}
		this.hovered = null;
		this.moving = null;
		this.boxes = []; // theirs are gone, until the next drawing
		this.app.detail.hide();
		if (this.shape.width[this.zoomed] <= 0)
			this.zoomed = 0;
		this.window = this.windowOf(this.zoomed);
		this.measure();
		this.draw();
	}

	windowOf(node) {
		const x0 = this.shape.x[node];
		return { x0, x1: x0 + Math.max(this.shape.width[node], 1e-9) };
	}

	zoom(node) {
		const from = this.window, to = this.windowOf(node), start = performance.now();
		this.zoomed = node;
		const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
		const move = (now) => {
			if (this.moving !== move)
				return;
			const part = still ? 1 : Math.min(1, (now - start) / ZOOM_MS), ease = 1 - (1 - part) ** 3;
			this.window = part === 1 ? to : {
				x0: from.x0 + (to.x0 - from.x0) * ease,
				x1: from.x1 + (to.x1 - from.x1) * ease,
			};
			this.paint();
			if (part < 1)
				requestAnimationFrame(move);
			else
				this.settle();
		};
		this.moving = move;
		move(start);
		this.app.zoomChanged();
	}

	settle() {
		this.moving = null;
		this.measure();
		this.reveal(this.zoomed);
		this.draw();
	}

	// How many levels there are to scroll over.
	measure() {
		const view = { ...this.window, pixels: this.scroller.clientWidth, top: 0, bottom: Infinity };
		this.levels = boxesOf(this.shape, view).reduce((most, box) => Math.max(most, box.depth), this.shape.depth[this.zoomed]) + 1;
		this.spacer.style.height = `${Math.max(this.levels * ROW + 8, this.scroller.clientHeight)}px`;
		if (this.app.state.flame && !this.scrolled)
			this.scroller.scrollTop = this.scroller.scrollHeight;
	}

	height() {
		return Math.max(this.levels * ROW + 8, this.scroller.clientHeight);
	}

	// Where level `depth` begins, in pixels from the top of what is scrolled over.
	levelTop(depth) {
		return this.app.state.flame ? this.height() - 4 - (depth + 1) * ROW : 4 + depth * ROW;
	}

	// Scroll so that a node is in sight.
	reveal(node) {
		const top = this.levelTop(this.shape.depth[node]), seen = this.scroller.scrollTop, room = this.scroller.clientHeight;
		if (top < seen + ROW || top > seen + room - 2 * ROW)
			this.scroller.scrollTop = top - (this.app.state.flame ? room - 4 * ROW : 2 * ROW);
	}

	draw() {
		if (this.asked)
			return;
		this.asked = true;
		requestAnimationFrame(() => {
			this.asked = false;
			this.paint();
		});
	}

	paint() {
		const width = this.scroller.clientWidth, height = this.scroller.clientHeight;
		if (!width || !height)
			return;
		const app = this.app, ink = app.ink, context = fitCanvas(this.canvas, width, height, ink.panel);
		const scroll = this.scroller.scrollTop, total = this.height();
		const first = app.state.flame ? (total - scroll - height) / ROW : scroll / ROW;
		const view = {
			...this.window, pixels: width, top: Math.max(0, Math.floor(first) - 2),
			bottom: Math.ceil(first + height / ROW) + 1,
		};
		this.boxes = boxesOf(this.shape, view);
		const zoomDepth = this.shape.depth[this.zoomed];
		paintBoxes(context, this.labels, this.boxes, {
			ink: app.model.parts ? { ...ink, "box-ink": PART_INK } : ink,
			selected: this.selected,
			hovered: this.hovered,
			top: (box) => this.levelTop(box.depth) - scroll,
			colors: (box) => app.colorsOf(box),
			label: (box) => app.labelOf(box.frame),
			state: (box) => (!box.rest && app.isMatch(box.node) ? "match" :
				app.matched !== null || box.depth < zoomDepth ? "faded" : ""),
		});
		this.drawn++;
	}

	// --- pointer ---

	boxAt(event) {
		const area = this.canvas.getBoundingClientRect(), x = event.clientX - area.left;
		const y = event.clientY - area.top + this.scroller.scrollTop;
		return this.boxes.find((box) => {
			const top = this.levelTop(box.depth);
			return !box.rest && y >= top && y < top + ROW && x >= box.left && x < Math.max(box.right, box.left + 1);
		}) || null;
	}

	hover(box, event) {
		const node = box ? box.node : null;
		if (node !== this.hovered) {
			this.hovered = node;
			this.draw();
		}
		this.scroller.style.cursor = box ? "pointer" : "default";
		if (box && event.pointerType !== "touch")
			this.app.showTip(box, event.clientX, event.clientY);
		else
			this.app.detail.hide();
	}

	select(node) {
		this.selected = node || null;
		this.app.selectionChanged();
		this.draw();
	}

	listen() {
		const s = this.scroller;
		s.addEventListener("scroll", () => {
			this.scrolled = true;
			this.app.detail.hide();
			this.draw();
		}, { passive: true });
		s.addEventListener("pointermove", (event) => this.hover(this.boxAt(event), event));
		s.addEventListener("pointerleave", (event) => this.hover(null, event));
		s.addEventListener("click", (event) => {
			const box = this.boxAt(event);
			if (!box)
				return;
			this.select(box.node);
			this.app.zoom(box.node);
		});
		s.addEventListener("wheel", () => this.app.detail.hide(), { passive: true });
		new ResizeObserver(() => {
			this.measure();
			this.paint();
		}).observe(s);
	}

	// --- keys ---

	// One step away from what is selected. What is not visible is not walked to.
	step(direction) {
		const shape = this.shape, from = this.selected, deeper = this.app.state.flame ? "up" : "down";
		let to = null;
		if (from === null) {
			to = shape.children(this.zoomed).find((child) => shape.width[child] > 0);
		} else if (direction === deeper) {
			to = shape.children(from).reduce((best, child) => (best === null || shape.width[child] > shape.width[best] ? child : best), null);
		} else if (direction === "up" || direction === "down") {
			to = shape.parent[from];
		} else {
			const row = shape.children(shape.parent[from]).filter((child) => shape.width[child] > 0);
			to = row[row.indexOf(from) + (direction === "right" ? 1 : -1)];
		}
		if (!to || shape.width[to] <= 0)
			return;
		this.select(to);
		this.reveal(to);
	}
}
