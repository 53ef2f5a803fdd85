/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of R's hidden variables, proven and refuted in images of R's memory. */

#include "target/layouts.h"
#include "target/hidden_check.h"
#include "r_image.h"
#include "tap.h"

struct scene {
	struct image m;
	struct xr_row row;
	uint64_t code, body, other, unrelated;
	uint64_t variable;  /* what R_BCpc points at */
	unsigned int moves; /* looks in the middle of which R_GlobalContext changes */
	unsigned int reads;
};

static int scene__read(void *arg, uint64_t addr, void *to, size_t len)
{
	struct scene *s = arg;
	uint64_t head;

	if (s->moves && ++s->reads % 5 == 0) {
		s->moves--;
		head = image__get64(&s->m, s->row.head_at);
		head = image__get64(&s->m, head);
		if (head)
			image__put64(&s->m, s->row.head_at, head);
	}
	return image__read(&s->m, to, len, addr) ? -EFAULT : 0;
}

static int read__gone(void *arg, uint64_t addr, void *to, size_t len)
{
	return -ESRCH;
}

static uint64_t bytecode(struct scene *s, uint64_t *code)
{
	static const int32_t units[32];
	uint64_t none = 0;

	*code = image__vector(&s->m, R_INTSXP, 32, units, sizeof(units));
	return image__cell(&s->m, R_BCODESXP, *code, image__vector(&s->m, R_VECSXP, 1, &none, 8),
			   s->m.nil);
}

/* R in the middle of byte code, called from byte code. */
static void scene__init(struct scene *s, const struct xr_layout *layout)
{
	uint64_t code, call, at;

	memset(s, 0, sizeof(*s));
	image__init(&s->m, layout, 1 << 17, 1 << 17);
	s->row = image__row(&s->m);
	s->row.in_bc = image__cell(&s->m, 0, 0, 0, 0);
	s->row.srcref_at = image__alloc(&s->m, 8);
	s->row.bc_body_at = image__alloc(&s->m, 8);
	s->row.bc_pc_at = image__alloc(&s->m, 8);
	s->row.flags = XR_ROW_LINES | XR_ROW_GC;
	s->body = bytecode(s, &s->code);
	s->other = bytecode(s, &code);
	s->unrelated = image__string(&s->m, "unrelated");
	s->variable = image__alloc(&s->m, 8);
	image__put64(&s->m, s->row.srcref_at, s->row.in_bc);
	image__put64(&s->m, s->row.bc_body_at, s->body);
	image__put64(&s->m, s->row.bc_pc_at, s->variable);
	image__put64(&s->m, s->variable, s->code + layout->vector_data + 8 * 3);
	image__push(&s->m, 0, s->m.nil, 0);
	call = image__call(&s->m, image__symbol(&s->m, "f"), 0, 0);
	for (int i = 0; i < 40; i++) {
		at = image__push(&s->m, R_CTXT_FUNCTION, call, 0);
		image__put64(&s->m, at + layout->srcref, i & 1 ? s->row.in_bc : 0);
		image__put64(&s->m, at + layout->bcbody, i & 1 ? s->other : 0);
	}
}

static struct hidden_check look(struct scene *s, unsigned int times)
{
	struct mem_reader m = {.read = scene__read, .arg = s};
	struct hidden_check c = {0};

	for (unsigned int i = 0; i < times && hidden_check__open(&c, &s->row); i++)
		tap__bail_if(hidden_check__look(&c, &s->row, &m), "a look failed");
	return c;
}

static void run(struct scene *s, struct hidden_check *c, unsigned int times)
{
	struct mem_reader m = {.read = scene__read, .arg = s};

	hidden_check__run(c, &s->row, &m, times);
}

static void is(struct scene *s, unsigned int times, enum lines_verdict wanted, const char *what)
{
	struct hidden_check c = look(s, times);

	tap__ok(c.bc == wanted, "%s (%u looks, %u good, %u bad, %u contexts)", what, c.looks,
		c.tally.good, c.tally.bad, c.tally.contexts);
}

/* The same with @value at @at from now on, in enough looks for a verdict. */
static void put_is(struct scene *s, uint64_t at, uint64_t value, enum lines_verdict wanted,
		   const char *what)
{
	image__put64(&s->m, at, value);
	is(s, 200, wanted, what);
}

TEST(bytecode)
{
	const struct xr_layout *l = layouts__last(LAYOUTS_X86_64_LINUX);
	uint64_t head, code, body_at, pc_at;
	struct scene s;

	scene__init(&s, l);
	body_at = s.row.bc_body_at;
	pc_at = s.row.bc_pc_at;
	is(&s, 200, HIDDEN_PROVEN, "the variables follow R's rules");
	is(&s, 5, HIDDEN_OPEN, "a few looks do not prove it");
	put_is(&s, s.row.srcref_at, s.m.nil, HIDDEN_OPEN, "no conclusion while no byte code runs");
	image__put64(&s.m, s.row.srcref_at, s.row.in_bc);
	put_is(&s, s.variable, 0, HIDDEN_OPEN, "nor before the byte code has begun");
	s.moves = 30;
	image__put64(&s.m, s.variable, 1);
	is(&s, 6, HIDDEN_OPEN, "nor if R moved on during the look");
	s.moves = 0;
	is(&s, 200, HIDDEN_REFUTED, "refuted: a place that cannot be");
	code = s.code + l->vector_data;
	put_is(&s, s.variable, code + 128, HIDDEN_REFUTED, "refuted: a place behind the code");
	put_is(&s, s.variable, code - 8, HIDDEN_REFUTED, "refuted: a place before the code");
	put_is(&s, s.variable, code + 4, HIDDEN_REFUTED, "refuted: a place between two units");
	put_is(&s, s.variable, code + 120, HIDDEN_PROVEN, "the last place of the code");
	put_is(&s, body_at, s.other, HIDDEN_REFUTED, "refuted: the place is of other code");
	put_is(&s, body_at, s.unrelated, HIDDEN_REFUTED, "refuted: the code is not byte code");
	put_is(&s, body_at, 0, HIDDEN_REFUTED, "refuted: there is no code");
	put_is(&s, body_at, 8, HIDDEN_REFUTED, "refuted: the code cannot be read");
	image__put64(&s.m, body_at, s.body);
	put_is(&s, pc_at, 0, HIDDEN_REFUTED, "refuted: there is no place");
	image__put64(&s.m, pc_at, s.variable);
	head = image__get64(&s.m, s.row.head_at);
	image__put64(&s.m, head + l->srcref, s.row.in_bc);
	put_is(&s, head + l->bcbody, s.unrelated, HIDDEN_REFUTED, "refuted: contexts do not agree");
	put_is(&s, head + l->bcbody, s.body, HIDDEN_PROVEN, "proven again");
	image__free(&s.m);
}

TEST(flag)
{
	struct hidden_check c;
	struct scene s;

	scene__init(&s, layouts__last(LAYOUTS_X86_64_LINUX));
	s.row.flags = XR_ROW_GC;
	tap__ok(look(&s, 1).gc == HIDDEN_PROVEN, "the flag is 0");
	image__put32(&s.m, s.m.gc_at, 2);
	tap__ok(look(&s, 1).gc == HIDDEN_REFUTED, "refuted: the flag is 2");
	image__put32(&s.m, s.m.gc_at, 1);
	c = look(&s, 100000);
	tap__ok(c.gc == HIDDEN_OPEN && c.flag == 1, "the flag is 1: a collection may take long");
	image__put32(&s.m, s.m.gc_at, 0);
	run(&s, &c, 1);
	tap__ok(c.gc == HIDDEN_PROVEN, "proven when the collection is over");
	s.row.gc_at = 16;
	tap__ok(look(&s, 1).gc == HIDDEN_OPEN, "the flag cannot be read for a moment");
	tap__ok(look(&s, 100).gc == HIDDEN_REFUTED, "refuted: it can never be read");
	s.row.gc_at = 0;
	c = look(&s, 10);
	tap__ok(!c.looks, "no look if there is no flag");
	s.row.flags = XR_ROW_LINES | XR_ROW_BC;
	c = look(&s, 10);
	tap__ok(!c.looks, "nor at variables that are proven");
	image__free(&s.m);
}

/* The flag is 1 at @n looks, each in another collection. */
static struct hidden_check collections(struct scene *s, unsigned int n)
{
	struct hidden_check c = {0};

	for (unsigned int i = 1; i <= n; i++) {
		image__put32(&s->m, s->row.gc_count_at, i);
		run(s, &c, 50);
	}
	return c;
}

TEST(collections)
{
	struct hidden_check c;
	struct scene s;

	scene__init(&s, layouts__last(LAYOUTS_X86_64_LINUX));
	s.row.flags = XR_ROW_GC;
	s.row.gc_count_at = image__alloc(&s.m, 8);
	image__put32(&s.m, s.m.gc_at, 1);
	image__put32(&s.m, s.row.gc_count_at, 77);
	c = look(&s, 100000);
	tap__ok(c.gc == HIDDEN_OPEN && c.in_collection == 1,
		"no conclusion from the time of one collection");
	c = collections(&s, 200);
	tap__ok(c.gc == HIDDEN_OPEN, "the flag is 1 in %u collections", c.in_collection);
	c = collections(&s, 201);
	tap__ok(c.gc == HIDDEN_REFUTED, "refuted: 1 in %u collections, and never 0",
		c.in_collection);
	image__free(&s.m);
}

TEST(count)
{
	static const struct {
		uint32_t value;
		unsigned int looks;
		enum lines_verdict verdict;
		const char *what;
	} rows[] = {
		{0, 100, HIDDEN_OPEN, "no conclusion if R never collected"},
		{3, 1, HIDDEN_OPEN, "a number of collections"},
		{3, 2, HIDDEN_PROVEN, "proven: it stays or grows"},
		{(uint32_t)-3, 2, HIDDEN_REFUTED, "refuted: a number below 0"},
		{0x7fffffff, 2, HIDDEN_REFUTED, "refuted: more than possible"},
	};
	struct hidden_check c = {0};
	struct mem_reader m;
	struct scene s;

	scene__init(&s, layouts__last(LAYOUTS_X86_64_LINUX));
	s.row.flags = XR_ROW_LINES | XR_ROW_BC;
	s.row.gc_count_at = image__alloc(&s.m, 8);
	for (size_t i = 0; i < COUNT(rows); i++) {
		image__put32(&s.m, s.row.gc_count_at, rows[i].value);
		tap__ok(look(&s, rows[i].looks).count == rows[i].verdict, "%s", rows[i].what);
	}
	m = (struct mem_reader){.read = scene__read, .arg = &s};
	for (uint32_t count = 3; count >= 2; count--) {
		image__put32(&s.m, s.row.gc_count_at, count);
		hidden_check__look(&c, &s.row, &m);
	}
	tap__ok(c.count == HIDDEN_REFUTED, "refuted: a number that falls");
	s.row.global_env = image__cell(&s.m, R_ENVSXP, 0, 0, 0);
	image__put32(&s.m, s.row.gc_count_at, 0);
	c = look(&s, 1);
	tap__ok(c.count == HIDDEN_OPEN && c.no_collection,
		"0, and R_GlobalEnv has no mark: R never collected");
	image__put32(&s.m, s.row.gc_count_at, 1);
	run(&s, &c, 2);
	tap__ok(c.count == HIDDEN_PROVEN, "proven: it grows from 0");
	image__put32(&s.m, s.row.gc_count_at, 0);
	image__put64(&s.m, s.row.global_env, R_ENVSXP | R_MARK_BIT);
	c = look(&s, 1);
	tap__ok(c.count == HIDDEN_REFUTED && !c.no_collection,
		"refuted: 0, and R_GlobalEnv has the mark of a collection");
	image__free(&s.m);
}

/* With R's counts of memory. */
static void counts__init(struct scene *s)
{
	scene__init(s, layouts__last(LAYOUTS_X86_64_LINUX));
	s->row.flags = XR_ROW_MEMORY;
	s->row.small_at = image__alloc(&s->m, 8);
	s->row.large_at = image__alloc(&s->m, 8);
	s->row.nodes_at = image__alloc(&s->m, 8);
	s->row.dups_at = image__alloc(&s->m, 8);
	s->row.node_size = 56;
	s->row.gc_count_at = image__alloc(&s->m, 8);
	image__put32(&s->m, s->row.gc_count_at, 3);
}

/* @times looks at these counts, continuing those of @c. */
static void counts__look(struct scene *s, struct hidden_check *c, unsigned int times,
			 uint64_t small, uint64_t large, uint64_t nodes)
{
	image__put64(&s->m, s->row.small_at, small);
	image__put64(&s->m, s->row.large_at, large);
	image__put64(&s->m, s->row.nodes_at, nodes);
	run(s, c, times);
}

TEST(memory_grows)
{
	struct hidden_check c = {0};
	struct scene s;

	counts__init(&s);
	counts__look(&s, &c, 50, 1000, 70000, 60000);
	tap__ok(c.memory == HIDDEN_OPEN && !c.seen.good,
		"no conclusion from counts that do not change");
	for (uint64_t i = 1; i <= 3; i++)
		counts__look(&s, &c, 3, 1000, 70000, 60000 + i);
	tap__ok(c.memory == HIDDEN_OPEN && c.seen.good == 3, "three times one has grown");
	image__put32(&s.m, s.row.gc_count_at, 4);
	counts__look(&s, &c, 3, 900, 69000, 50000);
	tap__ok(c.memory == HIDDEN_OPEN && c.seen.good == 3 && !c.seen.bad,
		"they may fall in a collection");
	image__put32(&s.m, s.m.gc_at, 1);
	counts__look(&s, &c, 3, 0, 69000, 50000);
	image__put32(&s.m, s.m.gc_at, 0);
	tap__ok(c.memory == HIDDEN_OPEN && c.seen.small == 900, "no conclusion while it runs");
	counts__look(&s, &c, 3, 900, 69001, 50000);
	tap__ok(c.memory == HIDDEN_PROVEN && !c.seen.no_dups, "proven when one has grown again");
	s.row.flags = XR_ROW_COLLECTIONS;
	c = (struct hidden_check){.count = HIDDEN_PROVEN, .gc = HIDDEN_PROVEN};
	tap__ok(hidden_check__open(&c, &s.row), "collections need them");
	s.row.flags = XR_ROW_LINES | XR_ROW_GC;
	s.row.in_bc = 0;
	tap__ok(!hidden_check__open(&c, &s.row), "lines and GC marks do not");
	image__free(&s.m);
}

TEST(memory_is_none)
{
	struct hidden_check c = {0};
	struct scene s;
	uint64_t large_at;

	counts__init(&s);
	for (uint64_t i = 0; i < 40; i++)
		counts__look(&s, &c, 1, 1000 + 10 * (i & 1), 70000, 60000);
	tap__ok(c.memory == HIDDEN_OPEN,
		"no conclusion from a count that falls as often as it grows");
	for (uint64_t i = 0; i < 60; i++)
		counts__look(&s, &c, 1, 1000 + 10 * (i & 1), 70000, 60000);
	tap__ok(c.memory == HIDDEN_REFUTED, "refuted later (%u good, %u bad)", c.seen.good,
		c.seen.bad);
	counts__look(&s, &c, 0, 1000, 70000, 1ULL << 43);
	tap__ok(look(&s, 100).memory == HIDDEN_REFUTED, "refuted: more nodes than possible");
	counts__look(&s, &c, 0, 1ULL << 45, 70000, 60000);
	tap__ok(look(&s, 100).memory == HIDDEN_REFUTED, "refuted: more vectors than possible");
	large_at = s.row.large_at;
	s.row.large_at = 8;
	tap__ok(look(&s, 100).memory == HIDDEN_REFUTED, "refuted: it cannot be read");
	c = (struct hidden_check){0};
	s.row.large_at = large_at;
	for (uint64_t i = 0; i < 60; i++)
		counts__look(&s, &c, 1, 1000, 70000, 900 + i);
	tap__ok(c.memory == HIDDEN_OPEN && !c.seen.good, "no conclusion while R starts");
	s.row.dups_at = 8;
	for (uint64_t i = 0; i < 6; i++)
		counts__look(&s, &c, 1, 1000, 70000, 60000 + i);
	tap__ok(c.memory == HIDDEN_PROVEN && c.seen.no_dups,
		"proven without duplications, which cannot be read");
	s.row.small_at = 0;
	tap__ok(!look(&s, 100).looks, "no look if one of the three is missing");
	image__free(&s.m);
}

TEST(tally)
{
	const struct {
		struct hidden_tally tally;
		enum lines_verdict verdict;
	} cases[] = {
		{{9, 0, 0}, HIDDEN_OPEN},	{{10, 2, 0}, HIDDEN_PROVEN},
		{{10, 3, 0}, HIDDEN_OPEN},	{{100, 26, 0}, HIDDEN_OPEN},
		{{100, 30, 0}, HIDDEN_REFUTED}, {{1000, 30, 0}, HIDDEN_PROVEN},
		{{0, 29, 0}, HIDDEN_OPEN},	{{0, 30, 0}, HIDDEN_REFUTED},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		tap__ok(hidden_check__judge(&cases[i].tally) == cases[i].verdict,
			"%u good and %u bad looks", cases[i].tally.good, cases[i].tally.bad);
}

TEST(gone)
{
	struct mem_reader m = {.read = read__gone};
	struct hidden_check c = {0};
	struct scene s;

	scene__init(&s, layouts__last(LAYOUTS_X86_64_LINUX));
	tap__ok(hidden_check__look(&c, &s.row, &m) == -ESRCH, "the process is gone");
	s.row.flags = XR_ROW_LINES;
	tap__ok(hidden_check__look(&c, &s.row, &m) == -ESRCH, "the process is gone, no flag asked");
	image__free(&s.m);
}
