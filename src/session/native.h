/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Native code of the processes of a session: what each has mapped is asked (ask.h), and the sampler
 * gets it (space.h).  The sampler reports code that it does not know, and the process is
 * asked again.
 *
 * Nothing here makes a sample wait: until the space of a process is known its samples have no
 * native frames further out than the first.
 */
#ifndef XR_SESSION_NATIVE_H
#define XR_SESSION_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "native/modules.h"
#include "native/slabs.h"
#include "session/notes.h"
#include "target/ask.h"

/* What a process, and those it forked, have mapped. */
struct space {
	struct space *next; /* in natives.left */
	uint64_t left_at;   /* ns; since when it is there */
	uint32_t refs;
	uint32_t stamp; /* 0: it is in no slab */
	struct extent extent;
	uint32_t nmaps;
	struct space_map {
		uint64_t start, end, offset;
		struct module *module;
	} maps[];
};

/* Of one process.  Starts zeroed. */
struct native_process {
	struct space *space;  /* that its row leads to, or NULL */
	struct space *coming; /* some modules of it are not known yet */
	bool asked;	      /* ASK_MAPS */
	bool wanted;	      /* it is to be looked at again */
	uint32_t looks;
	uint64_t looked_at; /* ns; when it was asked last */
	uint64_t retry;	    /* ns: how long to wait after a look that failed; 0: it did not */
	uint64_t quiet;	    /* ns: how long it is not asked again for unknown code */
};

struct natives {
	struct slabs slabs;
	struct modules modules;
	struct space *left; /* that no row leads to any more; samples may still be at them */
	uint32_t stamp;	    /* the last given */
	bool on;
};

struct lifecycle;
struct process;

/*
 * natives__open - @capture: what is wanted, XR_ROW_*.  @notes says what of it the engine does not
 * have.
 */
void natives__open(struct natives *n, const struct engine_ops *ops, struct engine *engine,
		   uint32_t capture, size_t memory, const struct notes *notes);

/* native__look - have it looked what @p has mapped.  -ENOMEM. */
int native__look(struct lifecycle *l, struct process *p, uint64_t now);

/* native__unmapped - @p executes code that is not known. */
void native__unmapped(struct process *p);

/* native__inherit - @p was forked by @parent: what that has mapped it has, too. */
void native__inherit(struct process *p, const struct process *parent);

/* native__answered - an answer to ASK_MAPS or ASK_MODULE, whose file is taken.  -ENOMEM. */
int native__answered(struct lifecycle *l, const struct ask *a, uint64_t now);

/* native__due - when @p wants to be looked at, ns; 0: when something happens. */
uint64_t native__due(const struct natives *n, const struct process *p);

/* native__forget - nothing of @p is on its way any more. */
void native__forget(struct natives *n, struct process *p, uint64_t now);

/* natives__tend - room that was given back can be used again. */
void natives__tend(struct natives *n, uint64_t now);

void natives__close(struct natives *n);

#endif
