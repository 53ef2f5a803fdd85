/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * R was looked for in a process and not found: what that means.  The one place where failures of
 * discovery are told apart.
 */
#ifndef XR_SESSION_OUTCOME_H
#define XR_SESSION_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

enum outcome {
	OUTCOME_NOT_YET, /* look again */
	OUTCOME_NEVER,	 /* it is not to be had */
	OUTCOME_GONE,	 /* the process has ended */
};

/* How the session came by a process: how much is known of it, and how long to be patient. */
enum process_origin {
	PROCESS_NAMED,	  /* the user named it */
	PROCESS_WORKLOAD, /* it runs, or is about to become, what is to be profiled */
	PROCESS_SEEN,	  /* R was seen in it, perhaps while it was just being mapped */
	PROCESS_REPLACED, /* an R that was profiled became this by exec */
	PROCESS_FORKED,	  /* the engine told of it: its row is a copy of its parent's */
};

struct outcome_facts {
	enum process_origin origin;
	const char *comm; /* its name */
	bool told;	  /* there is somebody who tells when R appears in a process */
	bool follow;	  /* processes that nobody named are profiled, too */
	uint64_t waited;  /* ns since it was first looked at */
};

/*
 * outcome__of - @err: of an ASK_FIND or ASK_LAYOUT (target/ask.h), not 0.
 *
 * What is looked at right after its exec, or while the dynamic linker maps it, cannot be told from
 * what is damaged, or has no R in it: both are final only after it had time to settle, two seconds.
 * Nor can what may not be looked at while its exec changes who it is, for a moment.  What failed
 * for want of descriptors or memory says nothing of the process.  No answer in time (-ETIMEDOUT)
 * is final for who was named, for there is somebody who waits; others may answer later, as
 * when a file system responds again.  A worker that ended (-EIO) is final.
 */
enum outcome outcome__of(int err, const struct outcome_facts *facts);

/* outcome__is_full - is @err, of the engine's add, for want of room, so that others will fail too?
 */
bool outcome__is_full(int err);

/* outcome__matters - is @err, of a process that nobody named, worth a line for the user? */
bool outcome__matters(int err);

#endif
