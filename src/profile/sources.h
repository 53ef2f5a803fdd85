/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sources of a profile's code, as R knew them when it ran: by process, and by the name that
 * places have (struct place).
 */
#ifndef XR_PROFILE_SOURCES_H
#define XR_PROFILE_SOURCES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/table.h"

/*
 * One source, borrowed.  `text`: what R parsed; else `path`: the file, absolute, if it was last
 * changed at `time` (seconds since 1970, as R read them); else `err`: why neither is known.
 */
struct profile_source {
	const char *file, *text, *path;
	double time;
	int err;
};

struct source_text {
	uint64_t hash;
	uint32_t serial;
	bool several; /* R parsed different ones of that name */
	struct profile_source source;
};

/* Starts as { 0 }. */
struct source_texts {
	struct table table;
	struct arena arena;
	size_t bytes; /* of texts */
	/* of a page that was made: files without a text, and a line about one of them */
	uint32_t without;
	char why[512];
};

/* source_texts__add - @source is copied; what is too much (base/limits.h) has no text.  -ENOMEM. */
int source_texts__add(struct source_texts *t, uint32_t serial, const struct profile_source *source);

/* source_texts__find - NULL: nothing is known of it. */
const struct source_text *source_texts__find(const struct source_texts *t, uint32_t serial,
					     const char *file);

/* source__same - are these the same text, as far as both are known? */
bool source__same(const struct profile_source *a, const struct profile_source *b);

void source_texts__free(struct source_texts *t);

#endif
