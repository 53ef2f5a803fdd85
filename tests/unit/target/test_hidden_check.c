/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of R's hidden variables, proven and refuted in images of R's memory. */

#include "target/hidden_check.h"
#include "lines_scene.h"

static struct scene s;
static uint64_t body, code, other, unrelated;
static uint64_t variable;  /* what R_BCpc points at */
static unsigned int moves; /* looks in the middle of which R_GlobalContext changes */
static unsigned int reads;

static int scene__read(void *arg, uint64_t addr, void *to, size_t len)
{
	uint64_t head;

	if (moves && ++reads % 5 == 0) {
		moves--;
		head = image__get64(&s.m, image__get64(&s.m, s.row.head_at));
		if (head)
			image__put64(&s.m, s.row.head_at, head);
	}
	return image__read(&s.m, to, len, addr) ? -EFAULT : 0;
}

static int read__gone(void *arg, uint64_t addr, void *to, size_t len)
{
	return -ESRCH;
}

static const struct mem_reader reader = {.read = scene__read};

/* R in the middle of byte code, called from byte code. */
BEFORE()
{
	scene__init(&s, layout_now());
	s.row.flags = XR_ROW_LINES | XR_ROW_GC;
	body = bytecode(&s, 0, 0, 0);
	code = image__get64(&s.m, body + 8 * R_CAR) + s.m.layout.vector_data;
	other = bytecode(&s, 0, 0, 0);
	unrelated = image__string(&s.m, "unrelated");
	innermost_bc(&s, body, 3);
	variable = image__get64(&s.m, s.row.bc_pc_at);
	for (int i = 0; i < 20; i++) {
		push(&s, "f", 0);
		push_bc(&s, "f", other, 0);
	}
}

static void run(struct hidden_check *c, unsigned int times)
{
	hidden_check__run(c, &s.row, &reader, times);
}

static struct hidden_check look(unsigned int times)
{
	struct hidden_check c = {0};

	for (unsigned int i = 0; i < times && hidden_check__open(&c, &s.row); i++)
		tap__bail_if(hidden_check__look(&c, &s.row, &reader), "a look failed");
	return c;
}

static void is(unsigned int times, enum lines_verdict wanted, const char *what)
{
	struct hidden_check c = look(times);

	tap__ok(c.bc == wanted, "%s (%u looks, %u good, %u bad, %u contexts)", what, c.looks,
		c.tally.good, c.tally.bad, c.tally.contexts);
}

/* The same with @value at @at from now on, in enough looks for a verdict. */
static void put_is(uint64_t at, uint64_t value, enum lines_verdict wanted, const char *what)
{
	image__put64(&s.m, at, value);
	is(200, wanted, what);
}

TEST(bytecode)
{
	const uint64_t body_at = s.row.bc_body_at, pc_at = s.row.bc_pc_at;
	const uint64_t head = image__get64(&s.m, s.row.head_at);
	const struct xr_layout *l = &s.m.layout;
	struct hidden_check c;

	is(200, HIDDEN_PROVEN, "the variables follow R's rules");
	is(5, HIDDEN_OPEN, "a few looks do not prove it");
	put_is(s.row.srcref_at, s.m.nil, HIDDEN_OPEN, "no conclusion while no byte code runs");
	image__put64(&s.m, s.row.srcref_at, s.row.in_bc);
	put_is(variable, 0, HIDDEN_OPEN, "nor before the byte code has begun");
	moves = 30;
	image__put64(&s.m, variable, 1);
	c = look(4);
	tap__ok(moves && !c.tally.good && !c.tally.bad, "nor if R moved on during the look");
	moves = 0;
	is(200, HIDDEN_REFUTED, "refuted: a place that cannot be");
	put_is(variable, code + 64, HIDDEN_REFUTED, "refuted: a place behind the code");
	put_is(variable, code - 8, HIDDEN_REFUTED, "refuted: a place before the code");
	put_is(variable, code + 4, HIDDEN_REFUTED, "refuted: a place between two units");
	put_is(variable, code + 56, HIDDEN_PROVEN, "the last place of the code");
	put_is(body_at, other, HIDDEN_REFUTED, "refuted: the place is of other code");
	put_is(body_at, unrelated, HIDDEN_REFUTED, "refuted: the code is not byte code");
	put_is(body_at, 0, HIDDEN_REFUTED, "refuted: there is no code");
	put_is(body_at, 8, HIDDEN_REFUTED, "refuted: the code cannot be read");
	image__put64(&s.m, body_at, body);
	put_is(pc_at, 0, HIDDEN_REFUTED, "refuted: there is no place");
	image__put64(&s.m, pc_at, variable);
	image__put64(&s.m, s.row.head_at, head);
	put_is(head + l->bcbody, unrelated, HIDDEN_REFUTED, "refuted: contexts do not agree");
	put_is(head + l->bcbody, body, HIDDEN_PROVEN, "proven again");
}

TEST(flag)
{
	struct hidden_check c;

	s.row.flags = XR_ROW_GC;
	tap__ok(look(1).gc == HIDDEN_PROVEN, "the flag is 0");
	image__put32(&s.m, s.m.gc_at, 2);
	tap__ok(look(1).gc == HIDDEN_REFUTED, "refuted: the flag is 2");
	image__put32(&s.m, s.m.gc_at, 1);
	c = look(100000);
	tap__ok(c.gc == HIDDEN_OPEN && c.flag == 1, "the flag is 1: a collection may take long");
	image__put32(&s.m, s.m.gc_at, 0);
	run(&c, 1);
	tap__ok(c.gc == HIDDEN_PROVEN, "proven when the collection is over");
	s.row.gc_at = 16;
	tap__ok(look(1).gc == HIDDEN_OPEN, "the flag cannot be read for a moment");
	tap__ok(look(100).gc == HIDDEN_REFUTED, "refuted: it can never be read");
	s.row.gc_at = 0;
	c = look(10);
	tap__ok(!c.looks, "no look if there is no flag");
	s.row.flags = XR_ROW_LINES | XR_ROW_BC;
	c = look(10);
	tap__ok(!c.looks, "nor at variables that are proven");
}

/* The flag is 1 at @n looks, each in another collection. */
static struct hidden_check collections(unsigned int n)
{
	struct hidden_check c = {0};

	for (unsigned int i = 1; i <= n; i++) {
		image__put32(&s.m, s.row.gc_count_at, i);
		run(&c, 50);
	}
	return c;
}

TEST(collections)
{
	struct hidden_check c;

	s.row.flags = XR_ROW_GC;
	s.row.gc_count_at = image__alloc(&s.m, 8);
	image__put32(&s.m, s.m.gc_at, 1);
	image__put32(&s.m, s.row.gc_count_at, 77);
	c = look(100000);
	tap__ok(c.gc == HIDDEN_OPEN && c.in_collection == 1,
		"no conclusion from the time of one collection");
	c = collections(200);
	tap__ok(c.gc == HIDDEN_OPEN, "the flag is 1 in %u collections", c.in_collection);
	c = collections(201);
	tap__ok(c.gc == HIDDEN_REFUTED, "refuted: 1 in %u collections, and never 0",
		c.in_collection);
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

	s.row.flags = XR_ROW_LINES | XR_ROW_BC;
	s.row.gc_count_at = image__alloc(&s.m, 8);
	for (size_t i = 0; i < COUNT(rows); i++) {
		image__put32(&s.m, s.row.gc_count_at, rows[i].value);
		tap__ok(look(rows[i].looks).count == rows[i].verdict, "%s", rows[i].what);
	}
	for (uint32_t count = 3; count >= 2; count--) {
		image__put32(&s.m, s.row.gc_count_at, count);
		hidden_check__look(&c, &s.row, &reader);
	}
	tap__ok(c.count == HIDDEN_REFUTED, "refuted: a number that falls");
	s.row.global_env = image__cell(&s.m, R_ENVSXP, 0, 0, 0);
	image__put32(&s.m, s.row.gc_count_at, 0);
	c = look(1);
	tap__ok(c.count == HIDDEN_OPEN && c.no_collection,
		"0, and R_GlobalEnv has no mark: R never collected");
	image__put32(&s.m, s.row.gc_count_at, 1);
	run(&c, 2);
	tap__ok(c.count == HIDDEN_PROVEN, "proven: it grows from 0");
	image__put32(&s.m, s.row.gc_count_at, 0);
	image__put64(&s.m, s.row.global_env, R_ENVSXP | R_MARK_BIT);
	c = look(1);
	tap__ok(c.count == HIDDEN_REFUTED && !c.no_collection,
		"refuted: 0, and R_GlobalEnv has the mark of a collection");
}

/* With R's counts of memory. */
static void counts__init(void)
{
	s.row.flags = XR_ROW_MEMORY;
	s.row.small_at = image__alloc(&s.m, 8);
	s.row.large_at = image__alloc(&s.m, 8);
	s.row.nodes_at = image__alloc(&s.m, 8);
	s.row.dups_at = image__alloc(&s.m, 8);
	s.row.node_size = 56;
	s.row.gc_count_at = image__alloc(&s.m, 8);
	image__put32(&s.m, s.row.gc_count_at, 3);
}

/* @times looks at these counts, continuing those of @c. */
static void counts__look(struct hidden_check *c, unsigned int times, uint64_t small, uint64_t large,
			 uint64_t nodes)
{
	image__put64(&s.m, s.row.small_at, small);
	image__put64(&s.m, s.row.large_at, large);
	image__put64(&s.m, s.row.nodes_at, nodes);
	run(c, times);
}

TEST(memory_grows)
{
	struct hidden_check c = {0};

	counts__init();
	counts__look(&c, 50, 1000, 70000, 60000);
	tap__ok(c.memory == HIDDEN_OPEN && !c.seen.good,
		"no conclusion from counts that do not change");
	for (uint64_t i = 1; i <= 3; i++)
		counts__look(&c, 3, 1000, 70000, 60000 + i);
	tap__ok(c.memory == HIDDEN_OPEN && c.seen.good == 3, "three times one has grown");
	image__put32(&s.m, s.row.gc_count_at, 4);
	counts__look(&c, 3, 900, 69000, 50000);
	tap__ok(c.memory == HIDDEN_OPEN && c.seen.good == 3 && !c.seen.bad,
		"they may fall in a collection");
	image__put32(&s.m, s.m.gc_at, 1);
	counts__look(&c, 3, 0, 69000, 50000);
	image__put32(&s.m, s.m.gc_at, 0);
	tap__ok(c.memory == HIDDEN_OPEN && c.seen.small == 900, "no conclusion while it runs");
	counts__look(&c, 3, 900, 69001, 50000);
	tap__ok(c.memory == HIDDEN_PROVEN && !c.seen.no_dups, "proven when one has grown again");
	s.row.flags = XR_ROW_COLLECTIONS;
	c = (struct hidden_check){.count = HIDDEN_PROVEN, .gc = HIDDEN_PROVEN};
	tap__ok(hidden_check__open(&c, &s.row), "collections need them");
	s.row.flags = XR_ROW_LINES | XR_ROW_GC;
	s.row.in_bc = 0;
	tap__ok(!hidden_check__open(&c, &s.row), "lines and GC marks do not");
}

TEST(memory_is_none)
{
	struct hidden_check c = {0};
	uint64_t large_at;

	counts__init();
	for (uint64_t i = 0; i < 40; i++)
		counts__look(&c, 1, 1000 + 10 * (i & 1), 70000, 60000);
	tap__ok(c.memory == HIDDEN_OPEN,
		"no conclusion from a count that falls as often as it grows");
	for (uint64_t i = 0; i < 60; i++)
		counts__look(&c, 1, 1000 + 10 * (i & 1), 70000, 60000);
	tap__ok(c.memory == HIDDEN_REFUTED, "refuted later (%u good, %u bad)", c.seen.good,
		c.seen.bad);
	counts__look(&c, 0, 1000, 70000, 1ULL << 43);
	tap__ok(look(100).memory == HIDDEN_REFUTED, "refuted: more nodes than possible");
	counts__look(&c, 0, 1ULL << 45, 70000, 60000);
	tap__ok(look(100).memory == HIDDEN_REFUTED, "refuted: more vectors than possible");
	large_at = s.row.large_at;
	s.row.large_at = 8;
	tap__ok(look(100).memory == HIDDEN_REFUTED, "refuted: it cannot be read");
	c = (struct hidden_check){0};
	s.row.large_at = large_at;
	for (uint64_t i = 0; i < 60; i++)
		counts__look(&c, 1, 1000, 70000, 900 + i);
	tap__ok(c.memory == HIDDEN_OPEN && !c.seen.good, "no conclusion while R starts");
	s.row.dups_at = 8;
	for (uint64_t i = 0; i < 6; i++)
		counts__look(&c, 1, 1000, 70000, 60000 + i);
	tap__ok(c.memory == HIDDEN_PROVEN && c.seen.no_dups,
		"proven without duplications, which cannot be read");
	s.row.small_at = 0;
	tap__ok(!look(100).looks, "no look if one of the three is missing");
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

	tap__ok(hidden_check__look(&c, &s.row, &m) == -ESRCH, "the process is gone");
	s.row.flags = XR_ROW_LINES;
	tap__ok(hidden_check__look(&c, &s.row, &m) == -ESRCH, "the process is gone, no flag asked");
}
