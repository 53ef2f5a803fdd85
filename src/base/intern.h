/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interned names: in one table equal texts are one name at one address, until the table is freed.
 * What must be escaped in it is escaped once, when it comes.  An empty text is escaped as "``": R
 * has no function without a name, but what pretends to be R may, and a frame must be seen.
 */
#ifndef XR_BASE_INTERN_H
#define XR_BASE_INTERN_H

#include "base/arena.h"
#include "base/table.h"

struct name {
	uint64_t hash;	   /* map__hash_text(): the same in all tables */
	const char *safe;  /* escape__text() with `"`; it is `text` if nothing had to be done */
	const char *field; /* the same with `"` and `;`, which may be either of these */
	uint32_t len, safe_len, field_len; /* bytes, terminators not counted */
	bool cut;			   /* it is longer than LIMIT_NAME, escaped */
	char text[];			   /* as it came: any bytes but NUL, terminated */
};

/* Starts as { 0 }; intern__init gives it a budget (NULL: no limit). */
struct intern {
	struct table table;
	struct arena arena;
};

void intern__init(struct intern *t, struct budget *budget);

/*
 * intern__get - the one name of the @len bytes at @text, which end early at a NUL.  NULL: there is
 * no memory, or no more in the budget: a hostile target can make up new names without end.
 */
const struct name *intern__get(struct intern *t, const char *text, size_t len);

void intern__free(struct intern *t);

#endif
