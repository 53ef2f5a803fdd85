/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes `dump` shows, and what each of them is.
 */
#ifndef XR_CMD_LINUX_DUMP_LIST_H
#define XR_CMD_LINUX_DUMP_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/config.h"
#include "target/target.h"

/* One process that was asked for, and what it answered. */
struct dump_asked {
	pid_t pid;
	bool failed;	    /* it cannot be dumped: `why` */
	bool left_out;	    /* with -s: it is not R, what it started may be */
	bool version_known; /* else the layout of `row` is the newest one, not checked */
	char version[sizeof(((struct target *)0)->version)];
	struct xr_row row;   /* with --calls or --locals; pid 0: not known */
	uint64_t namespaces; /* and R_NamespaceRegistry */
	char *command;	     /* NULL: not known */
	struct errmsg why;
};

struct dump_list {
	struct dump_asked *asked;
	size_t n, cap;
};

/*
 * dump_list__find - ask all processes that @c names at once, so that one that does not answer
 * delays none.  With --all, the list is in the order of their pids.  0, or a negative errno with @f
 * filled.
 */
int dump_list__find(struct dump_list *d, const struct config *c, struct errmsg *f);
void dump_list__free(struct dump_list *d);

#endif
