/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source locations in the walk, over images of R's memory: srcrefs, byte code with and without a
 * table of srcrefs, srcfiles of every kind, every read made to fail.
 */
#include "lines_scene.h"

static struct scene s;

BEFORE()
{
	scene__init(&s, layout_now());
}

TEST(layouts)
{
	size_t rows;
	const struct layouts_row *table = layouts__table(&rows);

	for (size_t i = 0; i < rows; i++) {
		const struct xr_layout *l = &table[i].layout;
		uint64_t a, b, body;
		char name[64];

		if (!l->srcref)
			continue;
		snprintf(name, sizeof(name), "R %u.%u, architecture %d", table[i].first >> 16,
			 table[i].first >> 8 & 255, (int)table[i].arch);
		scene__free(&s);
		scene__init(&s, l);
		a = srcfile__list(&s, image__string(&s.m, "a.R"));
		b = srcfile__hashed(&s, image__string(&s.m, "b.R"), 29);
		push(&s, "outer", 0);
		push(&s, "middle", srcref(&s, a, 3));
		push(&s, "inner", srcref(&s, b, 2000000000));
		check_put(&s, s.row.srcref_at, srcref(&s, a, 7),
			  "a.R#7 inner b.R#2000000000 middle a.R#3 outer ", name);
		if (l->bcbody) {
			body = bytecode(&s, srcref(&s, a, 11), srcref(&s, b, 22), 0);
			push_bc(&s, "compiled", body, 1);
			push_bc(&s, "again", body, 7);
			innermost_bc(&s, body, 4);
			strcat(name, ", byte code");
			check(&s,
			      "b.R#22 again b.R#22 compiled a.R#11 inner b.R#2000000000 middle "
			      "a.R#3 outer ",
			      name);
		}
	}
}

/* What a srcref or a srcfile may be instead: then there is no location. */
TEST(srcfiles)
{
	uint64_t at, file, ref, text, value;

	at = s.row.srcref_at;
	text = image__string(&s.m, "a.R");
	push(&s, "f", 0);
	check_put(&s, at, s.m.nil, "f ", "R_Srcref is R_NilValue");
	ref = srcref(&s, srcfile__hashed(&s, text, 1), -5);
	check_put(&s, at, ref, "a.R#-5 f ", "a table of one chain; a line below 0");
	check_put(&s, at, srcref(&s, srcfile__hashed(&s, text, 61), 5), "a.R#5 f ",
		  "a table that grew");
	check_put(&s, at, srcref(&s, srcfile__list(&s, image__string(&s.m, "")), 5), "#5 f ",
		  "a file without a name");

	image__put64(&s.m, at, ref);
	check_put(&s, ref, R_REALSXP, "f ", "a srcref that is not an integer vector");
	check_put(&s, ref, R_INTSXP | R_ALTREP_BIT, "f ", "a srcref whose data is elsewhere");
	image__put64(&s.m, ref, R_INTSXP);
	check_put(&s, ref + 8 * R_CAR, 0, "f ", "a srcref of length 0");
	check_put(&s, ref + 8 * R_CAR, 8, "a.R#-5 f ", "and as it was");
	check_put(&s, ref + 8, s.m.nil, "f ", "a srcref without attributes");

	file = srcfile__list(&s, text);
	check_put(&s, at, srcref(&s, file, 6), "a.R#6 f ", "a srcfile without a hash table");
	check_put(&s, file, R_VECSXP, "f ", "a srcfile that is not an environment");
	image__put64(&s.m, file, R_ENVSXP);
	/* the binding of `filename` */
	file = image__get64(&s.m, image__get64(&s.m, file + 8 * R_CAR) + 8 * R_CDR);
	value = file + 8 * R_CAR;
	check_put(&s, file, 2 | 1u << 23, "f ", "`filename` is an active binding");
	check_put(&s, file, 2 | (uint64_t)R_INTSXP << 48, "f ",
		  "`filename` is a number kept in its binding");
	check_put(&s, file, 2, "a.R#6 f ", "and as it was");
	check_put(&s, value, image__int(&s.m, 1), "f ", "`filename` is a number");
	check_put(&s, value, image__cell(&s.m, 5, text, 0, 0), "f ", "`filename` is a promise");
	check_put(&s, value, image__vector(&s.m, R_STRSXP, 0, "", 0), "f ",
		  "`filename` is an empty vector");
	image__put64(&s.m, value, text);
	check_put(&s, file + 8 * R_TAG, s.other, "f ", "there is no `filename`");
	check_put(&s, at, srcref(&s, image__cell(&s.m, R_ENVSXP, s.m.nil, s.m.nil, s.m.nil), 6),
		  "f ", "a srcfile without variables");
}

TEST(bytecode)
{
	struct xr_row row;
	uint64_t file, body, other, at, table, entry, ref, relpc;

	file = srcfile__list(&s, image__string(&s.m, "a.R"));
	ref = srcref(&s, file, 1);
	body = bytecode(&s, ref, srcref(&s, file, 2), 0);
	other = bytecode(&s, srcref(&s, file, 31), srcref(&s, file, 32), 3);
	push(&s, "f", 0);
	{
		const struct {
			uint64_t body, unit;
			const char *wanted, *what;
		} rows[] = {
			{body, 0, "a.R#1 f ", "the first unit of code"},
			{body, 7, "a.R#2 f ", "the last"},
			{body, 8, "f ", "one behind the last"},
			{body, (uint64_t)-1, "f ", "one before the first"},
			{other, 5, "a.R#32 f ", "constants behind the table of srcrefs"},
			{bytecode(&s, ref, ref, 4), 5, "f ", "more than are looked at"},
			{bytecode(&s, 0, 0, 0), 5, "f ", "code without srcrefs"},
		};

		for (size_t i = 0; i < COUNT(rows); i++) {
			innermost_bc(&s, rows[i].body, rows[i].unit);
			check(&s, rows[i].wanted, rows[i].what);
		}
	}
	innermost_bc(&s, body, 5);
	check_put(&s, s.row.bc_body_at, other, "f ",
		  "the code is one function's and the place another's");
	check_put(&s, s.row.bc_body_at, 0, "f ", "no code");
	check_put(&s, s.row.bc_body_at, ref, "f ", "the code is not byte code");
	innermost_bc(&s, body, 5);
	check_put(&s, s.row.bc_pc_at, 0, "f ", "no place");
	check_put(&s, s.row.bc_pc_at, image__alloc(&s.m, 8), "f ", "the place is not known yet");
	check_put(&s, s.row.bc_pc_at, 0x123, "f ", "the place is of a C function that returned");
	innermost_bc(&s, body, 5);
	row = s.row;
	row.flags = XR_ROW_LINES;
	check_row(&s, &row, "f ", "R_BCbody is not to be trusted");
	row.flags = XR_ROW_BC;
	check_row(&s, &row, "f ", "lines are not wanted");

	/* relpc comes first where there is one: bcpc is that of all inlined calls */
	image__put64(&s.m, s.row.srcref_at, 0);
	at = push_bc(&s, "g", body, 1);
	relpc = at + s.m.layout.relpc;
	check_put(&s, relpc, 6, "g a.R#2 f ", "a context with relpc");
	check_put(&s, relpc, (uint64_t)-1, "g a.R#1 f ", "an invalid relpc");
	check_put(&s, relpc, 8, "g f ", "a relpc behind the end");
	image__put64(&s.m, relpc, 0);
	check_put(&s, at + s.m.layout.bcbody, 0, "g f ", "a context without code");
	image__put64(&s.m, at + s.m.layout.bcbody, body);

	/* what the table says cannot be: its second entry, before the third */
	table = image__get64(&s.m, image__get64(&s.m, body + 8 * R_CDR) + 48 + 8 * 3);
	entry = table + 48;
	check_put(&s, entry, 4ull << 32, "g f ", "the table points behind the constants");
	check_put(&s, entry, (uint64_t)(uint32_t)-7 << 32, "g f ", "and before");
	check_put(&s, entry, 0, "g f ", "and at an object that is not a srcref");
	check_put(&s, entry, 1ull << 32 | 1, "g a.R#1 f ", "and as it was");
	check_put(&s, table, R_INTSXP | R_ALTREP_BIT, "g f ", "a table whose data is elsewhere");
}

TEST(faults)
{
	static const char right[] = "b.R#2 compiled a.R#1 inner b.R#9 outer ";
	uint64_t a, b, body, reads = 1, errors = 0;
	bool ok = true;

	a = srcfile__list(&s, image__string(&s.m, "a.R"));
	b = srcfile__hashed(&s, image__string(&s.m, "b.R"), 29);
	body = bytecode(&s, srcref(&s, a, 1), srcref(&s, b, 2), 1);
	push(&s, "outer", 0);
	push(&s, "inner", srcref(&s, b, 9));
	push_bc(&s, "compiled", body, 1);
	innermost_bc(&s, body, 6);
	check(&s, right, "what is to be damaged");
	/* the first time none fails */
	for (uint64_t n = 0; n <= reads; n++) {
		int result;
		struct recorded_walk *r = run__failing(&s, n, &result);

		reads = n ? reads : s.m.reads;
		if (result < 0) {
			errors++;
			ok = ok && -result < XR_ERRORS && s.m.reads == n;
		} else { /* without the location of a C function that returned */
			ok = ok && result == WALK_DONE &&
			     !strcmp(run__line(r), n ? right + 6 : right);
		}
		if (strcmp(run__says(r), right)) {
			tap__diag("the walk after failed read %d is wrong", (int)n);
			ok = false;
		}
		run__free(r);
	}
	tap__ok(ok && errors + 1 >= reads && reads > 30,
		"each of %d reads fails in turn: the sample is unreadable, the next is whole",
		(int)reads);
}

/* Two places that are remembered in one slot. */
TEST(collision)
{
	uint64_t file, a, b;

	file = srcfile__list(&s, image__string(&s.m, "a.R"));
	a = srcref(&s, file, 1);
	do
		b = srcref(&s, file, 2);
	while (b * 0x9e3779b97f4a7c15ULL >> (64 - LINES_PLACES_BITS) !=
	       a * 0x9e3779b97f4a7c15ULL >> (64 - LINES_PLACES_BITS));
	push(&s, "f", a);
	push(&s, "g", b);
	check_put(&s, s.row.srcref_at, a, "a.R#1 g a.R#2 f a.R#1 ", "each has its own line");
}

/* The walk says that the innermost place is line @line of a.R, called from g. */
static bool innermost_is(struct recorded_walk *r, int line)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "a.R#%d g a.R#5 ", line);
	return !strncmp(run__says(r), wanted, strlen(wanted));
}

/* What is remembered from one walk to the next, and what must not be. */
TEST(generations)
{
	uint64_t file, ref, line_at, count_at, reads, all;
	struct xr_row *row;
	struct recorded_walk *r;
	bool same;

	file = srcfile__list(&s, image__string(&s.m, "a.R"));
	ref = srcref(&s, file, 1);
	line_at = ref + s.m.layout.vector_data;
	count_at = image__alloc(&s.m, 8);
	image__put32(&s.m, count_at, 12);
	push(&s, "f", srcref(&s, file, 3));
	for (uint64_t i = 0; i < 20; i++)
		push_bc(&s, "g", bytecode(&s, srcref(&s, file, 5), 0, 0), 1);
	innermost_bc(&s, bytecode(&s, ref, 0, 0), 0);
	r = run__new(&s);
	row = &r->walk.row;
	row->gc_count_at = count_at;

	/* the srcref is another one now: as after it was freed */
	recorded_walk__again(r);
	image__put32(&s.m, line_at, 2);
	s.m.reads = 0;
	same = innermost_is(r, 2);
	all = s.m.reads;
	tap__ok(same, "R may run meanwhile: nothing is remembered");
	r->walk.steady = 1;
	recorded_walk__again(r);
	s.m.reads = 0;
	recorded_walk__again(r);
	reads = s.m.reads;
	image__put32(&s.m, line_at, 7);
	tap__ok(innermost_is(r, 2) && reads < all / 2,
		"places are remembered as long as R has not collected (%d reads, not %d)",
		(int)reads, (int)all);
	image__put32(&s.m, count_at, 13);
	tap__ok(innermost_is(r, 7), "but not after a collection");
	image__put32(&s.m, line_at, 8);
	row->serial++;
	tap__ok(innermost_is(r, 8), "nor for another process");
	image__put32(&s.m, line_at, 9);
	row->gc_count_at = 0;
	tap__ok(innermost_is(r, 9), "nor where the count is not known");
	row->gc_count_at = 0x123;
	recorded_walk__again(r);
	image__put32(&s.m, line_at, 10);
	tap__ok(innermost_is(r, 10), "nor where it cannot be read");
	run__free(r);
}

/* `line` of the last place that was sent, of the srcfile @env of code in no file. */
static uint32_t born(struct recorded_walk *r, uint64_t env)
{
	recorded_walk__again(r);
	return r->nplaces && r->places[r->nplaces - 1].id == env ? r->places[r->nplaces - 1].line
								 : UINT32_MAX;
}

/* When R made a srcfile: what tells apart two that have one address, one after the other. */
TEST(when_made)
{
	const uint64_t env = srcfile__hashed(&s, image__string(&s.m, "<text>"), 29);
	const uint64_t count_at = image__alloc(&s.m, 8), gc_at = image__alloc(&s.m, 8);
	struct recorded_walk *r;

	image__put32(&s.m, count_at, 12);
	image__put32(&s.m, gc_at, 0);
	push(&s, "f", srcref(&s, env, 3));
	r = run__new(&s);
	r->walk.steady = 1;
	r->walk.row.flags |= XR_ROW_GC;
	r->walk.row.gc_size = 4;
	r->walk.row.gc_at = 0;
	r->walk.row.gc_count_at = count_at;
	tap__ok(!born(r, env), "it is not known if the collector runs");
	r->walk.row.gc_at = gc_at;
	image__put32(&s.m, count_at, 13);
	tap__ok(born(r, env) == XR_BORN_FIRST + 13, "after the last collection");
	image__put64(&s.m, env, R_ENVSXP | R_MARK_BIT);
	image__put32(&s.m, count_at, 14);
	tap__ok(born(r, env) == XR_BORN_OLD, "before it");
	image__put64(&s.m, env, R_ENVSXP);
	image__put32(&s.m, count_at, 15);
	tap__ok(born(r, env) == XR_BORN_FIRST + 15, "another one at that address");
	recorded_walk__forget(r);
	r->walk.row = s.row;
	r->walk.row.flags |= XR_ROW_GC;
	r->walk.row.gc_size = 4;
	r->walk.row.gc_count_at = count_at;
	r->walk.row.gc_at = gc_at;
	r->walk.steady = 1;
	image__put32(&s.m, gc_at, 1);
	tap__ok(!born(r, env), "while the collector runs, marks tell nothing");
	run__free(r);
}
