/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of deparse.h share: the state of writing one call.
 */
#ifndef XR_VALUES_DEPARSE_PARTS_H
#define XR_VALUES_DEPARSE_PARTS_H

#include "values/deparse.h"

struct deparse {
	struct heap *heap;
	struct buf *out;
	size_t start, max; /* where it began, and how many bytes there may be */
	unsigned int depth;
	bool in_argument; /* the next thing is an argument: `=` there is in parentheses */
	int err;
};

/* deparse__full - nothing more is written: the limit is reached, or memory is out. */
bool deparse__full(const struct deparse *d);

/* deparse__put - append @text as it is. */
void deparse__put(struct deparse *d, const char *text);

/* deparse__read - @err is what came of reading something and appending it. */
void deparse__read(struct deparse *d, int err);

/* deparse__symbol - append the name of the symbol at @at: as code, or as it is. */
void deparse__symbol(struct deparse *d, uint64_t at, bool as_code);

/* deparse__node - append the code of the object at @at. */
void deparse__node(struct deparse *d, uint64_t at);

/* deparse__vector - append the code that makes the vector @o, with its attributes. */
void deparse__vector(struct deparse *d, const struct object *o);

#endif
