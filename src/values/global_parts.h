/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What globals.c asks of global_objects.c. */
#ifndef XR_VALUES_GLOBAL_PARTS_H
#define XR_VALUES_GLOBAL_PARTS_H

#include "base/page_cache.h"
#include "values/globals.h"

#define NONE  UINT32_MAX
#define CLOSE UINT64_MAX       /* of what is pending: the end of the newest name */
#define WHOLE (UINT64_MAX - 1) /* an object that was not looked at yet */

/* Which of the objects in 512 bytes were seen, a bit for every 8 bytes; 0: this place is free. */
struct seen {
	uint64_t block, bits;
};

/* An object that may get a row, or leads to one that may. */
struct node {
	uint64_t at, name; /* the object; a symbol, or an element's number */
	uint64_t list;	   /* that it is an element of; 0: it is a variable */
	uint64_t bytes;	   /* without its children's, until the end */
	uint64_t shown;	   /* of its children: those that hold a fifth or more */
	uint64_t length;
	char *root; /* a path; NULL: it has a parent */
	uint32_t parent;
	uint8_t type;
	bool has_class, wraps; /* wraps: the environment of its parent */
};

/* An object with a name, whose parts are pending. */
struct named {
	uint64_t at, name, list, bytes, length;
	uint32_t node;
	uint8_t type;
	bool has_class;
};

struct pending {
	uint64_t at, next; /* next: CLOSE, WHOLE, or an element of the vector */
};

struct queued {
	uint64_t at;
	uint32_t node;
};

struct gather {
	struct heap h;
	struct page_cache cache;
	const struct globals_limits *limits;
	struct globals *out;
	struct seen *seen;
	size_t seen_cap, nblocks, nseen;
	struct node *nodes;
	struct named *names;
	struct pending *pending;
	struct queued *queue;
	size_t nnodes, nodes_cap, nnames, names_cap, npending, pending_cap, nqueue, queue_cap;
	uint32_t env; /* the node whose variables are walked */
	uint32_t registry, base;
	uint64_t steps, until;
	int err;
};

/* Is this the first time?  False without memory, too: then err is set. */
bool gather__first(struct gather *w, uint64_t at);
/* May it go on?  No after an error and at a limit. */
bool gather__goes(struct gather *w);
/* A new node; without room its parent. */
uint32_t gather__node(struct gather *w, const struct node *n);
/* @at is pending: @next is CLOSE, WHOLE, or an element. */
void gather__push(struct gather *w, uint64_t at, uint64_t next);
/* @o, behind @at, is @name: the variable of this symbol, or element of @list. */
void gather__open(struct gather *w, uint64_t at, const struct object *o, uint64_t name,
		  uint64_t list);
/* Count @o, without its parts.  False: it was counted before, or there is nothing in it. */
bool gather__count(struct gather *w, struct object *o);
/* Until nothing is pending. */
void gather__run(struct gather *w);

#endif
