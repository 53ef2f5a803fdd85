/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Images of R's memory with what the walk needs for source locations: srcrefs, byte code, srcfiles.
 */
#ifndef XR_TEST_LINES_SCENE_H
#define XR_TEST_LINES_SCENE_H

#include "walk_image.h"

struct scene {
	struct image m;
	struct xr_row row;
	uint64_t srcfile, class, filename, other;
};

static inline void scene__init(struct scene *s, const struct xr_layout *layout)
{
	image__init(&s->m, layout, 1 << 20, 1 << 16);
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

static inline void scene__free(struct scene *s)
{
	image__free(&s->m);
}

/* A srcfile whose variables are a list, as srcfile() makes it; @value: of `filename`. */
static inline uint64_t srcfile__list(struct scene *s, uint64_t value)
{
	uint64_t list = image__cell(&s->m, 2, value, s->m.nil, s->filename);

	list = image__cell(&s->m, 2, image__int(&s->m, 1), list, s->other);
	return image__cell(&s->m, R_ENVSXP, list, s->m.nil, s->m.nil);
}

/* One with a hash table of @size chains, as srcfilecopy() makes it. */
static inline uint64_t srcfile__hashed(struct scene *s, uint64_t value, uint32_t size)
{
	uint64_t chains[64], table;

	for (uint32_t i = 0; i < size; i++)
		chains[i] = s->m.nil;
	/* R_Newhashpjw("filename") is 0x2c42e5 */
	chains[0x2c42e5 % size] = image__cell(&s->m, 2, value, s->m.nil, s->filename);
	table = image__vector(&s->m, R_VECSXP, size, chains, 8 * size);
	return image__cell(&s->m, R_ENVSXP, s->m.nil, s->m.nil, table);
}

static inline uint64_t srcref(struct scene *s, uint64_t srcfile, int32_t line)
{
	const int32_t place[8] = {line, 1, line, 9, 1, 9, line, line};
	uint64_t ref = image__vector(&s->m, R_INTSXP, 8, place, sizeof(place));

	image__attribute(&s->m, ref, s->srcfile, srcfile);
	image__attribute(&s->m, ref, s->class, image__string(&s->m, "srcref"));
	return ref;
}

/*
 * Byte code of 8 units: the first four are of @a, the others of @b; 0: of none.  @behind: how many
 * constants follow the table.
 */
static inline uint64_t bytecode(struct scene *s, uint64_t a, uint64_t b, int behind)
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
	image__attribute(&s->m, index, s->class, image__string(&s->m, "srcrefsIndex"));
	consts[n++] = index;
	while (behind--)
		consts[n++] = s->m.nil;
	return image__cell(&s->m, R_BCODESXP,
			   image__vector(&s->m, R_INTSXP, 16, code, sizeof(code)),
			   image__vector(&s->m, R_VECSXP, n, consts, 8 * n), s->m.nil);
}

/* A variable that holds the address of unit @unit of @body's code, as R_BCpc points at one. */
static inline uint64_t pc(struct scene *s, uint64_t body, uint64_t unit)
{
	uint64_t code, at = image__alloc(&s->m, 8);

	code = image__get64(&s->m, body + 8 * R_CAR);
	image__put64(&s->m, at, code + s->m.layout.vector_data + 8 * unit);
	return at;
}

/* Push a call of @name made from @ref; or from byte code @body at @unit. */
static inline uint64_t push(struct scene *s, const char *name, uint64_t ref)
{
	uint64_t call = image__call(&s->m, image__symbol(&s->m, name), 0, 0);
	uint64_t at = image__push(&s->m, R_CTXT_FUNCTION, call, 0);

	image__put64(&s->m, at + s->m.layout.srcref, ref);
	return at;
}

static inline uint64_t push_bc(struct scene *s, const char *name, uint64_t body, uint64_t unit)
{
	const struct xr_layout *l = &s->m.layout;
	uint64_t at = push(s, name, s->row.in_bc);

	image__put64(&s->m, at + l->bcbody, body);
	image__put64(&s->m, at + l->bcpc, pc(s, body, unit));
	return at;
}

static inline void innermost_bc(struct scene *s, uint64_t body, uint64_t unit)
{
	image__put64(&s->m, s->row.srcref_at, s->row.in_bc);
	image__put64(&s->m, s->row.bc_body_at, body);
	image__put64(&s->m, s->row.bc_pc_at, pc(s, body, unit));
}

/* A walk of @s. */
static inline struct recorded_walk *run__new(struct scene *s)
{
	struct recorded_walk *r = calloc(1, sizeof(*r));

	tap__bail_if(!r, "out of memory");
	r->read = run__read;
	r->arg = &s->m;
	r->walk.row = s->row;
	return r;
}

/* The first walk of @s, with its read number @n made to fail, from 1; 0: none. */
static inline struct recorded_walk *run__failing(struct scene *s, uint64_t n, int *result)
{
	struct recorded_walk *r = run__new(s);

	s->m.reads = 0;
	s->m.fail_at = n;
	*result = recorded_walk__again(r);
	s->m.fail_at = 0;
	return r;
}

static inline void check_row(struct scene *s, const struct xr_row *row, const char *wanted,
			     const char *what)
{
	struct recorded_walk *r = run__new(s);
	/* the scenes whose row does not lead to byte code run it */
	bool unproven = (row->flags & (XR_ROW_LINES | XR_ROW_BC)) == XR_ROW_LINES;
	const char *line;

	r->walk.row = *row;
	line = run__says(r);
	if (!strcmp(line, wanted)) /* what is remembered must not stay */
		line = run__says(r);
	tap__is(r->walk.unproven == unproven ? line : "(byte code proven or not)", wanted, "%s",
		what);
	run__free(r);
}

static inline void check(struct scene *s, const char *wanted, const char *what)
{
	check_row(s, &s->row, wanted, what);
}

/* The same, with @value at @at from now on. */
static inline void check_put(struct scene *s, uint64_t at, uint64_t value, const char *wanted,
			     const char *what)
{
	image__put64(&s->m, at, value);
	check(s, wanted, what);
}

#endif
