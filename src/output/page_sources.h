/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sources that a profile's frames name, as texts: those that are there when the profile is
 * written, that look like source by their names, and that whoever named them may read
 * (os/texts.h).
 */
#ifndef XR_OUTPUT_PAGE_SOURCES_H
#define XR_OUTPUT_PAGE_SOURCES_H

#include "base/buf.h"
#include "base/map.h"
#include "profile/aggregate.h"

struct source;

/* Starts as { 0 }; freed by sources__free. */
struct sources {
	struct map seen; /* (file, who) */
	struct source *list;
	size_t n, cap;
};

/* sources__add - those that the frames of @stack are in, named by process @p.  -ENOMEM. */
int sources__add(struct sources *s, const struct aggregate_process *p, const struct stack *stack);

/* sources__read - @got: is given each text; @file: as it was named.  0, or a negative errno. */
int sources__read(struct sources *s,
		  void (*got)(void *arg, const struct name *file, const char *text), void *arg);

void sources__free(struct sources *s);

#endif
