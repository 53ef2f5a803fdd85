// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Numbers as people read them, and the state of the page in its address, so that a view can be kept and sent.

function formatCount(value) {
	return Math.round(value).toLocaleString("en-US");
}

// "1 call", "2 calls"
function formatCounted(value, noun) {
	return `${formatCount(value)} ${noun}${Math.round(value) === 1 ? "" : "s"}`;
}

function formatShare(share) {
	if (!share)
		return "0 %";
	const percent = share * 100;
	return percent >= 99.95 ? "100 %" : percent < 0.1 ? "<0.1 %" : `${percent.toFixed(1)} %`;
}

function formatChange(share) {
	const percent = share * 100;
	if (Math.abs(percent) < 0.05)
		return percent ? `${percent > 0 ? "+" : "−"}<0.1 %` : "0 %";
	return `${percent > 0 ? "+" : "−"}${Math.abs(percent).toFixed(1)} %`;
}

// Seconds, as exact as steps of `step` need it.
function formatSeconds(seconds, step) {
	const digits = Math.min(3, Math.max(0, Math.ceil(-Math.log10(step || 1) - 1e-9)));
	if (seconds < 60)
		return `${seconds.toFixed(digits)} s`;
	const minutes = Math.floor(seconds / 60), rest = seconds - 60 * minutes;
	if (minutes < 60)
		return rest < 10 ? `${minutes}:0${rest.toFixed(digits)}` : `${minutes}:${rest.toFixed(digits)}`;
	return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`;
}

function formatDuration(seconds) {
	return seconds < 0.01 ? `${(seconds * 1000).toFixed(1)} ms` : seconds < 1 ? `${Math.round(seconds * 1000)} ms` :
		seconds < 60 ? `${seconds.toFixed(2)} s` : `${formatSeconds(seconds, 1)}${seconds < 3600 ? " min" : ""}`;
}

function formatBytes(bytes) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let unit = 0;
	for (; bytes >= 1024 && unit < units.length - 1; unit++)
		bytes /= 1024;
	return `${unit ? bytes.toFixed(1) : bytes} ${units[unit]}`;
}

const SWITCHES = ["flame", "fold", "recursion", "lines", "before", "even"];

// In the address: what differs from how the page opens.
function writeState(app) {
	const s = app.state, parts = new URLSearchParams();
	for (const name of SWITCHES)
		if (s[name])
			parts.set(name, "1");
	if (app.callers)
		parts.set("callers", String(app.callers.focus));
	for (const name of ["process", "label"])
		if (s[name] >= 0)
			parts.set(name, String(s[name]));
	if (s.color)
		parts.set("color", s.color);
	if (app.model.type !== app.model.types[0])
		parts.set("type", app.model.meta.types[app.model.type].name);
	if (app.strip.from >= 0)
		parts.set("time", `${app.strip.from}-${app.strip.to}`);
	app.calls.write(parts);
	if (app.search)
		parts.set("search", app.search.source);
	if (app.marked)
		parts.set("mark", app.marked.group !== undefined ? `g.${app.marked.group}` :
			app.marked.fn !== undefined ? `f.${app.marked.fn}` : `l.${app.marked.file}.${app.marked.line}`);
	const path = app.graph.path(app.graph.zoomed);
	if (path.length && path.length <= 400)
		parts.set("zoom", path.map((node) => app.graph.shape.frame[node]).join("."));
	const hash = parts.toString();
	if (location.hash.slice(1) === hash)
		return;
	try {
		history.replaceState(null, "", `${location.href.split("#")[0]}${hash ? `#${hash}` : ""}`);
	} catch (error) {
		// if the page has no usable address
	}
}

// A number from least on, up to most; else none.
function whole(text, least, most, none = null) {
	const number = /^-?\d+$/.test(text || "") ? Number(text) : NaN;
	return number >= least && number <= most ? number : none;
}

// "2-5": some of as many things as there are, from one on up to another; else null.
function range(text, most) {
	const ends = (/^(\d+)-(\d+)$/.exec(text || "") || []).slice(1).map(Number);
	return ends[0] < ends[1] && ends[1] <= most ? ends : null;
}

// Whatever the address holds that cannot be is not there. state: as an App has it.
function readState(model) {
	const parts = new URLSearchParams(location.hash.slice(1)), color = parts.get("color");
	const state = {
		process: whole(parts.get("process"), 0, model.processes.length - 1, -1),
		label: whole(parts.get("label"), 0, model.labels.length - 1, -1),
		color: model.labels.some(({ key }) => key === color) ? color : "",
	};
	for (const name of SWITCHES)
		state[name] = parts.get(name) === "1" && (name !== "lines" || model.hasLines);
	const wanted = {
		state, type: model.types.find((one) => model.meta.types[one].name === parts.get("type")),
		callers: whole(parts.get("callers"), -1, model.functions.length - 1), time: range(parts.get("time"), model.spans),
		search: (parts.get("search") || "").slice(0, 1000), mark: null, zoom: [],
	};
	const mark = /^([gfl])\.(.*)$/.exec(parts.get("mark") || "");
	if (mark && mark[1] === "g")
		wanted.mark = { group: mark[2] };
	else if (mark && mark[1] === "f" && whole(mark[2], 0, model.functions.length - 1) !== null)
		wanted.mark = { fn: Number(mark[2]) };
	else if (mark && /^\d+\.\d+$/.test(mark[2]))
		wanted.mark = { file: Number(mark[2].split(".")[0]), line: Number(mark[2].split(".")[1]) };
	if (/^[\d.]+$/.test(parts.get("zoom") || ""))
		wanted.zoom = parts.get("zoom").split(".").map(Number);
	return wanted;
}
