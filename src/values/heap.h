/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * R's objects in the memory of a process: one object, a vector's elements, a name.  Nothing is
 * evaluated, and nothing is believed: every read may fail, and all reads of one heap are counted.
 *
 * Facts: Rinternals.h and Defn.h of R 3.0 to 4.6 (struct sxpinfo_struct, SEXPREC,
 * VECTOR_SEXPREC), altclasses.c (compact sequences, wrappers, deferred strings).
 */
#ifndef XR_VALUES_HEAP_H
#define XR_VALUES_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem_reader.h"
#include "layout.h"

/* SEXPTYPE, Rinternals.h; those that sexp.h has not. */
enum heap_type {
	HEAP_NIL = 0,
	HEAP_SYMBOL = 1,
	HEAP_PAIRLIST = 2,
	HEAP_CLOSURE = 3,
	HEAP_ENVIRONMENT = 4,
	HEAP_PROMISE = 5,
	HEAP_CALL = 6,
	HEAP_SPECIAL = 7,
	HEAP_BUILTIN = 8,
	HEAP_CHAR = 9,
	HEAP_LOGICAL = 10,
	HEAP_INTEGER = 13,
	HEAP_REAL = 14,
	HEAP_COMPLEX = 15,
	HEAP_STRING = 16,
	HEAP_DOTS = 17,
	HEAP_LIST = 19,
	HEAP_EXPRESSION = 20,
	HEAP_BYTECODE = 21,
	HEAP_POINTER = 22,
	HEAP_WEAK = 23,
	HEAP_RAW = 24,
	HEAP_S4 = 25,
};

#define HEAP_NA_INTEGER INT32_MIN

struct heap {
	const struct mem_reader *reader;
	uint64_t nil;	      /* R_NilValue */
	uint32_t vector_data; /* offset of a vector's elements */
	bool altrep;	      /* R 3.5 or later */
	uint32_t left;	      /* reads that may still be made */
	uint64_t fun_tab;     /* R_FunTab; 0: not known */
	int err;	      /* of the last read that failed; 0: none did */
};

/* One object.  The three words depend on its type: CAR, CDR and TAG of a cell, and so on. */
struct object {
	uint64_t at;
	unsigned int type; /* enum heap_type */
	bool has_class;	   /* its bit OBJECT */
	bool alt;	   /* an ALTREP object */
	uint16_t gp;	   /* its general-purpose bits */
	uint32_t extra;	   /* of a binding or a promise: the type of the value in it, or 0 */
	uint64_t attributes;
	uint64_t word[3];
	uint64_t length; /* of a vector that is not an ALTREP object */
};

/* heap__init - for the process of @row, at most @reads reads.  @reader is borrowed. */
void heap__init(struct heap *h, const struct mem_reader *reader, const struct xr_row *row,
		uint32_t reads);

/* heap__read - @len bytes at @at.  Whether they were read, and a read was left. */
bool heap__read(struct heap *h, uint64_t at, void *to, size_t len);

/* heap__is_vector - has an object of this type elements that R code can get? */
bool heap__is_vector(unsigned int type);

/* heap__object - the object at @at; R's NULL for nil.  Whether it could be read. */
bool heap__object(struct heap *h, uint64_t at, struct object *o);

/*
 * heap__text - append the characters of the CHARSXP at @at as UTF-8, at most @max bytes of it.  1:
 * it is NA_character_, and nothing was appended; 0; -EFAULT: it is not a CHARSXP, or cannot be
 * read; -ENOMEM.
 */
int heap__text(struct heap *h, uint64_t at, struct buf *b, size_t max);

/* heap__name - append the name of the symbol at @at, as heap__text. */
int heap__name(struct heap *h, uint64_t at, struct buf *b, size_t max);

/* heap__is - is the symbol at @at called @name? */
bool heap__is(struct heap *h, uint64_t at, const char *name);

/* heap__attribute - the value of @o's attribute @name, or nil. */
uint64_t heap__attribute(struct heap *h, const struct object *o, const char *name);

/* heap__count - cells of the pairlist at @at, at most @max. */
uint32_t heap__count(struct heap *h, uint64_t at, uint32_t max);

/*
 * heap__plain - what an ALTREP object stands for.  Wrappers and what was expanded already become
 * the vector behind them.  A compact sequence stays, its @o->length is right, and heap__integer and
 * heap__real know it.  False: its elements cannot be known without R's code.
 */
bool heap__plain(struct heap *h, struct object *o);

/* The class of an ALTREP object, "compact_intseq"; "" if it cannot be read. */
void heap__alt_class(struct heap *h, const struct object *o, char name[32]);

/* heap__integer, heap__real, heap__complex, heap__word, heap__byte - element @i of a vector; false:
 * unreadable. */
bool heap__integer(struct heap *h, const struct object *o, uint64_t i, int32_t *value);
bool heap__real(struct heap *h, const struct object *o, uint64_t i, double *value);
bool heap__complex(struct heap *h, const struct object *o, uint64_t i, double parts[2]);
bool heap__word(struct heap *h, const struct object *o, uint64_t i, uint64_t *value);
bool heap__byte(struct heap *h, const struct object *o, uint64_t i, uint8_t *value);

#endif
