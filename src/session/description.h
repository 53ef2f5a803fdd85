/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is said of a process (target/describe.h), as long as somebody has it: a child that was
 * forked says what its parent says.
 */
#ifndef XR_SESSION_DESCRIPTION_H
#define XR_SESSION_DESCRIPTION_H

#include "profile/profile.h"
#include "target/describe.h"

struct description {
	unsigned int holders;
	const char *command; /* "": not known */
	struct profile_label labels[DESCRIBE_LABELS + 1];
	size_t nlabels;
	char text[]; /* of all these */
};

/*
 * description__new - of what describe__make made, the first @size bytes of @text, whatever they
 * are: they come from who looked at a stranger.  Held once; NULL: out of memory.
 */
struct description *description__new(const char *text, size_t size);

/* description__hold - one more has it.  NULL is allowed. */
struct description *description__hold(struct description *d);

/* description__drop - one less; the last frees it.  NULL is allowed. */
void description__drop(struct description *d);

#endif
