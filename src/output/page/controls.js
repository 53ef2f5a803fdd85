// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Buttons, search, keys.

function byId(id) {
	return document.getElementById(id);
}

class Controls {
	constructor(app) {
		this.app = app;
		this.tabs = [...app.model.calls.length > 1 ? ["calls"] : [], "functions", "source", "packages"];
		this.keys = byId("keys");
		this.keys.close(); // it may have been open when the page was saved
		byId("lines").hidden = !app.model.hasLines;
		byId("before").hidden = byId("even").hidden = app.model.sets === 1;
		this.makeProcesses();
		this.makeLabels();
		this.makeTypes();
		this.listen();
		this.listenKeys();
	}

	makeProcesses() {
		const model = this.app.model;
		if (model.sets === 2 || model.processes.length < 2)
			return;
		const sum = model.processTotal.reduce((all, value) => all + value, 0) || 1;
		const order = model.processes.map((p, i) => i).sort((a, b) => model.processTotal[b] - model.processTotal[a] || a - b);
		this.processes = [-1, ...order];
		offer("process", [[-1, `All ${model.processes.length} processes`], ...order.map((i) => {
			const p = model.processes[i], where = p.container ? ` in ${p.container.slice(0, 12)}` : "";
			return [i, `${p.pid} ${p.comm}${where}: ${formatShare(model.processTotal[i] / sum)}`];
		})], (value) => this.choose("process", Number(value)));
	}

	// Of each key its values, those with the most first; and the keys that colours can stand for.
	makeLabels() {
		const model = this.app.model, sums = model.labelSums(), keys = Array.from(new Set(model.labels.map(({ key }) => key)));
		offer("color", [["", "Colours: packages"], ...keys.map((key) => [key, `Colours: ${key.slice(0, 100)}`])], (key) => this.choose("color", key));
		offer("label", [[-1, "All labels"]], (label) => this.choose("label", Number(label)));
		byId("label").hidden = !keys.length;
		byId("label").append(...keys.map((key) => {
			const own = model.labels.map((one, label) => label).filter((label) => model.labels[label].key === key);
			const all = own.reduce((sum, label) => sum + sums[label], 0) || 1;
			return make("optgroup", { label: key.slice(0, 100) }, ...own.sort((a, b) => sums[b] - sums[a] || a - b).map((label) =>
				make("option", { value: label, text: `${this.labelText(label)}: ${formatShare(sums[label] / all)}` })));
		}));
	}

	labelText(label) {
		const { key, value } = this.app.model.labels[label];
		return `${key.slice(0, 100)} = ${value === null ? "(none)" : value.slice(0, 100)}`;
	}

	makeTypes() {
		const model = this.app.model;
		offer("type", model.types.map((type) => [type, model.called(type)]), (type) => this.app.chooseType(Number(type)));
	}

	nextType() {
		const model = this.app.model;
		if (model.types.length < 2)
			return;
		this.app.chooseType(model.types[(model.types.indexOf(model.type) + 1) % model.types.length]);
	}

	choose(name, number) {
		this.app.state[name] = number;
		this.app.back = [];
		this.app.refilter(null);
	}

	toggle(name) {
		const app = this.app;
		app.state[name] = !app.state[name];
		if (name === "fold" || name === "recursion" || name === "lines") {
			app.rebuild();
		} else if (name === "before" || name === "even") {
			app.refilter(null);
		} else {
			app.graph.scrolled = false;
			app.graph.scroller.scrollTop = 0;
			app.graph.reset(true);
			app.graph.reveal(app.graph.zoomed);
		}
		this.show();
		writeState(app);
	}

	toggleTheme() {
		const theme = this.app.dark ? "light" : "dark";
		storeTheme(theme);
		this.app.setTheme(theme);
	}

	showTab(name) {
		for (const one of this.tabs) {
			const tab = byId(`tab-${one}`);
			tab.setAttribute("aria-selected", String(one === name));
			tab.tabIndex = one === name ? 0 : -1;
			byId(`panel-${one}`).hidden = one !== name;
		}
		this.app.calls.draw(); // a hidden canvas has no size
	}

	setSearch(text) {
		const app = this.app, input = byId("search");
		if (input.value !== text)
			input.value = text;
		input.removeAttribute("aria-invalid");
		try {
			// who writes no capitals means none
			app.search = text ? new RegExp(text, /\p{Lu}/u.test(text) ? "u" : "iu") : null;
		} catch (error) {
			input.setAttribute("aria-invalid", "true");
			byId("result").textContent = "not a regular expression";
			return false;
		}
		if (app.search)
			app.marked = null;
		return true;
	}

	// --- what is shown of the state ---

	show() {
		const app = this.app, pressed = (id, on) => byId(id).setAttribute("aria-pressed", String(on));
		pressed("view-callees", !app.callers);
		pressed("view-callers", app.callers !== null);
		for (const name of ["flame", "fold", "recursion", "lines", "before", "even"])
			pressed(name, app.state[name]);
		pressed("icicle", !app.state.flame);
		pressed("compare", app.calls.compare);
		byId("process").value = String(app.state.process);
		byId("label").value = String(app.state.label);
		byId("color").value = app.state.color;
		byId("type").value = String(app.model.type);
		this.showTime();
		this.showResult();
	}

	showTime() {
		const app = this.app, strip = app.strip, button = byId("time-clear"), width = app.model.timeWidth;
		button.hidden = strip.from < 0;
		if (strip.from >= 0)
			button.textContent = `${formatSeconds(strip.from * width, width)} – ${formatSeconds(strip.to * width, width)}  ✕`;
		byId("calls-clear").hidden = app.calls.from < 0 && !app.calls.one;
		if (app.calls.from >= 0 || app.calls.one)
			byId("calls-clear").textContent = app.calls.choiceText();
	}

	showResult() {
		const app = this.app, result = byId("result");
		if (!app.share) {
			if (!byId("search").hasAttribute("aria-invalid"))
				result.replaceChildren();
			return;
		}
		const strong = make("strong", { text: formatShare(app.share[0] / (app.model.whole[0] || 1)) });
		const what = app.model.unit === "samples" ? "samples" : app.model.called(), verb = what === "samples" ? "match" : "matches";
		result.replaceChildren(strong, ` of ${what} ${app.search ? verb : "highlighted"}`);
	}

	showCrumbs() {
		const app = this.app, graph = app.graph, path = graph.path(graph.zoomed), shown = path.slice(-6);
		const crumb = (node) => make("button", {
			type: "button", text: app.labelOf(graph.shape.frame[node]).slice(0, 100),
			click: () => {
				graph.select(node);
				app.zoom(node);
			},
		});
		const list = [crumb(0)];
		if (shown.length < path.length)
			list.push(make("span", { class: "muted", text: "› …" }));
		for (const node of shown)
			list.push(make("span", { class: "muted", text: "›" }), crumb(node));
		list.push(make("span", { class: "of", text: app.valueText(graph.shape.total[app.set()][graph.zoomed]) }));
		byId("crumbs").replaceChildren(...list);
	}

	// --- what people do ---

	listen() {
		const app = this.app, on = (id, click) => byId(id).addEventListener("click", click);
		on("view-callees", () => app.showCallers(null));
		on("view-callers", () => app.showCallers(-1));
		for (const name of ["fold", "recursion", "lines", "before", "even"])
			on(name, () => this.toggle(name));
		on("flame", () => app.state.flame || this.toggle("flame"));
		on("icicle", () => app.state.flame && this.toggle("flame"));
		on("theme", () => this.toggleTheme());
		on("help", () => this.keys.showModal());
		on("keys-close", () => this.keys.close());
		on("time-clear", () => app.strip.clear());
		on("compare", () => app.calls.toggleCompare());
		for (const name of this.tabs)
			on(`tab-${name}`, () => this.showTab(name));
		document.querySelector(".tabs").addEventListener("keydown", (event) => {
			const names = this.tabs, step = { ArrowRight: 1, ArrowLeft: names.length - 1 }[event.key];
			const now = names.findIndex((name) => byId(`tab-${name}`) === document.activeElement);
			if (step && now >= 0) {
				event.stopPropagation();
				const name = names[(now + step) % names.length];
				this.showTab(name);
				byId(`tab-${name}`).focus();
			}
		});
		let timer = 0, took = 0;
		byId("search").addEventListener("input", (event) => {
			clearTimeout(timer);
			// where it takes long, who types is waited for
			timer = setTimeout(() => {
				const began = performance.now();
				if (this.setSearch(event.target.value.slice(0, 1000)))
					app.matchChanged();
				took = performance.now() - began;
			}, took > 30 ? 2 * took : 0);
		});
		byId("search").addEventListener("keydown", (event) => {
			if (event.key !== "Escape" && event.key !== "Enter")
				return;
			if (event.key === "Escape") {
				this.setSearch("");
				app.matchChanged();
			}
			byId("graph").focus();
			event.stopPropagation();
		});
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.setTheme(storedTheme()));
		// paper is light
		addEventListener("beforeprint", () => {
			app.setTheme("light");
			app.graph.paint();
		});
		addEventListener("afterprint", () => app.setTheme(storedTheme()));
	}

	nextProcess() {
		if (this.processes)
			this.choose("process", this.processes[(this.processes.indexOf(this.app.state.process) + 1) % this.processes.length]);
	}

	selectedSource() {
		const app = this.app, node = app.graph.selected, place = node === null ? { file: 0 } : app.placeOf(node);
		if (place.file)
			app.showSource(place);
		else
			this.showTab("source");
	}

	selectedCallers() {
		const app = this.app, node = app.graph.selected;
		if (node !== null)
			app.showCallers(app.model.frameFunction[app.graph.shape.frame[node]]);
	}

	listenKeys() {
		const app = this.app, actions = {
			"/": () => {
				byId("search").focus();
				byId("search").select();
			},
			"?": () => this.keys.showModal(),
			i: () => app.showCallers(app.callers ? null : -1),
			c: () => this.selectedCallers(),
			f: () => this.toggle("flame"),
			w: () => this.toggle("fold"),
			r: () => this.toggle("recursion"),
			l: () => app.model.hasLines && this.toggle("lines"),
			s: () => this.selectedSource(),
			p: () => this.nextProcess(),
			v: () => this.nextType(),
			d: () => app.calls.toggleCompare(),
			t: () => this.toggleTheme(),
			Escape: () => app.goBack(),
			Backspace: () => app.goBack(),
			ArrowUp: () => app.graph.step("up"),
			ArrowDown: () => app.graph.step("down"),
			ArrowLeft: () => app.graph.step("left"),
			ArrowRight: () => app.graph.step("right"),
			Enter: () => app.graph.selected !== null && app.zoom(app.graph.selected),
		};
		document.addEventListener("keydown", (event) => {
			const action = Object.prototype.hasOwnProperty.call(actions, event.key) ? actions[event.key] : null;
			const at = event.target, tag = at.tagName;
			const typing = tag === "INPUT" || tag === "SELECT" || this.keys.open;
			// what the focus is on has these keys for itself
			const own = /^(Enter|Arrow)/.test(event.key) && at !== document.body && at.id !== "graph";
			if (!action || typing || own || event.ctrlKey || event.metaKey || event.altKey)
				return;
			event.preventDefault();
			action();
		});
	}
}
