/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source locations and filter.callframes in the walk, over images of R's memory: srcrefs, byte code
 * with and without a table of srcrefs, srcfiles of every kind, every read made to fail.
 */
#include "layouts.h"
#include "map.h"
#include "r_image.h"
#include "tap.h"

#define WALK_FN static inline __attribute__((unused))
#define WALK_PLAIN

struct walk;
static int walk__read(struct walk *w, void *dst, __u32 len, __u64 addr);
static int walk__known(struct walk *w, __u64 sym);
static int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len);
static int walk__send_hashed(struct walk *w, __u64 addr, __u32 len);
static int walk__emit(struct walk *w, __u64 word, __u64 more);

#include "walk.h"

#define SLOTS_MAX 64
#define TEXTS_MAX 64

struct run {
	struct walk walk; /* first: the hooks get it */
	struct image *image;
	struct xr_slot slots[SLOTS_MAX];
	uint32_t nslots;
	struct {
		uint64_t id;
		char text[64];
	} texts[TEXTS_MAX];
	uint32_t ntexts;
	uint64_t file; /* innermost */
	uint32_t line;
};

static struct run *run__of(struct walk *w)
{
	return (struct run *)w;
}

static int walk__read(struct walk *w, void *dst, __u32 len, __u64 addr)
{
	return image__read(run__of(w)->image, dst, len, addr);
}

static int walk__known(struct walk *w, __u64 sym)
{
	(void)w;
	(void)sym;
	return 0;
}

static int run__text(struct run *r, __u64 id, __u64 addr, __u32 len, __u64 *hash)
{
	char text[64] = "";

	if (len >= sizeof(text) || r->ntexts == TEXTS_MAX)
		tap__bail("a text of %u bytes, or too many", len);
	if (len && image__read(r->image, text, len, addr))
		return -XR_BAD_SYMBOL;
	if (hash)
		*hash = id = map__hash_bytes(text, len) | 1;
	for (uint32_t i = 0; i < r->ntexts; i++)
		if (r->texts[i].id == id)
			return 0;
	r->texts[r->ntexts].id = id;
	strcpy(r->texts[r->ntexts++].text, text);
	return 0;
}

static int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len)
{
	return run__text(run__of(w), sym, addr, len, NULL);
}

static int walk__send_hashed(struct walk *w, __u64 addr, __u32 len)
{
	return run__text(run__of(w), 0, addr, len, &w->hash);
}

static int walk__emit(struct walk *w, __u64 word, __u64 more)
{
	struct run *r = run__of(w);

	if (r->nslots == SLOTS_MAX)
		tap__bail("more slots than there can be");
	r->slots[r->nslots++] = (struct xr_slot){word, more};
	return 0;
}

/* --- an image with what lines need --- */

struct scene {
	struct image m;
	struct xr_row row;
	uint64_t srcfile, class, filename, other;
	uint64_t body_at, pc_at;
};

static void scene__init(struct scene *s, const struct xr_layout *layout)
{
	image__init(&s->m, layout, 1 << 17, 1 << 16);
	s->row = image__row(&s->m);
	s->srcfile = s->row.sym_srcfile = image__symbol(&s->m, "srcfile");
	s->class = s->row.sym_class = image__symbol(&s->m, "class");
	s->filename = image__symbol(&s->m, "filename");
	s->other = image__symbol(&s->m, "filenames");
	s->row.in_bc = image__cell(&s->m, 0, 0, 0, 0);
	s->row.srcref_at = image__alloc(&s->m, 8);
	s->row.bc_body_at = image__alloc(&s->m, 8);
	s->row.bc_pc_at = image__alloc(&s->m, 8);
	s->row.flags = XR_ROW_LINES | XR_ROW_BC;
	image__push(&s->m, 0, s->m.nil, 0);
}

static void scene__free(struct scene *s)
{
	image__free(&s->m);
}

/* A srcfile whose variables are a list, as srcfile() makes it; @value: of `filename`. */
static uint64_t srcfile__list(struct scene *s, uint64_t value)
{
	uint64_t list = image__cell(&s->m, 2, value, s->m.nil, s->filename);

	list = image__cell(&s->m, 2, image__int(&s->m, 1), list, s->other);
	return image__cell(&s->m, R_ENVSXP, list, s->m.nil, s->m.nil);
}

/* One with a hash table of @size chains, as srcfilecopy() makes it. */
static uint64_t srcfile__hashed(struct scene *s, uint64_t value, uint32_t size)
{
	uint64_t chains[64], table;

	for (uint32_t i = 0; i < size; i++)
		chains[i] = s->m.nil;
	/* R_Newhashpjw("filename") is 0x2c42e5 */
	chains[0x2c42e5 % size] = image__cell(&s->m, 2, value, s->m.nil, s->filename);
	table = image__vector(&s->m, R_VECSXP, size, chains, 8 * size);
	return image__cell(&s->m, R_ENVSXP, s->m.nil, s->m.nil, table);
}

static uint64_t srcref(struct scene *s, uint64_t srcfile, int32_t line)
{
	const int32_t place[8] = {line, 1, line, 9, 1, 9, line, line};
	uint64_t ref = image__vector(&s->m, R_INTSXP, 8, place, sizeof(place));
	uint64_t list = image__cell(&s->m, 2, srcfile, s->m.nil, s->srcfile);

	list = image__cell(&s->m, 2, image__string(&s->m, "srcref"), list, s->class);
	image__put64(&s->m, ref + 8, list);
	return ref;
}

/*
 * Byte code of 8 units: the first four are of @a, the others of @b; 0: of none.  @behind: how many
 * constants follow the table.
 */
static uint64_t bytecode(struct scene *s, uint64_t a, uint64_t b, int behind)
{
	const int32_t code[16] = {12};
	int32_t table[8];
	uint64_t consts[8], index, n = 0;

	consts[n++] = image__symbol(&s->m, "expression");
	consts[n++] = a ? a : s->m.nil;
	consts[n++] = b ? b : s->m.nil;
	for (int i = 0; i < 8; i++)
		table[i] = i < 4 ? (a ? 1 : -1) : (b ? 2 : -1);
	index = image__vector(&s->m, R_INTSXP, 8, table, sizeof(table));
	image__put64(
		&s->m, index + 8,
		image__cell(&s->m, 2, image__string(&s->m, "srcrefsIndex"), s->m.nil, s->class));
	consts[n++] = index;
	while (behind--)
		consts[n++] = s->m.nil;
	return image__cell(&s->m, R_BCODESXP,
			   image__vector(&s->m, R_INTSXP, 16, code, sizeof(code)),
			   image__vector(&s->m, R_VECSXP, n, consts, 8 * n), s->m.nil);
}

/* A variable that holds the address of unit @unit of @body's code, as R_BCpc points at one. */
static uint64_t pc(struct scene *s, uint64_t body, uint64_t unit)
{
	uint64_t code, at = image__alloc(&s->m, 8);

	memcpy(&code, image__at(&s->m, body + 8 * R_CAR, 8), 8);
	image__put64(&s->m, at, code + s->m.layout.vector_data + 8 * unit);
	return at;
}

/* Push a call of @name made from @ref; or from byte code @body at @unit. */
static uint64_t push(struct scene *s, const char *name, uint64_t ref)
{
	uint64_t call = image__call(&s->m, image__symbol(&s->m, name), 0, 0);
	uint64_t at = image__push(&s->m, R_CTXT_FUNCTION, call, 0);

	image__put64(&s->m, at + s->m.layout.srcref, ref);
	return at;
}

static uint64_t push_bc(struct scene *s, const char *name, uint64_t body, uint64_t unit)
{
	const struct xr_layout *l = &s->m.layout;
	uint64_t at = push(s, name, s->row.in_bc);

	image__put64(&s->m, at + l->bcbody, body);
	image__put64(&s->m, at + l->bcpc, pc(s, body, unit));
	return at;
}

static void innermost_bc(struct scene *s, uint64_t body, uint64_t unit)
{
	image__put64(&s->m, s->row.srcref_at, s->row.in_bc);
	image__put64(&s->m, s->row.bc_body_at, body);
	image__put64(&s->m, s->row.bc_pc_at, pc(s, body, unit));
}

static int run__walk(struct run *r)
{
	int result;

	r->nslots = 0;
	result = walk__begin(&r->walk);
	if (!result && r->walk.row.flags & XR_ROW_LINES)
		result = lines__innermost(&r->walk);
	r->file = r->walk.file;
	r->line = r->walk.line;
	while (!result)
		result = walk__step(&r->walk);
	return result;
}

static const char *run__name(const struct run *r, uint64_t id)
{
	for (uint32_t i = 0; i < r->ntexts; i++)
		if (r->texts[i].id == id)
			return r->texts[i].text;
	return "?";
}

static void run__place(const struct run *r, uint64_t file, uint32_t line, char *out, size_t size)
{
	size_t len = strlen(out);

	if (file)
		snprintf(out + len, size - len, "%s#%d ", run__name(r, file), (int32_t)line);
}

/* The sample as Rprof() writes it, but with the names of files. */
static void run__line(const struct run *r, char *out, size_t size)
{
	uint32_t step = r->walk.row.flags & XR_ROW_LINES ? 2 : 1;

	out[0] = '\0';
	run__place(r, r->file, r->line, out, size);
	for (uint32_t i = 0; i < r->nslots; i += step) {
		size_t len = strlen(out);

		snprintf(out + len, size - len, "%s ",
			 run__name(r, r->slots[i].word & XR_WORD_MASK));
		if (step == 2)
			run__place(r, r->slots[i + 1].word, (uint32_t)r->slots[i + 1].more, out,
				   size);
	}
}

static void check_row(struct scene *s, const struct xr_row *row, const char *wanted,
		      const char *what)
{
	struct run *r = calloc(1, sizeof(*r));
	char line[512];
	int result;

	if (!r)
		tap__bail("out of memory");
	r->image = &s->m;
	r->walk.row = *row;
	for (int i = 0; i < 2; i++) { /* what is remembered must not stay */
		result = run__walk(r);
		run__line(r, line, sizeof(line));
		if (result != WALK_DONE || strcmp(line, wanted))
			break;
	}
	if (!tap__ok(result == WALK_DONE && !strcmp(line, wanted), "%s", what))
		tap__diag("result %d, got %s", result, line);
	free(r);
}

static void check(struct scene *s, const char *wanted, const char *what)
{
	check_row(s, &s->row, wanted, what);
}

static void test_layouts(void)
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

static const struct xr_layout *layout_now(void)
{
	return layouts__last(LAYOUTS_X86_64_LINUX);
}

/* What a srcref or a srcfile may be instead: then there is no location. */
static void test_srcfiles(void)
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

static void test_bytecode(void)
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
static void test_faults(void)
{
	static const char right[] = "b.R#2 compiled a.R#1 inner b.R#9 outer ";
	uint64_t a, b, body, reads, errors = 0;
	struct run *r = calloc(1, sizeof(*r));
	bool ok = true;
	struct scene s;
	char line[512];

	if (!r)
		tap__bail("out of memory");
	scene__init(&s, layout_now());
	a = srcfile__list(&s, image__string(&s.m, "a.R"));
	b = srcfile__hashed(&s, image__string(&s.m, "b.R"), 29);
	body = bytecode(&s, srcref(&s, a, 1), srcref(&s, b, 2), 1);
	push(&s, "outer", 0);
	push(&s, "inner", srcref(&s, b, 9));
	push_bc(&s, "compiled", body, 1);
	innermost_bc(&s, body, 6);
	check(&s, right, "what is to be damaged");
	r->image = &s.m;
	r->walk.row = s.row;
	s.m.reads = 0;
	run__walk(r);
	reads = s.m.reads;
	for (uint64_t n = 1; n <= reads; n++) {
		int result;

		memset(r, 0, sizeof(*r));
		r->image = &s.m;
		r->walk.row = s.row;
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
static void test_generations(void)
{
	uint64_t file, ref, body, count_at, reads, all;
	struct run *r = calloc(1, sizeof(*r));
	struct scene s;
	char line[512];

	if (!r)
		tap__bail("out of memory");
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
	r->image = &s.m;
	r->walk.row = s.row;
	r->walk.row.gc_count_at = count_at;

	/* the srcref is another one now: as after it was freed */
	run__walk(r);
	image__put32(&s.m, ref + s.m.layout.vector_data, 2);
	s.m.reads = 0;
	run__walk(r);
	all = s.m.reads;
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#2 g a.R#5 ", 14), "R may run meanwhile: nothing is remembered");

	r->walk.steady = 1;
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
	r->walk.row.serial++;
	run__walk(r);
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#8 g a.R#5 ", 14), "nor for another process");
	image__put32(&s.m, ref + s.m.layout.vector_data, 9);
	r->walk.row.gc_count_at = 0;
	run__walk(r);
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#9 g a.R#5 ", 14), "nor where the count is not known");
	r->walk.row.gc_count_at = 0x123;
	run__walk(r);
	image__put32(&s.m, ref + s.m.layout.vector_data, 10);
	run__walk(r);
	run__line(r, line, sizeof(line));
	tap__ok(!strncmp(line, "a.R#10 g a.R#5 ", 15), "nor where it cannot be read");
	free(r);
	scene__free(&s);
}

/* Contexts with chosen environments: E(0) is the global environment. */
#define E(n) (IMAGE_ENV + 0x10000ull * (n))

static uint64_t push_env(struct scene *s, const char *name, uint32_t flag, uint64_t cloenv,
			 uint64_t sysparent, uint64_t callfun)
{
	const struct xr_layout *l = &s->m.layout;
	uint64_t call = image__call(&s->m, image__symbol(&s->m, name), 0, 0);
	uint64_t at = image__push(&s->m, flag, call, 0);

	image__put64(&s->m, at + l->cloenv, cloenv);
	image__put64(&s->m, at + l->sysparent, sysparent);
	image__put64(&s->m, at + l->callfun, callfun);
	return at;
}

static void test_filter(void)
{
	const uint32_t F = R_CTXT_FUNCTION;
	const uint64_t evalfun = 0x5000;
	struct scene s;

	scene__init(&s, layout_now());
	s.row.flags = XR_ROW_FILTER;
	s.row.eval_fun = evalfun;
	check(&s, "", "nothing is being called");

	/* f calls g(h()): h is a promise, evaluated in f's frame when g asks for it */
	push_env(&s, "f", F, E(1), E(0), 1);
	push_env(&s, "g", F, E(2), E(1), 2);
	push_env(&s, "h", F, E(3), E(1), 3);
	check(&s, "h f ", "a promise hides the function that asked for it");
	s.row.flags = 0;
	check(&s, "h g f ", "but not without the filter");
	s.row.flags = XR_ROW_FILTER;

	/* eval(quote(k()), E(2)) called by h: k's caller is the frame of g, not of eval */
	push_env(&s, "eval", F, E(4), E(3), 4);
	push_env(&s, "eval", F, E(2), E(3), evalfun);
	push_env(&s, "k", F, E(5), E(2), 5);
	check(&s, "k g f ", "eval() in the frame of another function");
	push_env(&s, "eval", F, E(5), E(5), evalfun);
	push_env(&s, "m", F, E(6), E(5), 6);
	check(&s, "m k g f ", "eval() in its own frame");
	s.row.eval_fun = 0;
	check(&s, "m eval k eval h f ", "where eval() is not known it is told");
	s.row.eval_fun = evalfun;

	/* called from the global environment: the outermost function is all that is left */
	push_env(&s, "top", F, E(7), E(0), 7);
	check(&s, "top f ", "called from top level, deep inside");
	/* a loop's context is not told, but it is where the walk begins */
	push_env(&s, "for", 1, E(0), IMAGE_ENV - 8, 0);
	check(&s, "f ", "a loop");
	/* R_ToplevelExec(): what is outside of it is not gone through */
	push_env(&s, "", 0, 0, 0, 0);
	check(&s, "", "a new top level");
	push_env(&s, "callback", F, E(8), E(0), 8);
	push_env(&s, "inside", F, E(9), E(8), 9);
	check(&s, "inside callback ", "functions below a new top level");
	scene__free(&s);
}

int main(void)
{
	test_layouts();
	test_srcfiles();
	test_bytecode();
	test_faults();
	test_generations();
	test_filter();
	return tap__done();
}
