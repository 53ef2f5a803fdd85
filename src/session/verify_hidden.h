/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --lines and --gc need variables that R does not export.  Addresses from a symbol table are
 * right; those read from machine code are used only after they were seen to be right in a live
 * process (target/hidden_check.h).  A proof belongs to the file with R in it, whoever made it: it
 * serves all processes of that file from then on.
 */
#ifndef XR_SESSION_VERIFY_HIDDEN_H
#define XR_SESSION_VERIFY_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

#include "session/notes.h"
#include "target/hidden_check.h"
#include "target/target.h"

struct hidden_file;

/* What is known of one process' hidden variables.  Zeroed: none are asked for. */
struct hidden_proof {
	bool open;		       /* something may still be proven */
	struct hidden_check check;     /* what was seen in this process */
	uint64_t gc_at, gc_count_at;   /* where they should be: the row gets them once proven */
	struct hidden_file *file;      /* borrowed from struct verify_hidden */
	uint64_t opened_at, looked_at; /* ns, CLOCK_MONOTONIC */
	bool completed;		       /* the row got something that it did not begin with */
};

/* Starts as { .notes = ... }, freed by verify_hidden__free. */
struct verify_hidden {
	const struct notes *notes;
	struct hidden_file *files; /* a list */
};

/*
 * verify_hidden__begin - R was found and @t filled: take from its row what has to be proven first,
 * into @h, and say what cannot be had of this file at all.  -ENOMEM.
 */
int verify_hidden__begin(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			 uint64_t now);

/*
 * verify_hidden__inherit - @t is that of a forked child, with the row that the kernel copied from
 * its parent's, whose proof is @parent: what is to be proven is the same.
 */
void verify_hidden__inherit(struct hidden_proof *h, const struct hidden_proof *parent,
			    uint64_t now);

/*
 * verify_hidden__advance - look at @t's process up to @looks times, some microseconds each, if
 * something is open.  Returns whether its row became more complete, perhaps because of a proof that
 * was made elsewhere.
 */
bool verify_hidden__advance(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			    unsigned int looks, uint64_t now);

/*
 * verify_hidden__worth_waiting - a process was found a moment ago: is it likely that its row will
 * be complete if its first sample waits a little?
 */
bool verify_hidden__worth_waiting(const struct hidden_proof *h, const struct target *t,
				  uint64_t now);

void verify_hidden__free(struct verify_hidden *v);

#endif
