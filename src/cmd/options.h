/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command line of `record`.
 */
#ifndef XR_CMD_OPTIONS_H
#define XR_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "base/errmsg.h"
#include "target/filters.h"
#include "output/writer.h"

/* What was asked for.  Strings and `command` point into argv. */
struct options {
	bool help, version;
	bool verbose, quiet;
	pid_t *pids; /* owned; no pid twice */
	size_t npids;
	bool all;
	char **command;		/* ended by NULL, as execvp() wants it; NULL: none */
	bool follow;		/* --subprocesses */
	struct filters filters; /* --user and so on: for --all and --subprocesses */
	uint32_t freq;		/* Hz */
	double duration;	/* seconds; 0: no limit */
	const char *output;
	const struct writer_ops *format;
	const struct engine_ops *engine; /* NULL: auto */
	enum engine_clock clock;
	bool lines, gc, filter;
	const char *stats, *btf; /* NULL: not given */
};

/*
 * options__parse - read the command line; argv[0] is skipped.  Everything that can be known to be
 * wrong without looking at the machine is refused here: -EINVAL, and @f says what.  With `help` or
 * `version` set nothing else was checked.  Afterwards, in every case, options__free.
 */
int options__parse(struct options *o, int argc, char **argv, struct errmsg *f);
void options__free(struct options *o);

/* options__help - the table of options, as --help prints it. */
void options__help(FILE *out);

#endif
