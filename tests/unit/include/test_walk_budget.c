/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a walk may cost, over images of R's memory: what is cut, where, and how often the time is
 * looked at; and that what was looked for in vain is not looked for again.  What samples of a
 * process may cost, by those before.
 */
#include "lines_scene.h"

#include "sample_budget.h"

#define DEPTH  30 /* two slots each */
#define NAMING 16 /* reads of an ordinary call and its place, at most */

static struct scene s;

static void start(void)
{
	scene__free(&s);
	scene__init(&s, layout_now());
}

/* A walk of a process that stands still, and its reads and looks at the time from now on. */
static struct recorded_walk *begin(void)
{
	struct recorded_walk *r = run__new(&s);

	r->walk.steady = 1;
	s.m.reads = 0;
	return r;
}

/* A stack with places, of @depth: each call, symbol, srcref and srcfile is another. */
static void ordinary(int depth)
{
	char name[16];

	start();
	for (int i = 0; i < depth; i++) {
		uint64_t text, file;

		snprintf(name, sizeof(name), "f%d.R", i);
		text = image__string(&s.m, name);
		file = i % 2 ? srcfile__list(&s, text) : srcfile__hashed(&s, text, 29);
		snprintf(name, sizeof(name), "f%d", i);
		push(&s, name, srcref(&s, file, 100 + i));
	}
}

TEST(cut)
{
	const char *part;
	char whole[1024];
	uint64_t all, most = 0, wrong = 0, beyond = 0, last = 0, shrunk = 0;
	struct recorded_walk *r;

	ordinary(DEPTH);
	r = begin();
	recorded_walk__again(r);
	all = r->walk.budget.work;
	snprintf(whole, sizeof(whole), "%s", run__line(r));
	tap__ok(r->nslots == 2 * DEPTH && !r->walk.budget.over && !r->asked,
		"without limits: %d frames in %d reads, and no look at the time",
		(int)r->nslots / 2, (int)all);
	run__free(r);

	for (uint32_t max = 1; max <= all + WALK_LOOK; max++) {
		const uint32_t look = max > WALK_LOOK_FIRST ? max + WALK_LOOK : WALK_LOOK_FIRST;
		const struct walk_budget *budget;
		int result;

		r = begin();
		r->walk.budget.work_max = max;
		budget = &r->walk.budget;
		result = recorded_walk__again(r);
		part = run__line(r);
		wrong += result != (budget->over ? WALK_CUT : WALK_DONE) || r->nslots % 2 ||
			 strncmp(whole, part, strlen(part));
		beyond += budget->over && budget->work > look + NAMING;
		shrunk += r->nslots < last;
		last = r->nslots;
		if (budget->over)
			most = max;
		run__free(r);
	}
	tap__ok(!wrong, "with any limit of work: the inner frames, each whole");
	tap__ok(!beyond, "and no more work than that and what lies between two looks");
	tap__ok(!shrunk && most + WALK_LOOK + NAMING >= all && last == 2 * DEPTH,
		"a higher limit does not give less, and one above what is needed gives all");
}

/* A walk whose clock begins at @now and goes on by @pace at each look; @r is the caller's. */
static int timed(struct recorded_walk *r, uint64_t now, uint64_t pace, uint64_t deadline)
{
	r->now = now;
	r->pace = pace;
	r->walk.budget.deadline = deadline;
	return recorded_walk__again(r);
}

TEST(time)
{
	struct recorded_walk *r;
	uint64_t all;

	ordinary(DEPTH);
	r = begin();
	tap__ok(timed(r, 0, 1000, 1000000) == WALK_DONE && !r->walk.budget.over, "there is time");
	all = r->walk.budget.work;
	tap__ok(r->asked && r->asked <= 1 + (all - WALK_LOOK_FIRST) / WALK_LOOK,
		"the time is looked at %d times in %d reads", (int)r->asked, (int)all);
	run__free(r);
	r = begin();
	tap__ok(timed(r, 999, 1, 1001) == WALK_CUT && r->walk.budget.over && r->asked == 2,
		"the second look finds that there is none");
	tap__ok(r->walk.budget.work <= WALK_LOOK_FIRST + WALK_LOOK + NAMING && r->nslots > 0,
		"and no more is read (%d)", (int)r->walk.budget.work);
	tap__ok(timed(r, 1001, 1, 100000) == WALK_DONE && !r->walk.budget.over,
		"the next walk has its full time again");
	run__free(r);
	/* the innermost frames of a deep stack */
	r = begin();
	r->walk.budget.reduced = 1;
	tap__ok(timed(r, 1001, 0, 1000) == WALK_CUT && r->walk.budget.work <= WALK_LOOK + NAMING &&
			r->walk.frames >= 2,
		"with a reduced budget, and no time: %d frames in %d reads", (int)r->walk.frames,
		(int)r->walk.budget.work);
	run__free(r);

	ordinary(10);
	r = begin();
	tap__ok(timed(r, 2, 0, 1) == WALK_DONE && !r->asked,
		"a short stack is through before the first look, however late it is");
	run__free(r);
}

/* A srcfile with as many variables as are looked at, none of them `filename`. */
static uint64_t srcfile__nameless(void)
{
	uint64_t list = s.m.nil;

	for (int i = 0; i < 2 * LINES_BINDINGS; i++)
		list = image__cell(&s.m, 2, s.m.nil, list, s.other);
	return image__cell(&s.m, R_ENVSXP, list, s.m.nil, s.m.nil);
}

/* Byte code with @n constants that all seem to be the table of srcrefs, up to the end of the name.
 */
static uint64_t bytecode__tableless(int n)
{
	const int32_t code[16] = {12};
	uint64_t consts[8];

	for (int i = 0; i < n; i++) {
		consts[i] = image__vector(&s.m, R_INTSXP, 8, code, 32);
		image__attribute(&s.m, consts[i], s.class, image__string(&s.m, "srcrefsIndeX"));
	}
	return image__cell(&s.m, R_BCODESXP, image__vector(&s.m, R_INTSXP, 16, code, sizeof(code)),
			   image__vector(&s.m, R_VECSXP, (uint64_t)n, consts, 8 * (uint64_t)n),
			   s.m.nil);
}

/* A frame that leads to much is left while it is looked for, wherever that is. */
TEST(one_frame)
{
	uint32_t wrong = 0, parts = 0, most = 0;

	for (int cheap = 0; cheap < 12; cheap++) {
		const struct walk *w;
		struct recorded_walk *r;

		start();
		push(&s, "outer", 0);
		for (int i = 0; i < 8; i++)
			if (i % 2)
				push(&s, "f", srcref(&s, srcfile__nameless(), 1));
			else
				push_bc(&s, "g", bytecode__tableless(8), 0);
		for (int i = 0; i < cheap; i++)
			push(&s, "cheap", 0);
		r = begin();
		w = &r->walk;
		r->walk.budget.work_max = 1;
		wrong += recorded_walk__again(r) != WALK_CUT || r->nslots != 2 * w->frames;
		parts += w->contexts > w->frames;
		most = w->budget.work > most ? w->budget.work : most;
		run__free(r);
	}
	tap__ok(!wrong && parts, "a frame whose place is not found in time is left out (%d of 12)",
		(int)parts);
	tap__ok(most <= WALK_LOOK_FIRST + NAMING, "and no more is read for it (%d)", (int)most);
}

/* What one walk costs. */
static int work(void)
{
	struct recorded_walk *r = begin();
	int n;

	recorded_walk__again(r);
	n = (int)r->walk.budget.work;
	run__free(r);
	return n;
}

#define SAME 8

/* What each of SAME calls after the first costs, for places of some kind. */
static int again(uint64_t (*place)(int i, uint64_t *kept))
{
	uint64_t call = image__call(&s.m, image__symbol(&s.m, "f"), 0, 0), kept = 0;
	int first = 0;

	for (int i = 0; i <= SAME; i++) {
		uint64_t at = image__push(&s.m, R_CTXT_FUNCTION, call, 0);

		image__put64(&s.m, at + s.m.layout.srcref, place(i, &kept));
		if (!i)
			first = work();
	}
	return (work() - first) / SAME;
}

static uint64_t place__one(int i, uint64_t *ref)
{
	return *ref = i ? *ref : srcref(&s, srcfile__nameless(), 1);
}

static uint64_t place__of_file(int i, uint64_t *file)
{
	*file = i ? *file : srcfile__nameless();
	return srcref(&s, *file, i);
}

static uint64_t place__fileless(int i, uint64_t *ref)
{
	const int32_t place[8] = {1};

	return *ref = i ? *ref : image__vector(&s.m, R_INTSXP, 8, place, sizeof(place));
}

/* Another srcfile each, with one name that is cut to XR_TEXT_MAX bytes. */
static uint64_t place__long(int i, uint64_t *name)
{
	char text[2 * XR_TEXT_MAX] = "";

	memset(text, 'x', sizeof(text) - 1);
	*name = i ? *name : image__string(&s.m, text);
	return srcref(&s, srcfile__list(&s, *name), i);
}

TEST(in_vain)
{
	static const struct {
		uint64_t (*place)(int i, uint64_t *kept);
		int most;
		const char *what;
	} rows[] = {
		{place__one, 2, "a srcref whose file has no name is looked at once"},
		{place__of_file, 5, "so is a srcfile without a name, for each of its srcrefs"},
		{place__fileless, 2, "and a srcref without a srcfile"},
		{place__long, NAMING, "a long name that many files have is read once"},
	};
	uint64_t body;
	int first, n;

	for (size_t i = 0; i < COUNT(rows); i++) {
		start();
		n = again(rows[i].place);
		tap__ok(n <= rows[i].most, "%s (%d reads a frame)", rows[i].what, n);
	}
	start();
	body = bytecode__tableless(8);
	push_bc(&s, "g", body, 0);
	first = work();
	for (uint64_t i = 0; i < SAME; i++)
		push_bc(&s, "g", body, i % 2);
	n = (work() - first) / SAME;
	tap__ok(n <= 6, "byte code without a table is looked at once (%d reads a frame)", n);
}

/* It holds until R collects, as what was found does. */
TEST(generations)
{
	uint64_t count_at, cell, before, after;
	struct recorded_walk *r;

	start();
	cell = image__cell(&s.m, 2, image__string(&s.m, "late.R"), s.m.nil, s.other);
	count_at = image__alloc(&s.m, 8);
	image__put32(&s.m, count_at, 12);
	push(&s, "f", srcref(&s, image__cell(&s.m, R_ENVSXP, cell, s.m.nil, s.m.nil), 3));
	push_bc(&s, "g", bytecode__tableless(4), 2);
	s.row.gc_count_at = count_at;
	r = begin();
	recorded_walk__again(r);
	before = s.m.reads;
	recorded_walk__again(r);
	after = s.m.reads - before;
	tap__ok(after < before / 2, "in vain once is in vain until R collects: %d reads, not %d",
		(int)after, (int)before);
	image__put64(&s.m, cell + 8 * R_TAG, s.filename);
	image__put32(&s.m, count_at, 13);
	tap__is(run__says(r), "g f late.R#3 ", "after that it is looked for again");
	image__put64(&s.m, cell + 8 * R_TAG, s.other);
	r->walk.steady = 0;
	recorded_walk__again(r);
	image__put64(&s.m, cell + 8 * R_TAG, s.filename);
	tap__is(run__says(r), "g f late.R#3 ", "and in each walk, if R may run meanwhile");
	run__free(r);
}

/* --- what samples of a process may cost, by those before --- */

#define WHOLE_NS   1000000u
#define WHOLE_WORK 64000u

/*
 * A sample of the process of @row whose whole stack takes @ns.  Returns what is spent on it; sets
 * *@told to whether the session hears of it.
 */
static uint64_t sample(struct xr_row *row, uint64_t ns, int *told)
{
	struct walk_budget b = {0};
	uint64_t may;

	sample_budget__begin(&b, row, 1000, WHOLE_NS, WHOLE_WORK);
	may = b.deadline - 1000;
	tap__bail_if(b.reduced ? b.work_max > WHOLE_WORK / 4 || may > WHOLE_NS / 4
			       : b.work_max != WHOLE_WORK || may != WHOLE_NS,
		     "limits of %d ns, work %d", (int)may, (int)b.work_max);
	b.over = ns > may;
	*told = sample_budget__end(&b, row);
	return ns > may ? may : ns;
}

/* @n samples that each take @ns.  Returns what is spent on them. */
static uint64_t samples(struct xr_row *row, int n, uint64_t ns)
{
	uint64_t spent = 0;
	int told;

	while (n--)
		spent += sample(row, ns, &told);
	return spent;
}

/* Too deep for long, and the next sample has the whole budget. */
static void until_whole(struct xr_row *row)
{
	do
		samples(row, 1, 2 * WHOLE_NS);
	while (row->strikes < STRIKES_MAX || row->reduced);
}

TEST(always_over)
{
	struct xr_row row = {0};
	int told = 0, times = 0;
	uint64_t spent;

	sample(&row, 2 * WHOLE_NS, &told);
	tap__ok(!row.reduced && !told, "one that is cut changes nothing");
	for (int i = 0; i < 100000; i++) {
		sample(&row, 2 * WHOLE_NS, &told);
		times += told;
	}
	tap__ok(times == 1, "the walk notifies the session once when it begins to reduce samples");
	spent = samples(&row, 129 * 100, 2 * WHOLE_NS);
	tap__ok(spent <= 129 * 100 * (WHOLE_NS / 64),
		"in the end a tick costs at most a 64th of the budget (%d ns)",
		(int)(spent / 12900));
	tap__ok(spent >= 100 * WHOLE_NS, "and the whole is tried again and again");
}

TEST(recovery)
{
	struct xr_row row = {0};
	uint64_t spent;

	samples(&row, 1000, 2 * WHOLE_NS);
	samples(&row, 1 << REDUCED_SHIFT, WHOLE_NS / 2);
	spent = samples(&row, 100, WHOLE_NS / 2);
	tap__ok(spent == 50 * (uint64_t)WHOLE_NS,
		"a stack that fits is whole from the next try on");

	until_whole(&row);
	samples(&row, 1, 100);
	spent = samples(&row, 129, 2 * WHOLE_NS);
	tap__ok(spent <= 2 * WHOLE_NS && row.strikes == STRIKES_MAX,
		"stacks that were too deep before are remembered");
	until_whole(&row);
	samples(&row, (int)STRIKES_MAX, 100);
	samples(&row, 1, 2 * WHOLE_NS);
	tap__ok(!row.reduced, "until as many were not");
}

TEST(now_and_then)
{
	struct xr_row row = {0};
	uint64_t spent = 0;

	for (int i = 0; i < 10000; i++) {
		spent += samples(&row, 1, 2 * WHOLE_NS);
		spent += samples(&row, 5, WHOLE_NS / 2);
	}
	tap__ok(spent == 10000ull * (WHOLE_NS + 5 * WHOLE_NS / 2) && !row.reduced,
		"if less than a fifth is cut the others are whole");
}

/* Whatever the row holds: it can be another process' by now, changed on several CPUs. */
TEST(any_row)
{
	static const uint32_t values[] = {0, 1, 3, 4, 27, 28, 29, 127, 128, 129, 1u << 31, ~0u};
	const size_t n = COUNT(values);
	uint32_t wrong = 0;

	for (size_t i = 0; i < n * n; i++) {
		struct xr_row row = {.strikes = values[i / n], .reduced = values[i % n]};
		struct walk_budget b = {.over = i % 2};

		sample_budget__begin(&b, &row, 0, WHOLE_NS, WHOLE_WORK);
		wrong += b.deadline < WHOLE_NS >> REDUCED_SHIFT || b.deadline > WHOLE_NS;
		wrong += b.work_max < WHOLE_WORK >> REDUCED_SHIFT || b.work_max > WHOLE_WORK;
		sample_budget__end(&b, &row);
		wrong += row.reduced > 1u << REDUCED_SHIFT;
		for (uint32_t k = 0; k <= 1u << REDUCED_SHIFT; k++) {
			b.over = 0;
			sample_budget__begin(&b, &row, 0, WHOLE_NS, WHOLE_WORK);
			sample_budget__end(&b, &row);
		}
		wrong += b.deadline != WHOLE_NS;
	}
	tap__ok(!wrong, "whatever is in the row, samples have a budget, and soon the whole one");
}
