/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sources that a profile's frames name, as texts.  Only what R parsed is shown: the lines that
 * R keeps (profile/sources.h), or the file, if it was not changed since R read it, looks like
 * source by its name, and may be read by the user of the process that named it (os/texts.h).
 */
#ifndef XR_OUTPUT_PAGE_SOURCES_H
#define XR_OUTPUT_PAGE_SOURCES_H

#include "base/buf.h"
#include "base/map.h"
#include "profile/aggregate.h"
#include "profile/sources.h"

struct source;

/* Starts as { 0 }; freed by sources__free. */
struct sources {
	struct source_texts *texts; /* what R knew; NULL: nothing is known of any */
	struct map seen;	    /* (file, serial of a process) */
	struct source *list;
	size_t n, cap;
};

/* sources__add - those that the frames of @stack are in, named by process @p.  -ENOMEM. */
int sources__add(struct sources *s, const struct profile_process *p, const struct stack *stack);

/* Is given the text of @file, or NULL, and why there is none: a sentence. */
typedef void (*sources_got)(void *arg, const struct name *file, const char *text, const char *why);

/*
 * sources__read - @got is called once for each file; what has no text is noted in `texts`.  0, or a
 * negative errno.
 */
int sources__read(struct sources *s, sources_got got, void *arg);

void sources__free(struct sources *s);

#endif
