/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `dump --core`: the calls that R was in when it crashed.
 */
#ifndef XR_CMD_LINUX_DUMP_CORE_H
#define XR_CMD_LINUX_DUMP_CORE_H

#include <stdbool.h>

#include "base/errmsg.h"

struct dump_core {
	const char *path; /* of the core file */
	const char *libr; /* of R's file, if it lies elsewhere now; NULL */
	bool locals, globals, json;
	bool native, raw; /* C functions, too; with R's own */
};

/* dump_core__show - on stdout.  0, or a negative errno with @f filled. */
int dump_core__show(const struct dump_core *d, struct errmsg *f);

#endif
