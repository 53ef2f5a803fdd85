/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source locations in the walk, over images of R's memory: srcrefs, byte code with and without a
 * table of srcrefs, srcfiles of every kind, every read made to fail.
 */
#include "lines_scene.h"

TEST(layouts)
{
	size_t rows;
	const struct layouts_row *table = layouts__table(&rows);

	for (size_t i = 0; i < rows; i++) {
		const struct xr_layout *l = &table[i].layout;
		char name[64];
		struct scene s;
		uint64_t a, b;

		if (!l->srcref)
			continue;
		snprintf(name, sizeof(name), "srcrefs, R %u.%u, architecture %d",
			 table[i].first >> 16, table[i].first >> 8 & 255, (int)table[i].arch);
		scene__init(&s, l);
		a = srcfile__list(&s, image__string(&s.m, "a.R"));
		b = srcfile__hashed(&s, image__string(&s.m, "b.R"), 29);
		push(&s, "outer", 0);
		push(&s, "middle", srcref(&s, a, 3));
		push(&s, "inner", srcref(&s, b, 2000000000));
		image__put64(&s.m, s.row.srcref_at, srcref(&s, a, 7));
		check(&s, "a.R#7 inner b.R#2000000000 middle a.R#3 outer ", name);
		if (l->bcbody) {
			uint64_t body = bytecode(&s, srcref(&s, a, 11), srcref(&s, b, 22), 0);

			snprintf(name, sizeof(name), "byte code, R %u.%u, architecture %d",
				 table[i].first >> 16, table[i].first >> 8 & 255,
				 (int)table[i].arch);
			push_bc(&s, "compiled", body, 1);
			push_bc(&s, "again", body, 7);
			innermost_bc(&s, body, 4);
			check(&s,
			      "b.R#22 again b.R#22 compiled a.R#11 inner b.R#2000000000 middle "
			      "a.R#3 outer ",
			      name);
		}
		scene__free(&s);
	}
}

/* What a srcref or a srcfile may be instead: then there is no location. */
TEST(srcfiles)
{
	uint64_t file, ref, text, env, cell, promise;
	struct scene s;

	scene__init(&s, layout_now());
	text = image__string(&s.m, "a.R");
	push(&s, "f", 0);

	image__put64(&s.m, s.row.srcref_at, s.m.nil);
	check(&s, "f ", "R_Srcref is R_NilValue");
	ref = srcref(&s, srcfile__hashed(&s, text, 1), -5);
	image__put64(&s.m, s.row.srcref_at, ref);
	check(&s, "a.R#-5 f ", "a table of one chain; a line below 0");
	image__put64(&s.m, s.row.srcref_at, srcref(&s, srcfile__hashed(&s, text, 61), 5));
	check(&s, "a.R#5 f ", "a table that grew");
	image__put64(&s.m, s.row.srcref_at,
		     srcref(&s, srcfile__list(&s, image__string(&s.m, "")), 5));
	check(&s, "#5 f ", "a file without a name");

	image__put64(&s.m, ref, R_REALSXP);
	image__put64(&s.m, s.row.srcref_at, ref);
	check(&s, "f ", "a srcref that is no integer vector");
	image__put64(&s.m, ref, R_INTSXP | R_ALTREP_BIT);
	check(&s, "f ", "a srcref whose data is elsewhere");
	image__put64(&s.m, ref, R_INTSXP);
	image__put64(&s.m, ref + 8 * R_CAR, 0);
	check(&s, "f ", "a srcref of length 0");
	image__put64(&s.m, ref + 8 * R_CAR, 8);
	check(&s, "a.R#-5 f ", "and as it was");
	image__put64(&s.m, ref + 8, s.m.nil);
	check(&s, "f ", "a srcref without attributes");

	file = srcfile__list(&s, text);
	image__put64(&s.m, s.row.srcref_at, srcref(&s, file, 6));
	check(&s, "a.R#6 f ", "a srcfile without a hash table");
	image__put64(&s.m, file, R_VECSXP);
	check(&s, "f ", "a srcfile that is no environment");
	image__put64(&s.m, file, R_ENVSXP);
	memcpy(&cell, image__at(&s.m, file + 8 * R_CAR, 8), 8);
	memcpy(&cell, image__at(&s.m, cell + 8 * R_CDR, 8), 8);
	image__put64(&s.m, cell, 2 | 1u << 23);
	check(&s, "f ", "`filename` is an active binding");
	image__put64(&s.m, cell, 2 | (uint64_t)R_INTSXP << 48);
	check(&s, "f ", "`filename` is a number kept in its binding");
	image__put64(&s.m, cell, 2);
	check(&s, "a.R#6 f ", "and as it was");
	image__put64(&s.m, cell + 8 * R_CAR, image__int(&s.m, 1));
	check(&s, "f ", "`filename` is a number");
	promise = image__cell(&s.m, 5, text, 0, 0);
	image__put64(&s.m, cell + 8 * R_CAR, promise);
	check(&s, "f ", "`filename` is a promise");
	image__put64(&s.m, cell + 8 * R_CAR, image__vector(&s.m, R_STRSXP, 0, "", 0));
	check(&s, "f ", "`filename` is no string at all");
	image__put64(&s.m, cell + 8 * R_TAG, s.other);
	image__put64(&s.m, cell + 8 * R_CAR, text);
	check(&s, "f ", "there is no `filename`");
	env = image__cell(&s.m, R_ENVSXP, s.m.nil, s.m.nil, s.m.nil);
	image__put64(&s.m, s.row.srcref_at, srcref(&s, env, 6));
	check(&s, "f ", "a srcfile without variables");
	scene__free(&s);
}

TEST(bytecode)
{
	struct xr_row row;
	uint64_t file, body, plain, other, at, value, ref, consts;
	struct scene s;

	scene__init(&s, layout_now());
	file = srcfile__list(&s, image__string(&s.m, "a.R"));
	ref = srcref(&s, file, 1);
	body = bytecode(&s, ref, srcref(&s, file, 2), 0);
	other = bytecode(&s, srcref(&s, file, 31), srcref(&s, file, 32), 3);
	plain = bytecode(&s, 0, 0, 0);
	push(&s, "f", 0);
	innermost_bc(&s, body, 0);
	check(&s, "a.R#1 f ", "the first unit of code");
	innermost_bc(&s, body, 7);
	check(&s, "a.R#2 f ", "the last");
	innermost_bc(&s, body, 8);
	check(&s, "f ", "one behind the last");
	innermost_bc(&s, body, (uint64_t)-1);
	check(&s, "f ", "one before the first");
	innermost_bc(&s, other, 5);
	check(&s, "a.R#32 f ", "constants behind the table of srcrefs");
	innermost_bc(&s, bytecode(&s, ref, ref, 4), 5);
	check(&s, "f ", "more than are looked at");
	innermost_bc(&s, plain, 5);
	check(&s, "f ", "code without srcrefs");

	innermost_bc(&s, body, 5);
	image__put64(&s.m, s.row.bc_body_at, other);
	check(&s, "f ", "the code is one function's and the place another's");
	image__put64(&s.m, s.row.bc_body_at, 0);
	check(&s, "f ", "no code");
	image__put64(&s.m, s.row.bc_body_at, ref);
	check(&s, "f ", "the code is no byte code");
	innermost_bc(&s, body, 5);
	image__put64(&s.m, s.row.bc_pc_at, 0);
	check(&s, "f ", "no place");
	image__put64(&s.m, s.row.bc_pc_at, image__alloc(&s.m, 8));
	check(&s, "f ", "the place is not known yet");
	image__put64(&s.m, s.row.bc_pc_at, 0x123);
	check(&s, "f ", "the place is of a C function that returned");
	innermost_bc(&s, body, 5);
	row = s.row;
	row.flags &= ~XR_ROW_BC;
	check_row(&s, &row, "f ", "R_BCbody is not to be trusted");
	row = s.row;
	row.flags &= ~XR_ROW_LINES;
	check_row(&s, &row, "f ", "lines are not wanted");

	/* relpc comes first where there is one: bcpc is that of all inlined calls */
	image__put64(&s.m, s.row.srcref_at, 0);
	at = push_bc(&s, "g", body, 1);
	image__put64(&s.m, at + s.m.layout.relpc, 6);
	check(&s, "g a.R#2 f ", "a context with relpc");
	image__put64(&s.m, at + s.m.layout.relpc, (uint64_t)-1);
	check(&s, "g a.R#1 f ", "a relpc that is none");
	image__put64(&s.m, at + s.m.layout.relpc, 8);
	check(&s, "g f ", "a relpc behind the end");
	image__put64(&s.m, at + s.m.layout.relpc, 0);
	image__put64(&s.m, at + s.m.layout.bcbody, 0);
	check(&s, "g f ", "a context without code");
	image__put64(&s.m, at + s.m.layout.bcbody, body);

	/* what the table says cannot be */
	memcpy(&consts, image__at(&s.m, body + 8 * R_CDR, 8), 8);
	memcpy(&value, image__at(&s.m, consts + 48 + 8 * 3, 8), 8);
	image__put32(&s.m, value + 48 + 4, 4);
	check(&s, "g f ", "the table points behind the constants");
	image__put32(&s.m, value + 48 + 4, (uint32_t)-7);
	check(&s, "g f ", "and before");
	image__put32(&s.m, value + 48 + 4, 0);
	check(&s, "g f ", "and at what is no srcref");
	image__put32(&s.m, value + 48 + 4, 1);
	check(&s, "g a.R#1 f ", "and as it was");
	image__put64(&s.m, value, R_INTSXP | R_ALTREP_BIT);
	check(&s, "g f ", "a table whose data is elsewhere");
	scene__free(&s);
}

/* Each read fails in turn: an error, or a location less; never a wrong one. */
TEST(faults)
{
	static const char right[] = "b.R#2 compiled a.R#1 inner b.R#9 outer ";
	uint64_t a, b, body, reads, errors = 0;
	struct run *r;
	bool ok = true;
	struct scene s;
	char line[512];

	scene__init(&s, layout_now());
	a = srcfile__list(&s, image__string(&s.m, "a.R"));
	b = srcfile__hashed(&s, image__string(&s.m, "b.R"), 29);
	body = bytecode(&s, srcref(&s, a, 1), srcref(&s, b, 2), 1);
	push(&s, "outer", 0);
	push(&s, "inner", srcref(&s, b, 9));
	push_bc(&s, "compiled", body, 1);
	innermost_bc(&s, body, 6);
	check(&s, right, "what is to be damaged");
	r = run__new(&s.m);
	r->base.walk.row = s.row;
	s.m.reads = 0;
	run__walk(r);
	reads = s.m.reads;
	for (uint64_t n = 1; n <= reads; n++) {
		int result;

		free(r);
		r = run__new(&s.m);
		r->base.walk.row = s.row;
		s.m.reads = 0;
		s.m.fail_at = n;
		result = run__walk(r);
		s.m.fail_at = 0;
		if (result < 0) {
			errors++;
			ok = ok && -result < XR_ERRORS && s.m.reads == n;
		} else { /* the location of a C function that returned */
			run__line(r, line, sizeof(line));
			ok = ok && result == WALK_DONE && !strcmp(line, right + 6);
		}
		result = run__walk(r);
		run__line(r, line, sizeof(line));
		if (result != WALK_DONE || strcmp(line, right)) {
			tap__diag("after failed read %d: %s", (int)n, line);
			ok = false;
		}
	}
	tap__ok(ok && errors + 1 >= reads && reads > 30,
		"each of %d reads fails in turn: the sample is unreadable, the next is whole",
		(int)reads);
	free(r);
	scene__free(&s);
}

/* What is remembered from one walk to the next, and what must not be. */
TEST(generations)
{
	uint64_t file, ref, body, count_at, reads, all;
	struct run *r;
	struct scene s;
	char line[512];

	scene__init(&s, layout_now());
	file = srcfile__list(&s, image__string(&s.m, "a.R"));
	ref = srcref(&s, file, 1);
	body = bytecode(&s, ref, 0, 0);
	count_at = image__alloc(&s.m, 8);
	image__put32(&s.m, count_at, 12);
	push(&s, "f", srcref(&s, file, 3));
	for (uint64_t i = 0; i < 20; i++)
		push_bc(&s, "g", bytecode(&s, srcref(&s, file, 5), 0, 0), 1);
	innermost_bc(&s, body, 0);
	r = run__new(&s.m);
	r->base.walk.row = s.row;
	r->base.walk.row.gc_count_at = count_at;

	/* the srcref is another one now: as after it was freed */
	run__walk(r);
	image__put32(&s.m, ref + s.m.layout.vector_data, 2);
	s.m.reads = 0;
	run__walk(r);
	all = s.m.reads;
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#2 g a.R#5 ", 14), "R may run meanwhile: nothing is remembered");

	r->base.walk.steady = 1;
	run__walk(r);
	s.m.reads = 0;
	run__walk(r);
	reads = s.m.reads;
	image__put32(&s.m, ref + s.m.layout.vector_data, 7);
	run__walk(r);
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#2 g a.R#5 ", 14) && reads < all / 2,
		"places are remembered as long as R has not collected (%d reads, not %d)",
		(int)reads, (int)all);
	image__put32(&s.m, count_at, 13);
	run__walk(r);
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#7 g a.R#5 ", 14), "but not after a collection");
	image__put32(&s.m, ref + s.m.layout.vector_data, 8);
	r->base.walk.row.serial++;
	run__walk(r);
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#8 g a.R#5 ", 14), "nor for another process");
	image__put32(&s.m, ref + s.m.layout.vector_data, 9);
	r->base.walk.row.gc_count_at = 0;
	run__walk(r);
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#9 g a.R#5 ", 14), "nor where the count is not known");
	r->base.walk.row.gc_count_at = 0x123;
	run__walk(r);
	image__put32(&s.m, ref + s.m.layout.vector_data, 10);
	run__walk(r);
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#10 g a.R#5 ", 15), "nor where it cannot be read");
	free(r);
	scene__free(&s);
}
