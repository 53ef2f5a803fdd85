// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The table of functions, and the legend of packages.

const TABLE_ROWS = 200; // at most

function make(tag, options, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(options || {}))
		if (name === "text")
			element.textContent = value;
		else if (name === "class")
			element.className = value;
		else if (name === "width" || name === "background")
			element.style[name] = value;
		else if (typeof value === "function")
			element.addEventListener(name, value);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	element.append(...children.filter((child) => child !== null));
	return element;
}

// Have a list offer something, [value, text] each, and do something when one is chosen.
function offer(id, options, choose) {
	byId(id).replaceChildren(...options.map(([value, text]) => make("option", { value, text })));
	byId(id).onchange = (event) => choose(event.target.value);
	byId(id).hidden = options.length < 2;
}

// How wide a bar is that shows a share.
function widthOf(share) {
	return `${Math.min(100, share * 100)}%`;
}

// A row of a table, and what is done when it is clicked or Enter is pressed on it.
function makeRow(marked, action, options, ...cells) {
	return make("tr", {
		class: marked ? "marked" : "", tabindex: "0", "aria-current": marked ? "true" : null, ...options,
		click: action,
		keydown: (event) => {
			if (event.key !== "Enter")
				return;
			event.stopPropagation();
			action();
		},
	}, ...cells);
}

class Table {
	constructor(app) {
		this.app = app;
		this.head = document.getElementById("table-head");
		this.body = document.getElementById("table-body");
		this.more = document.getElementById("table-more");
		this.makeHead();
	}

	makeHead() {
		const model = this.app.model, called = model.unit === "samples" ? "samples" : model.called();
		const what = called.replace(/^./, (c) => c.toUpperCase()), { compare } = this.app.calls, two = compare || model.meta.diff;
		const [after, before, change] = this.app.setNames();
		const titles = {
			self: ["Self", `${what} in the function itself`],
			total: [two ? after : "Total", `${what} in the function and in functions it called${compare ? ", in a selected call" : ""}`],
			before: [before, compare ? "The same in another call" : "The same in the first profile"],
			delta: [change, `${after} minus ${before.toLowerCase()}`],
			name: ["Function", "Function and its package"],
		};
		this.columns = two ? ["delta", "total", "before", "name"] : ["self", "total", "name"];
		if (!this.columns.includes(this.sort))
			[this.sort, this.up] = [this.columns[0], false];
		this.head.replaceChildren(make("tr", {}, ...this.columns.map((column) => make("th", {
			scope: "col", class: `column-${column}`, "data-column": column,
		}, make("button", {
			type: "button", title: titles[column][1], text: titles[column][0], click: () => this.sortBy(column),
		})))));
	}

	sortBy(column) {
		this.up = this.sort === column ? !this.up : column === "name";
		this.sort = column;
		this.show();
	}

	refresh() {
		const app = this.app, sums = app.sums;
		this.rows = [];
		app.model.functions.forEach((f, fn) => {
			const row = { fn, name: f.label, self: sums.self[0][fn], total: sums.total[0][fn], before: 0, delta: 0 };
			if (sums.total.length === 2) {
				row.before = sums.total[1][fn] * app.scaleBefore();
				row.delta = row.total - row.before;
			}
			if (row.total > 0 || row.before > 0)
				this.rows.push(row);
		});
		this.all = app.model.whole[0] || 1;
		this.show();
	}

	order(a, b) {
		const sign = this.up ? 1 : -1;
		if (this.sort === "name")
			return sign * (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
		const change = this.sort === "delta" ? Math.abs(a.delta) - Math.abs(b.delta) : a[this.sort] - b[this.sort];
		return sign * change || b.total - a.total || (a.name < b.name ? -1 : 1);
	}

	show() {
		const app = this.app, rows = this.rows.filter((row) => !app.search || app.matchesFunction(row.fn));
		rows.sort((a, b) => this.order(a, b));
		for (const th of this.head.querySelectorAll("th"))
			th.setAttribute("aria-sort", th.dataset.column !== this.sort ? "none" : this.up ? "ascending" : "descending");
		this.body.replaceChildren(...rows.slice(0, TABLE_ROWS).map((row) => this.row(row)));
		this.more.textContent = rows.length > TABLE_ROWS ? `and ${formatCount(rows.length - TABLE_ROWS)} more: use the search` :
			rows.length || !app.search ? "" : "No function matches.";
	}

	row(row) {
		const app = this.app, f = app.model.functions[row.fn], marked = app.marked && app.marked.fn === row.fn;
		const cells = this.columns.map((column) => {
			if (column === "name")
				return make("td", { class: "column-name" }, this.nameCell(row, f));
			const value = row[column], share = value / this.all;
			return make("td", { class: `number column-${column}`, title: app.valueText(value) },
				make("span", { class: "share", text: this.valueText(column, value, share) }),
				make("i", { class: column === "delta" ? value > 0 ? "bar grew" : "bar shrank" : "bar", width: widthOf(Math.abs(share)) }));
		});
		return makeRow(marked, () => app.mark(marked ? null : { fn: row.fn }),
			{ "data-fn": row.fn, dblclick: () => app.showCallers(row.fn) }, ...cells);
	}

	valueText(column, value, share) {
		if (!this.app.calls.compare)
			return column === "delta" ? formatChange(share) : formatShare(share);
		const text = this.app.callText(Math.abs(value));
		return `${column !== "delta" || !/[1-9]/.test(text) ? "" : value < 0 ? "−" : "+"}${text}`;
	}

	nameCell(row, f) {
		return make("div", { class: "name" }, make("i", { class: "swatch", background: this.app.colors.functions[row.fn] }),
			make("bdi", { class: "code", text: f.label.slice(0, 300), title: this.app.functionTitle(f) }),
			f.pkg ? make("span", { class: "package", text: f.pkg }) : null);
	}
}

// Packages, and what else there is, by what is in them alone.
class Legend {
	constructor(app) {
		this.app = app;
		this.list = document.getElementById("legend");
	}

	refresh() {
		const app = this.app, sums = app.sums, groups = new Map();
		this.showParts();
		app.model.functions.forEach((f, fn) => {
			const all = sums.self.reduce((sum, self) => sum + self[fn], 0) + sums.total.reduce((sum, t) => sum + t[fn], 0);
			if (all > 0)
				groups.set(f.group, (groups.get(f.group) || 0) + sums.self[0][fn]);
		});
		const sum = app.model.whole[0] || 1;
		const rows = Array.from(groups.entries()).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
		this.list.replaceChildren(...rows.map(([name, self]) => {
			const marked = app.marked && app.marked.group === name;
			return make("li", {}, make("button", {
				type: "button", "aria-pressed": marked ? "true" : "false", "data-group": name,
				click: () => app.mark(marked ? null : { group: name }),
			}, make("i", { class: "swatch", background: app.colors.ofGroup(name) }), make("bdi", { class: "grow", text: name }),
			make("span", { class: "share", text: formatShare(self / sum) }), make("i", { class: "bar", width: widthOf(self / sum) })));
		}));
	}

	// What the colours of the graph and of the strip stand for, if that is a label.
	showParts() {
		const app = this.app, { parts } = app.model, list = byId("parts");
		list.hidden = parts === null;
		document.body.classList.toggle("divided", parts !== null);
		list.replaceChildren(...(parts || []).map((part, i) => {
			const chosen = part.label >= 0 && app.state.label === part.label;
			return make("button", {
				type: "button", disabled: part.label < 0, "aria-pressed": chosen ? "true" : "false", title: part.name.slice(0, 300),
				click: () => app.controls.choose("label", chosen ? -1 : part.label),
			}, make("i", { class: "swatch", background: PART_COLORS[part.color] }), make("bdi", { text: part.name.slice(0, 60) }),
			make("span", { class: "share", text: formatShare(app.model.whole[1 + i] / (app.model.whole[0] || 1)) }));
		}));
	}
}
