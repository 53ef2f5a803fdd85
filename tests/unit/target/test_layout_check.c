/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layouts checked against chains of contexts made up in memory: those of R, moved, damaged,
 * hostile.
 */

#include "target/layout_check.h"
#include "target/layouts.h"
#include "tap.h"

#define BASE  0x10000u
#define WORDS 16384u

/* The target's memory, and what is where. */
struct image {
	uint64_t words[WORDS];
	size_t used;
	uint64_t head_at;
	int denied; /* reads fail with this */
	unsigned int reads;
	unsigned int flicker; /* reads until the chain is out of order again; 0: never */
	unsigned int brief;   /* pauses until no function is called any more; 0: for ever */
	uint64_t top;	      /* the toplevel context */
};

static int image__read(void *arg, uint64_t addr, void *to, size_t len)
{
	struct image *m = arg;

	m->reads++;
	if (m->denied)
		return m->denied;
	if (addr < BASE || addr - BASE > sizeof(m->words) || len > sizeof(m->words) - (addr - BASE))
		return -EFAULT;
	memcpy(to, (const char *)m->words + (addr - BASE), len);
	if (m->flicker && m->reads % m->flicker == 0)
		memset(to, 0x5a, len);
	return 0;
}

static void image__pause(void *arg)
{
	struct image *m = arg;

	if (m->brief && !--m->brief)
		m->words[(m->head_at - BASE) / 8] = m->top;
}

static uint64_t image__take(struct image *m, size_t words)
{
	uint64_t at = BASE + m->used * 8;

	m->used += words;
	tap__bail_if(m->used > WORDS, "the image is too small");
	return at;
}

static void image__put(struct image *m, uint64_t at, uint64_t value)
{
	m->words[(at - BASE) / 8] = value;
}

/* An object of SEXPTYPE @type. */
static uint64_t object(struct image *m, uint64_t type)
{
	uint64_t at = image__take(m, 7);

	image__put(m, at, type);
	return at;
}

/* A call of a function called "work"; vector data begins at @data. */
static uint64_t call(struct image *m, unsigned int data)
{
	uint64_t lang = object(m, 6), sym = object(m, 1), chars = image__take(m, 10);

	image__put(m, lang + 32, sym);
	image__put(m, sym + 32, chars);
	image__put(m, chars, 9);
	image__put(m, chars + 32, 4);
	image__put(m, chars + data, 0x6b726f77); /* "work" */
	image__put(m, chars + data - 8 * (data == 48),
		   data == 48 ? 0xfffffffffffffff0u : 0x6b726f77);
	return lang;
}

/*
 * A chain of @depth closures above the toplevel context, as @l lays them out, and R_GlobalContext.
 */
static void image__make(struct image *m, const struct xr_layout *l, unsigned int depth,
			unsigned int data, uint64_t in_bc)
{
	uint64_t context, outer;

	memset(m, 0, sizeof(*m));
	m->head_at = image__take(m, 1);
	outer = image__take(m, XR_CONTEXT_MAX / 8);
	for (unsigned int i = 0; i < depth; i++) {
		context = image__take(m, XR_CONTEXT_MAX / 8);
		image__put(m, context, outer);
		image__put(m, context + 8, 12); /* CTXT_RETURN */
		image__put(m, context + l->sysparent - 8, object(m, 3));
		image__put(m, context + l->sysparent, object(m, 4));
		image__put(m, context + l->call, call(m, data));
		image__put(m, context + l->cloenv, object(m, 4));
		image__put(m, context + l->srcref, in_bc);
		outer = context;
	}
	image__put(m, m->head_at, outer);
}

static struct image image;

/* What a check was about, and what it found. */
static struct xr_row row;
static struct layout_found found;
static struct errmsg f;
static const struct xr_layout *newest; /* of R on x86_64 */

BEFORE()
{
	newest = layouts__last(LAYOUTS_X86_64_LINUX);
}

static int run(const struct xr_layout *asked)
{
	struct mem_reader memory = {.read = image__read, .arg = &image};

	row = (struct xr_row){
		.head_at = image.head_at,
		.nil = BASE - 8,
		.in_bc = BASE - 16,
		.flags = XR_ROW_LINES,
		.pid = 1,
		.layout = *asked,
	};
	f.text[0] = '\0';
	return layout_check__run(&row, &memory, image__pause, &found, &f);
}

/* @l moved by @by bytes behind the jump buffer. */
static struct xr_layout moved(const struct xr_layout *l, int by)
{
	struct xr_layout m = *l;

	m.sysparent = (uint16_t)(m.sysparent + by);
	m.call = (uint16_t)(m.call + by);
	m.cloenv = (uint16_t)(m.cloenv + by);
	m.srcref = (uint16_t)(m.srcref + by);
	return m;
}

TEST(fits)
{
	for (int arch = LAYOUTS_X86_64_LINUX; arch <= LAYOUTS_AARCH64_LINUX; arch++) {
		const struct xr_layout *l = layouts__last((enum layouts_arch)arch);

		image__make(&image, l, 5, 48, BASE - 16);
		tap__ok(!run(l) && !found.shift && found.contexts >= 20,
			"arch %d: R's own layout fits (%u contexts)", arch, found.contexts);
		tap__ok(found.lines && (row.flags & XR_ROW_LINES),
			"and so do the fields for lines");
	}
}

TEST(moved)
{
	struct xr_layout other;

	for (int by = -64; by <= 96; by += 32) {
		other = moved(newest, by);
		image__make(&image, &other, 6, 48, BASE - 16);
		tap__ok(!run(newest) && found.shift == by && row.layout.call == other.call &&
				row.layout.cloenv == other.cloenv &&
				row.layout.sysparent == other.sysparent &&
				row.layout.callfun == newest->callfun + by &&
				row.layout.read_plain == other.cloenv + 8,
			"fields moved by %d bytes are found (%d) %s", by, found.shift, f.text);
		tap__ok(row.layout.srcref == other.srcref && found.lines,
			"and with them those for lines");
	}
	/* so far that those for lines are beyond what is read of a context */
	other = moved(newest, XR_CONTEXT_MAX - 24 - newest->sysparent);
	other.srcref = 16; /* in the jump buffer */
	image__make(&image, &other, 6, 48, BASE - 16);
	tap__ok(!run(newest) && row.layout.sysparent == other.sysparent && !row.layout.srcref &&
			!row.layout.bcbody && row.layout.read_lines <= XR_CONTEXT_MAX &&
			!(row.flags & XR_ROW_LINES),
		"fields moved by %d bytes: without lines %s", found.shift, f.text);
	/* the fields for lines did not move along: names only */
	other = moved(newest, 16);
	other.srcref = 488;
	image__make(&image, &other, 6, 48, BASE - 16);
	tap__ok(!run(newest) && found.shift == 16 && !(row.flags & XR_ROW_LINES),
		"lines are switched off if their field is elsewhere");
}

TEST(data)
{
	for (unsigned int data = 40; data <= 48; data += 8) {
		image__make(&image, newest, 4, data, 0);
		tap__ok(!run(newest) && row.layout.vector_data == data &&
				row.layout.has_altrep == (data == 48),
			"vectors with ALTREP or without are known by their names' text");
	}
	tap__ok(!(row.flags & XR_ROW_LINES), "no place of a call was seen: lines are not promised");
}

TEST(refused)
{
	struct xr_layout twice;
	uint64_t context;
	int err;

	image__make(&image, newest, 0, 48, 0);
	tap__ok(run(newest) == -EAGAIN && f.text[0] && image.reads < 100,
		"at top level nothing can be checked: %s", f.text);

	image__make(&image, newest, 4, 48, 0);
	for (size_t i = 0; i < WORDS; i++)
		if (image.words[i] == 3)
			image.words[i] = 19; /* lists where closures must be */
	tap__ok(run(newest) == -ENOTSUP && f.text[0], "no layout fits: %s", f.text);

	/* the four fields in two places of each context */
	image__make(&image, newest, 4, 48, 0);
	twice = moved(newest, 64);
	context = image.words[0];
	for (int i = 0; i < 4; i++, context = image.words[(context - BASE) / 8])
		for (int k = -8; k <= 16; k += 8)
			image__put(&image, context + twice.sysparent + k,
				   image.words[(context - BASE + newest->sysparent + k) / 8]);
	twice = moved(newest, 32);
	tap__ok(run(&twice) == -ENOTSUP, "two places fit: neither is taken (%s)", f.text);

	for (int wild = 0; wild < 2; wild++) {
		image__make(&image, newest, 4, 48, 0);
		image__put(&image, wild ? image.head_at : image.words[0],
			   wild ? 0x12345 : image.words[0]);
		err = run(newest);
		tap__ok(err == -EAGAIN || err == -ENOTSUP, "%s (%s)",
			wild ? "a wild R_GlobalContext" : "a chain that is a circle", f.text);
	}
	image__make(&image, newest, 4, 48, 0);
	image.denied = -EPERM;
	tap__ok(run(newest) == -EPERM && f.text[0], "memory that may not be read: %s", f.text);
}

/* An R that begins: functions are called in a few of the first looks, and then none. */
TEST(begins)
{
	image__make(&image, newest, 4, 48, BASE - 16);
	for (image.top = image.words[(image.head_at - BASE) / 8];
	     image.words[(image.top - BASE) / 8];)
		image.top = image.words[(image.top - BASE) / 8];
	image.brief = 2;
	tap__ok(run(newest) == -EAGAIN && strstr(f.text, "too few"),
		"one that just begins is looked at again later: %s", f.text);
}

/* A target that runs: some reads find nonsense. */
TEST(torn)
{
	struct xr_layout wrong = moved(newest, 8);

	image__make(&image, newest, 6, 48, BASE - 16);
	image.flicker = 211;
	tap__ok(!run(newest) && !found.shift,
		"the right layout stands in spite of it (%u looks) %s", found.looks, f.text);
	image.reads = 0;
	tap__ok(run(&wrong) || row.layout.call == newest->call,
		"a wrong one is never taken for right: %s", f.text);
}
