// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Colours. A package has the same one in each profile: it comes from its name alone.

// Hues by the name of a package, those that are everywhere chosen to differ.
const HUES = {
	base: 212, stats: 168, utils: 190, methods: 232, graphics: 145, grDevices: 130, parallel: 255, compiler: 245,
	".GlobalEnv": 28,
};

function textHash(text) {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	hash ^= hash >>> 15;
	return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}

function packageHue(name) {
	return Object.prototype.hasOwnProperty.call(HUES, name) ? HUES[name] : textHash(name) % 36 * 10 + 3;
}

// How light and how colourful, {fill, text} of a colour in light and dark.
function shade(dark, hue, saturation, change) {
	return dark ? `hsl(${hue} ${saturation * 0.62}% ${37 + change}%)` : `hsl(${hue} ${saturation}% ${80 + change}%)`;
}

// Of parts, in the order of model.parts, then of the others and of those without the label: the colours of Okabe and Ito,
// which people who see few colours can tell apart, light enough for dark text.
const PART_COLORS = ["#56b4e9", "#e69f00", "#f0e442", "#1fb58a", "#cc79a7", "#9a8cff", "#b0b7c0", "#e4e8ec"];
const PART_INK = "#17202b";

class Colors {
	constructor(model) {
		this.model = model;
		this.dark = false;
		this.functions = [];
	}

	setDark(dark) {
		this.dark = dark;
		this.functions = this.model.functions.map((f) => this.ofFunction(f));
	}

	ofGroup(name) {
		switch (name) {
		case "garbage collection": return shade(this.dark, 350, 72, -6);
		case "marks": return shade(this.dark, 220, 6, -2);
		case "native code": return shade(this.dark, 95, 34, -4);
		case "kernel": return shade(this.dark, 280, 22, -4);
		case "builtin": return shade(this.dark, 205, 14, -2);
		case "R functions": return shade(this.dark, 32, 78, -2);
		default: return shade(this.dark, packageHue(name), 62, -1);
		}
	}

	// Functions of one package differ a little, so that neighbours are distinct. If no package is
	// known they have warm colours by their names.
	ofFunction(f) {
		const change = textHash(f.name) % 7 - 3;
		switch (f.group) {
		case "garbage collection":
		case "marks": return this.ofGroup(f.group);
		case "native code": return shade(this.dark, 95, 34, change - 4);
		case "kernel": return shade(this.dark, 280, 22, change - 4);
		case "builtin": return shade(this.dark, 205, 14, change - 2);
		case "R functions": return shade(this.dark, 14 + textHash(f.name) % 36, 78, change);
		default: return shade(this.dark, packageHue(f.pkg), 62, change);
		}
	}

	// Of a difference: red grew, blue shrank; by how much of it all that is.
	ofDelta(share) {
		const much = Math.min(1, Math.sqrt(Math.abs(share) * 6));
		if (Math.abs(share) < 1e-9)
			return this.dark ? "hsl(220 4% 32%)" : "hsl(220 8% 90%)";
		const hue = share > 0 ? 4 : 215;
		return this.dark ? `hsl(${hue} ${20 + 45 * much}% ${33 + 5 * much}%)` :
			`hsl(${hue} ${45 + 40 * much}% ${91 - 24 * much}%)`;
	}
}
