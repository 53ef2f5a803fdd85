/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xrprof-bpf dump` of processes: the stack of each right now, whether it runs or waits, once or
 * again and again.
 *
 * All processes are asked at once what they are (dump_list.h).  Then each in turn is looked at
 * (dump_take.h) and shown (dump_show.h).
 */
#ifndef XR_CMD_LINUX_DUMP_RUN_H
#define XR_CMD_LINUX_DUMP_RUN_H

#include <stdbool.h>

#include "base/errmsg.h"
#include "cmd/options.h"

struct dump_options {
	struct options o; /* first */
	bool json, calls, locals, globals, threads;
	double every; /* seconds; 0: once */
	const char *core, *libr;
};

/*
 * dump_run - on stdout.  0, or a negative errno with @f filled; its text is "" if what failed has
 * been reported.
 */
int dump_run(const struct dump_options *o, struct errmsg *f);

/* dump_core - the calls that R was in when it crashed, from o->core; the same. */
int dump_core(const struct dump_options *o, struct errmsg *f);

#endif
