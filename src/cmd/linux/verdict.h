/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first lines of `info`: which R processes the caller can profile, how, and what helps. */
#ifndef XR_CMD_LINUX_VERDICT_H
#define XR_CMD_LINUX_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "os/linux/rights.h"

/* What the machine answered. */
struct verdict_facts {
	enum rights_whose whose;
	uint64_t permitted;   /* rights__permitted() */
	uint64_t bounding;    /* those that sudo can give */
	bool root;	      /* the effective user is root, if only of a user namespace */
	bool user_ns, pid_ns; /* in another namespace than the first */
	bool lockdown;	      /* refusal__lockdown() */
	unsigned int ptrace_scope;
	/* Why engine bpf, and each engine that reads from outside, does not open; "": it does. */
	struct errmsg bpf, outside;
};

enum verdict_reach {
	VERDICT_NONE,
	VERDICT_STARTED, /* R processes that the profiler starts */
	VERDICT_OWN,	 /* those of the caller */
	VERDICT_EVERY,
};

struct verdict {
	enum verdict_reach reach;
	bool bpf;
	struct errmsg text, advice; /* a sentence each; advice may be "" */
};

/* verdict__of - fill @v from @facts. */
void verdict__of(struct verdict *v, const struct verdict_facts *facts);

/* verdict__reach_name - for JSON. */
const char *verdict__reach_name(enum verdict_reach reach);

#endif
