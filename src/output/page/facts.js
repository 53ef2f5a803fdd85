// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The head of the page: what was profiled, how, and remarks about it.

// Processes by pid: one that changed its name is in the profile once for each.
function processList(model) {
	const byPid = new Map();
	model.processes.forEach((p, i) => {
		const key = `${p.before}:${p.pid}`, one = byPid.get(key) || { pid: p.pid, samples: 0, cpu: 0, elapsed: 0 };
		one.samples += model.processTotal[i];
		if (p.elapsed)
			Object.assign(one, { cpu: p.cpu, elapsed: p.elapsed });
		byPid.set(key, one);
	});
	return Array.from(byPid.values());
}

// Did processes mostly wait? A profile of CPU time alone does not show that: report it here.
function verdictText(model) {
	const types = model.meta.types, other = model.meta.clock === "wall" || !types[0].name || types.some((type) => type.name === "off_cpu");
	const list = processList(model).filter((p) => p.elapsed >= 0.5);
	const waited = list.filter((p) => p.cpu < 0.2 * p.elapsed).sort((a, b) => b.elapsed - b.cpu - (a.elapsed - a.cpu));
	if (!waited.length || other || model.meta.diff)
		return "";
	const most = waited[0];
	const sum = `process ${most.pid} used ${most.cpu.toFixed(2)} s of CPU in ${most.elapsed.toFixed(2)} s and waited the rest`;
	return waited.length === 1 ? `${sum[0].toUpperCase()}${sum.slice(1)}; --clock wall shows where.` :
		`${waited.length} of ${list.length} processes mostly waited: ${sum}; --clock wall shows where.`;
}

function durationOf(model) {
	if (model.meta.counts && model.meta.counts.seconds)
		return model.meta.counts.seconds;
	const longest = model.processes.reduce((most, p) => Math.max(most, p.elapsed), 0);
	return longest || (model.spans ? model.spans * model.timeWidth : 0);
}

function rateText(model) {
	const meta = model.meta, list = processList(model);
	if (!meta.freq)
		return "";
	const seconds = list.reduce((sum, p) => sum + (meta.clock === "wall" ? p.elapsed : p.cpu), 0);
	const samples = list.reduce((sum, p) => sum + p.samples, 0), per = meta.clock === "wall" ? "" : " of CPU time";
	if (model.unit !== "samples" || seconds < 0.5 || !samples || meta.diff)
		return `${formatCount(meta.freq)} a second${per} requested`;
	return `${(samples / seconds).toFixed(samples / seconds < 100 ? 1 : 0)} a second${per}, ${formatCount(meta.freq)} requested`;
}

function factList(model) {
	const meta = model.meta, counts = meta.counts || {}, facts = [];
	const add = (name, value, bad) => {
		if (value)
			facts.push([name, value, bad]);
	};
	const versions = Array.from(new Set(model.processes.map((p) => p.r).filter(Boolean))).sort();
	const duration = durationOf(model), pids = new Set(model.processes.map((p) => p.pid));
	const unit = (value) => (model.unit === "ns" ? formatDuration(value / 1e9) : model.unit === "bytes" ? formatBytes(value) :
		formatCount(value));
	const sum = model.whole[0];
	add("R", versions.join(", "));
	add("Host", meta.host);
	if (meta.began)
		add("Began", new Date(meta.began).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }));
	if (meta.diff) {
		add("After", unit(sum));
		add("Before", unit(model.whole[1]));
	} else {
		if (duration)
			add("Duration", formatDuration(duration));
		add(model.unit === "samples" ? "Samples" : model.called().replace(/^./, (c) => c.toUpperCase()), unit(sum) || "0");
	}
	add("Rate", rateText(model));
	if (model.types.length > 1)
		add("Shown", `${model.called()}; also: ${model.types.filter((type) => type !== model.type).map((type) => model.called(type)).join(", ")}`);
	add("Clock", [{ wall: "wall time", cpu: "CPU time" }[meta.clock], meta.event, meta.engine].filter(Boolean).join(", "));
	if (pids.size > 1)
		add("Processes", formatCount(pids.size));
	add("Waiting for work", counts.idle >= 0.01 ? `${formatDuration(counts.idle)}, not shown (--idle)` : "");
	add("Lost", counts.lost ? formatCounted(counts.lost, "sample") : "", true);
	add("Unreadable", counts.unreadable ? formatCounted(counts.unreadable, "sample") : "", counts.unreadable > 0.01 * counts.ticks);
	add("Truncated", counts.truncated ? formatCounted(counts.truncated, "stack") : "");
	add("Skipped", counts.throttled ? formatCounted(counts.throttled, "collection") : "");
	add("Dropped", counts.stacks_dropped ? `${formatCounted(counts.stacks_dropped, "stack")} (--max-memory)` : "", true);
	return facts;
}

function showFacts(model) {
	const meta = model.meta, verdict = verdictText(model);
	const title = meta.command || `${meta.program} profile`;
	document.title = `${meta.diff ? "Difference: " : ""}${title}`.slice(0, 200);
	document.getElementById("command").textContent = title.slice(0, 2000);
	document.getElementById("command").title = `${title.slice(0, 2000)}\n${meta.program} ${meta.version}`;
	document.getElementById("facts").replaceChildren(...factList(model).map(([name, value, bad]) =>
		make("div", { class: bad ? "bad" : "" }, make("dt", { text: name }), make("dd", { text: String(value).slice(0, 500) }))));
	document.getElementById("verdict").hidden = !verdict;
	document.getElementById("verdict").textContent = verdict;
}

// In the place of a picture, where there is nothing to be drawn.
function emptyText(app) {
	const model = app.model, counts = model.meta.counts || {};
	if (app.model.rowSide)
		return ["No samples here", "The selected calls have no samples here."];
	if (app.state.label >= 0)
		return ["No samples here", "No sample of this process and part of the time has this label."];
	if (app.state.process >= 0 || app.strip.from >= 0)
		return ["No samples here", "This process has no samples in this part of the time."];
	if (counts.idle >= 0.01)
		return ["No samples", `It waited for work for ${formatDuration(counts.idle)}. Record with --idle to see it.`];
	if (counts.ticks && counts.no_r_frames === counts.ticks)
		return ["No samples", "No R function was running at any tick."];
	if (counts.unreadable)
		return ["No samples", `The stacks of ${formatCounted(counts.unreadable, "tick")} could not be read.`];
	if (model.meta.clock === "wall")
		return ["No samples", "No R function was running, or the program ended at once."];
	return ["No samples", verdictText(model) ||
		"Only CPU time is sampled: a program that waits or ends at once has no samples. Record longer, or with --clock wall."];
}
