/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * R's memory as an image in ours, for tests of the walk: a heap and a C stack at made-up addresses,
 * with symbols, calls, vectors and contexts laid out as some R release lays them out.  Every
 * read of it is counted, and one can be made to fail.
 *
 * Facts: Rinternals.h and Defn.h, R 3.0 to 4.6; offsets from layouts.c.
 */
#ifndef R_IMAGE_H
#define R_IMAGE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "sexp.h"

#define IMAGE_HEAP_AT  0x555500000000ull
#define IMAGE_STACK_AT 0x7ffc00000000ull
#define IMAGE_ENV      0x600000000000ull /* environments are addresses only */

struct image {
	struct xr_layout layout;
	uint8_t *heap, *stack;
	size_t heap_size, heap_used;
	size_t stack_size, stack_used; /* grows down from its end */
	uint64_t head_at, gc_at;
	uint64_t nil, colon2, colon3, dollar, item;
	uint64_t envs;
	uint64_t reads;
	uint64_t fail_at; /* number of the read that fails, from 1; 0: none */
};

/* Where @len bytes at @addr are, or NULL. */
static inline uint8_t *image__at(struct image *m, uint64_t addr, size_t len)
{
	if (addr >= IMAGE_HEAP_AT && addr - IMAGE_HEAP_AT < m->heap_size &&
	    len <= m->heap_size - (addr - IMAGE_HEAP_AT))
		return m->heap + (addr - IMAGE_HEAP_AT);
	if (addr >= IMAGE_STACK_AT && addr - IMAGE_STACK_AT < m->stack_size &&
	    len <= m->stack_size - (addr - IMAGE_STACK_AT))
		return m->stack + (addr - IMAGE_STACK_AT);
	return NULL;
}

/* What the walk's hook calls.  Negative: not mapped, or made to fail. */
static inline int image__read(struct image *m, void *to, size_t len, uint64_t addr)
{
	const uint8_t *from = image__at(m, addr, len);

	m->reads++;
	if (!from || m->reads == m->fail_at)
		return -1;
	memcpy(to, from, len);
	return 0;
}

/* Where the @len bytes at @addr are, which must be there. */
static inline uint8_t *image__must(struct image *m, uint64_t addr, size_t len)
{
	uint8_t *at = image__at(m, addr, len);

	if (!at)
		abort();
	return at;
}

static inline void image__put64(struct image *m, uint64_t addr, uint64_t value)
{
	memcpy(image__must(m, addr, 8), &value, 8);
}

static inline uint64_t image__get64(struct image *m, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, image__must(m, addr, 8), 8);
	return value;
}

static inline void image__put32(struct image *m, uint64_t addr, uint32_t value)
{
	memcpy(image__must(m, addr, 4), &value, 4);
}

/* @bytes of the heap, zeroed; a cell can be read at any of them. */
static inline uint64_t image__alloc(struct image *m, size_t bytes)
{
	uint64_t at = IMAGE_HEAP_AT + m->heap_used;

	bytes = (bytes < 64 ? 64 : bytes + 15) & ~(size_t)15;
	if (m->heap_used + bytes > m->heap_size)
		abort();
	m->heap_used += bytes;
	return at;
}

static inline uint64_t image__cell(struct image *m, uint32_t type, uint64_t car, uint64_t cdr,
				   uint64_t tag)
{
	uint64_t at = image__alloc(m, R_CELL_BYTES);

	image__put64(m, at, type);
	image__put64(m, at + 8, m->nil);
	image__put64(m, at + 8 * R_CAR, car);
	image__put64(m, at + 8 * R_CDR, cdr);
	image__put64(m, at + 8 * R_TAG, tag);
	return at;
}

/* Give the object at @at one more attribute, before the others. */
static inline void image__attribute(struct image *m, uint64_t at, uint64_t tag, uint64_t value)
{
	image__put64(m, at + 8, image__cell(m, 2, value, image__get64(m, at + 8), tag));
}

/* A vector of @length elements that take @bytes. */
static inline uint64_t image__vector(struct image *m, uint32_t type, uint64_t length,
				     const void *data, size_t bytes)
{
	uint64_t at = image__alloc(m, m->layout.vector_data + bytes);

	image__put64(m, at, type);
	image__put64(m, at + 8, m->nil);
	/* before 3.5 length and truelength are two ints in one word */
	image__put64(m, at + 8 * R_CAR,
		     m->layout.vector_data < 48 ? length | length << 32 : length);
	memcpy(image__at(m, at + m->layout.vector_data, bytes), data, bytes);
	return at;
}

static inline uint64_t image__charsxp(struct image *m, const char *text)
{
	return image__vector(m, R_CHARSXP, strlen(text), text, strlen(text) + 1);
}

static inline uint64_t image__symbol(struct image *m, const char *name)
{
	uint64_t printname = image__charsxp(m, name);

	return image__cell(m, R_SYMSXP, printname, 0, m->nil);
}

static inline uint64_t image__string(struct image *m, const char *text)
{
	uint64_t element = image__charsxp(m, text);

	return image__vector(m, R_STRSXP, 1, &element, 8);
}

static inline uint64_t image__int(struct image *m, int32_t value)
{
	return image__vector(m, R_INTSXP, 1, &value, 4);
}

static inline uint64_t image__real(struct image *m, double value)
{
	return image__vector(m, R_REALSXP, 1, &value, 8);
}

/* The call @fun(@a, @b); an argument of 0: there is none. */
static inline uint64_t image__call(struct image *m, uint64_t fun, uint64_t a, uint64_t b)
{
	uint64_t args = m->nil;

	if (b)
		args = image__cell(m, 2, b, args, m->nil);
	if (a)
		args = image__cell(m, 2, a, args, m->nil);
	return image__cell(m, R_LANGSXP, fun, args, m->nil);
}

/* Room for a context on the C stack, or (@heap) on the node stack of R 4.4 and later. */
static inline uint64_t image__room(struct image *m, int heap)
{
	if (heap)
		return image__alloc(m, XR_CONTEXT_MAX);
	m->stack_used += XR_CONTEXT_MAX + 64;
	if (m->stack_used > m->stack_size)
		abort();
	return IMAGE_STACK_AT + m->stack_size - m->stack_used;
}

/* Fill the context at @at, as begincontext() does, with a new environment. */
static inline void image__context(struct image *m, uint64_t at, uint64_t next, uint32_t flag,
				  uint64_t call)
{
	memset(image__at(m, at, XR_CONTEXT_MAX), 0, XR_CONTEXT_MAX);
	image__put64(m, at + m->layout.nextcontext, next);
	image__put32(m, at + m->layout.callflag, flag);
	image__put64(m, at + m->layout.call, call);
	image__put64(m, at + m->layout.sysparent, IMAGE_ENV);
	image__put64(m, at + m->layout.cloenv,
		     flag & R_CTXT_FUNCTION ? IMAGE_ENV + 56 * ++m->envs : IMAGE_ENV);
}

/* Push a context and make it the innermost; @flag 0, @next 0: the toplevel one. */
static inline uint64_t image__push(struct image *m, uint32_t flag, uint64_t call, int heap)
{
	uint64_t at = image__room(m, heap);

	image__context(m, at, image__get64(m, m->head_at), flag, call);
	image__put64(m, m->head_at, at);
	return at;
}

/* An image without contexts; freed by image__free. */
static inline void image__init(struct image *m, const struct xr_layout *layout, size_t heap,
			       size_t stack)
{
	memset(m, 0, sizeof(*m));
	m->layout = *layout;
	m->heap_size = heap;
	m->stack_size = stack;
	m->heap = calloc(1, heap);
	m->stack = calloc(1, stack);
	if (!m->heap || !m->stack)
		abort();
	m->nil = image__alloc(m, R_CELL_BYTES);
	image__put64(m, m->nil + 8, m->nil);
	for (int word = R_CAR; word <= R_TAG; word++)
		image__put64(m, m->nil + 8 * (uint64_t)word, m->nil);
	m->head_at = image__alloc(m, 8);
	m->gc_at = image__alloc(m, 4);
	m->colon2 = image__symbol(m, "::");
	m->colon3 = image__symbol(m, ":::");
	m->dollar = image__symbol(m, "$");
	m->item = image__symbol(m, "[[");
}

/* The same with a small context, for what reads calls and values. */
static inline void image__init_plain(struct image *m, size_t heap, size_t stack)
{
	static const struct xr_layout layout = {.vector_data = 48,
						.has_altrep = 1,
						.read_plain = 64,
						.call = 16,
						.cloenv = 24,
						.nextcontext = 0,
						.callflag = 8,
						.sysparent = 32};

	image__init(m, &layout, heap, stack);
}

static inline void image__free(struct image *m)
{
	free(m->heap);
	free(m->stack);
}

/* The row a profiler would have of it. */
static inline struct xr_row image__row(const struct image *m)
{
	return (struct xr_row){
		.head_at = m->head_at,
		.nil = m->nil,
		.sym_colon2 = m->colon2,
		.sym_colon3 = m->colon3,
		.sym_dollar = m->dollar,
		.sym_item = m->item,
		.gc_at = m->gc_at,
		.gc_size = 4,
		.serial = 1,
		.pid = 4711,
		.layout = m->layout,
	};
}

/* --- a stack with every form of name --- */

struct image_form {
	const char *name; /* NULL: no frame */
	uint32_t flag;
};

/* Innermost last, as they are pushed. */
static const struct image_form image_forms[] = {
	{"plain", 4},
	{"pkg::exported", 12},
	{"pkg:::hidden", 12},
	{"obj$method", 4},
	{"lst[[sym]]", 4},
	{"lst[[\"key\"]]", 4},
	{"lst[[-3]]", 4},
	{"lst[[7]]", 4},
	{"<Anonymous>", 12},
	{"<Anonymous>", 4},
	{"<Anonymous>", 4},
	{"<Anonymous>", 4},
	{NULL, 3},
	{NULL, 32},
	{NULL, 128},
	{"routine", 64},
	{"<Anonymous>", 4},
	{"<Anonymous>", 4},
	{NULL, 4},
	{"plain", 20},
	{"<Anonymous>", 4},
};
#define IMAGE_FORMS (sizeof(image_forms) / sizeof(image_forms[0]))

/* Build it, with a toplevel context outside.  With @heap every other context is on the heap. */
static inline void image__forms(struct image *m, int heap)
{
	uint64_t plain = image__symbol(m, "plain"), pkg = image__symbol(m, "pkg");
	uint64_t obj = image__symbol(m, "obj"), lst = image__symbol(m, "lst");
	uint64_t exported = image__symbol(m, "exported"), hidden = image__symbol(m, "hidden");
	uint64_t method = image__symbol(m, "method"), sym = image__symbol(m, "sym");
	uint64_t closure = image__cell(m, R_CLOSXP, m->nil, m->nil, m->nil);
	uint64_t empty = image__vector(m, R_STRSXP, 0, "", 0);
	uint64_t parens = image__call(m, plain, 0, 0);
	uint64_t funs[IMAGE_FORMS] = {
		plain,
		image__call(m, m->colon2, pkg, exported),
		image__call(m, m->colon3, pkg, hidden),
		image__call(m, m->dollar, obj, method),
		image__call(m, m->item, lst, sym),
		image__call(m, m->item, lst, image__string(m, "key")),
		image__call(m, m->item, lst, image__int(m, -3)),
		image__call(m, m->item, lst, image__real(m, 7)),
		closure,			     /* the function itself: lapply, do.call */
		parens,				     /* f()() */
		image__call(m, m->item, lst, empty), /* nothing in the brackets */
		image__call(m, m->dollar, parens, method), /* f()$m() */
		0,
		0,
		0,
		image__symbol(m, "routine"),
		image__call(m, m->colon2, pkg, image__string(m, "exported")), /* pkg::"f" */
		image__call(m, m->item, lst, m->nil),
		0, /* not a call */
		plain,
		image__call(m, m->item, 0, 0), /* an argument too few */
	};

	image__push(m, 0, m->nil, 0);
	for (size_t i = 0; i < IMAGE_FORMS; i++)
		image__push(m, image_forms[i].flag,
			    funs[i] ? image__call(m, funs[i], lst, 0) : m->nil, heap && (i & 1));
}

#endif
