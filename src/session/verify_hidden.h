/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --lines, --gc and --memory need variables that R does not export.  Addresses from a symbol table
 * are right; those read from machine code are used only after they were seen to be right in a live
 * process (target/hidden_check.h).
 *
 * Who may speak for whom, for a process may lie:
 *  - A proof serves all processes of the very same file (struct target_file) in which the variables
 *    were found at the same places, whichever process made it, and whenever they were found.  A
 * liar can only say of that file that its code was read rightly, which is what everybody's code
 * says. A build id or a path is not enough: a program can carry any, with different code.
 *  - A refutation holds for the process that showed it and for its family, the processes that it
 *    forked or was forked by, not for others: a liar harms itself.  It stands against a proof made
 *    elsewhere.
 *  - Looks are added up over a family, so that children too short to be proof enough, below a
 * parent that never runs byte code, are so together.
 */
#ifndef XR_SESSION_VERIFY_HIDDEN_H
#define XR_SESSION_VERIFY_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

#include "session/notes.h"
#include "target/ask.h"
#include "target/hidden_check.h"
#include "target/target.h"

struct hidden_file;
struct hidden_family;

/* Where R's counts of its memory are (struct xr_row), as addresses or as offsets in a file. */
struct hidden_memory {
	uint64_t small, large, nodes, dups;
};

/* What the hidden variables are for. */
enum hidden_thing { HIDDEN_LINES, HIDDEN_GC, HIDDEN_MEMORY, HIDDEN_THINGS };

/* What is known of one process' hidden variables.  Zeroed: none are asked for.  Times are ns,
 * CLOCK_MONOTONIC. */
struct hidden_proof {
	bool open;		       /* something may still be proven */
	bool completed;		       /* the row got something that it did not begin with */
	struct hidden_check check;     /* what was seen in this process */
	uint64_t gc_at, gc_count_at;   /* where they should be: the row gets them once proven, */
	struct hidden_memory memory;   /* and these */
	struct hidden_family *family;  /* held; NULL: nothing is asked for */
	uint64_t opened_at, looked_at; /* it was found, or forked; it was looked at last */
	uint64_t due_at;	       /* it is to be looked at next */
	uint32_t idle;		       /* looks since one told anything, in turns */
	uint32_t proofs;	       /* those of struct verify_hidden that it has heard of */
	bool said[HIDDEN_THINGS]; /* it was printed, for it or its parent, that they are missing */
	uint64_t unproven;	  /* samples without their innermost line */
};

/* Starts as { .notes = ... }, freed by verify_hidden__free. */
struct verify_hidden {
	const struct notes *notes;
	struct hidden_file *files; /* a list, the newest first */
	uint32_t nfiles;
	uint32_t proofs;    /* made so far */
	uint64_t window_at; /* ns: since then ... */
	uint32_t looks;	    /* ... this many were taken */
};

/*
 * verify_hidden__begin - R was found and @t filled: take from its row what has to be proven first,
 * into @h.  -ENOMEM.  Afterwards verify_hidden__end.
 */
int verify_hidden__begin(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			 uint64_t now);

/*
 * verify_hidden__inherit - @h is that of a forked child, with the row that the kernel copied from
 * its parent's, whose proof is @parent: what is to be proven is the same.  Afterwards
 * verify_hidden__end.
 */
void verify_hidden__inherit(struct hidden_proof *h, const struct hidden_proof *parent,
			    uint64_t now);

/* verify_hidden__end - the process is no longer of interest; for one that never began, too. */
void verify_hidden__end(struct hidden_proof *h);

/*
 * verify_hidden__said - for advice.c: of how many processes of @h's file it was printed that each
 * enum hidden_thing is missing.  @h has a family.
 */
uint32_t *verify_hidden__said(const struct hidden_proof *h);

/*
 * verify_hidden__due - when @h's process is to be looked at next; at once, 1, where another process
 * proved something; 0: never.  What does not run is looked at less and less often, and all
 * together, and each family, no oftener than a fork storm may cost.
 */
uint64_t verify_hidden__due(const struct verify_hidden *v, const struct hidden_proof *h);

/* verify_hidden__runs - a sample of its process came: a look may tell something. */
void verify_hidden__runs(struct hidden_proof *h);

/*
 * verify_hidden__advance - if something is open and it is due, have @t's process looked at up to
 * @looks times, some microseconds each: fill what an ASK_HIDDEN (target/ask.h) of it needs into @q,
 * whose `looks` stays 0 where nothing is.  Returns whether its row became more complete because
 * of a proof that was made elsewhere.
 */
bool verify_hidden__advance(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			    unsigned int looks, uint64_t now, struct ask *q);

/* verify_hidden__answered - the same question, answered.  Returns whether the row became more
 * complete. */
bool verify_hidden__answered(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
			     const struct ask *answer, uint64_t now);

/*
 * verify_hidden__worth_waiting - a process was found a moment ago: is it likely that its row will
 * be complete if its first sample waits a little?
 */
bool verify_hidden__worth_waiting(const struct hidden_proof *h, const struct target *t,
				  uint64_t now);

/* verify_hidden__free - after verify_hidden__end of all. */
void verify_hidden__free(struct verify_hidden *v);

#endif
