/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command line of `record`.
 */
#ifndef XR_CMD_OPTIONS_H
#define XR_CMD_OPTIONS_H

#include <stdbool.h>

#include "base/errmsg.h"
#include "cmd/config.h"
#include "cmd/option_rows.h"

/* What was asked for.  Strings and `config.command` point into argv. */
struct options {
	bool help, version;
	struct config config; /* its pids are owned */
};

/* The options of `record`, which fill a struct options. */
extern const struct option_row options__rows[];

/*
 * options__parse - read the command line; argv[0] is skipped.  Everything that can be known to be
 * wrong without looking at the machine is refused here: -EINVAL, and @f says what.  With `help` or
 * `version` set nothing else was checked.  Afterwards, in every case, options__free.
 */
int options__parse(struct options *o, int argc, char **argv, struct errmsg *f);
void options__free(struct options *o);

#endif
