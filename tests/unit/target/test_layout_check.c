/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layouts checked against chains of contexts made up in memory: those of R, moved, damaged,
 * hostile.
 */

#include "target/layout_check.h"
#include "target/layouts.h"
#include "r_image.h"
#include "tap.h"

#define IN_BC 0x5000u /* R_InBCInterpreter's value */

static struct {
	struct image m; /* first: reads get it */
	int denied;	/* reads fail with this */
	unsigned int reads;
	unsigned int flicker; /* reads until one finds nonsense; 0: never */
	unsigned int brief;   /* pauses until no function is called any more; 0: for ever */
	uint64_t top;	      /* the toplevel context */
} image;

static int read_image(void *arg, uint64_t addr, void *to, size_t len)
{
	image.reads++;
	if (image.denied)
		return image.denied;
	if (image__read(arg, to, len, addr))
		return -EFAULT;
	if (image.flicker && image.reads % image.flicker == 0)
		memset(to, 0x5a, len);
	return 0;
}

static void pause_image(void *arg)
{
	if (image.brief && !--image.brief)
		image__put64(arg, image.m.head_at, image.top);
}

/* An object that contexts lead to. */
static uint64_t object(uint32_t type)
{
	return image__cell(&image.m, type, 0, 0, 0);
}

/*
 * A chain of @depth calls of work() above the toplevel context, as @l lays them out, where data of
 * vectors begins at @data; @srcref is the place of each call.
 */
static void make(const struct xr_layout *l, unsigned int depth, unsigned int data, uint64_t srcref)
{
	struct xr_layout layout = *l;
	struct image *m = &image.m;
	uint64_t at, name;

	layout.vector_data = (uint16_t)data;
	image__free(m);
	memset(&image, 0, sizeof(image));
	image__init(m, &layout, 1 << 16, 1 << 16);
	image.top = image__push(m, 0, m->nil, 0);
	for (unsigned int i = 0; i < depth; i++) {
		name = image__charsxp(m, "work");
		if (data == 48)
			image__put64(m, name + 40, 0xfffffffffffffff0u); /* its true length */
		name = image__cell(m, R_SYMSXP, name, 0, m->nil);
		at = image__push(m, 12 /* CTXT_RETURN */, image__call(m, name, 0, 0), 0);
		image__put64(m, at + l->sysparent - 8, object(R_CLOSXP));
		image__put64(m, at + l->sysparent, object(R_ENVSXP));
		image__put64(m, at + l->cloenv, object(R_ENVSXP));
		image__put64(m, at + l->srcref, srcref);
	}
}

static uint64_t innermost(void)
{
	return image__get64(&image.m, image.m.head_at);
}

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
	struct mem_reader memory = {.read = read_image, .arg = &image.m};

	row = image__row(&image.m);
	row.in_bc = IN_BC;
	row.flags = XR_ROW_LINES;
	row.layout = *asked;
	f.text[0] = '\0';
	return layout_check__run(&row, &memory, pause_image, &found, &f);
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

		make(l, 5, 48, IN_BC);
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
		make(&other, 6, 48, IN_BC);
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
	make(&other, 6, 48, IN_BC);
	tap__ok(!run(newest) && row.layout.sysparent == other.sysparent && !row.layout.srcref &&
			!row.layout.bcbody && row.layout.read_lines <= XR_CONTEXT_MAX &&
			!(row.flags & XR_ROW_LINES),
		"fields moved by %d bytes: without lines %s", found.shift, f.text);
	/* the fields for lines did not move along: names only */
	other = moved(newest, 16);
	other.srcref = 488;
	make(&other, 6, 48, IN_BC);
	tap__ok(!run(newest) && found.shift == 16 && !(row.flags & XR_ROW_LINES),
		"lines are switched off if their field is elsewhere");
}

TEST(data)
{
	for (unsigned int data = 40; data <= 48; data += 8) {
		make(newest, 4, data, 0);
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

	make(newest, 0, 48, 0);
	tap__ok(run(newest) == -EAGAIN && f.text[0] && image.reads < 100,
		"at top level nothing can be checked: %s", f.text);

	make(newest, 4, 48, 0);
	context = innermost();
	for (int i = 0; i < 4; i++, context = image__get64(&image.m, context))
		image__put64(&image.m, context + newest->sysparent - 8, object(R_VECSXP));
	tap__ok(run(newest) == -ENOTSUP && f.text[0],
		"lists where closures must be, no layout fits: %s", f.text);

	/* the four fields in two places of each context */
	make(newest, 4, 48, 0);
	twice = moved(newest, 64);
	context = innermost();
	for (int i = 0; i < 4; i++, context = image__get64(&image.m, context))
		for (int k = -8; k <= 16; k += 8)
			image__put64(
				&image.m, context + twice.sysparent + (uint64_t)k,
				image__get64(&image.m, context + newest->sysparent + (uint64_t)k));
	twice = moved(newest, 32);
	tap__ok(run(&twice) == -ENOTSUP, "two places fit: neither is taken (%s)", f.text);

	for (int wild = 0; wild < 2; wild++) {
		make(newest, 4, 48, 0);
		image__put64(&image.m, wild ? image.m.head_at : innermost(),
			     wild ? 0x12345 : innermost());
		err = run(newest);
		tap__ok(err == -EAGAIN || err == -ENOTSUP, "%s (%s)",
			wild ? "a wild R_GlobalContext" : "a chain that is a circle", f.text);
	}
	make(newest, 4, 48, 0);
	image.denied = -EPERM;
	tap__ok(run(newest) == -EPERM && f.text[0], "memory that may not be read: %s", f.text);
}

/* An R that begins: functions are called in a few of the first looks, and then none. */
TEST(begins)
{
	make(newest, 4, 48, IN_BC);
	image.brief = 2;
	tap__ok(run(newest) == -EAGAIN && strstr(f.text, "too few"),
		"one that just begins is looked at again later: %s", f.text);
}

/* A target that runs: some reads find nonsense. */
TEST(torn)
{
	struct xr_layout wrong = moved(newest, 8);

	make(newest, 6, 48, IN_BC);
	image.flicker = 211;
	tap__ok(!run(newest) && !found.shift,
		"the right layout stands in spite of it (%u looks) %s", found.looks, f.text);
	image.reads = 0;
	tap__ok(run(&wrong) || row.layout.call == newest->call,
		"a wrong one is never taken for right: %s", f.text);
}
