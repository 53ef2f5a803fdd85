/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The variables of an environment.  No active binding is run, no promise is forced.
 */
#ifndef XR_VALUES_LOCALS_H
#define XR_VALUES_LOCALS_H

#include "values/value.h"

/* One variable; strings are the list's. */
struct local {
	char *name, *value; /* UTF-8 */
	struct value_kind kind;
};

struct locals {
	struct local *list; /* by name */
	size_t n, cap;
	bool more;    /* there are more than were asked for */
	bool damaged; /* not all could be read */
};

/*
 * locals__read - those of the environment at @env, at most @most, each with a value of at most
 * @max bytes.  -ENOMEM; what was read so far is to be freed, too.
 */
int locals__read(struct heap *h, uint64_t env, size_t most, size_t max, struct locals *out);
void locals__free(struct locals *v);

/*
 * locals__find - the value of the variable @name; of an argument, once it was evaluated.  False: it
 * has none, or it cannot be read.
 */
bool locals__find(struct heap *h, uint64_t env, const char *name, struct object *value);

#endif
