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

#define OPTIONS_FREQ	    99 /* Hz, unless it is given */
#define OPTIONS_FREQ_MAX    100000
#define OPTIONS_MIN_SAMPLES 5 /* for a separate file */

/* What was asked for.  Strings and `config.command` point into argv. */
struct options {
	bool help, version;
	struct config config; /* its pids are owned */
};

/* The options of `record`, which fill a struct options. */
extern const struct option_row options__rows[];

/* What options of other subcommands have in common with these: see struct option_row. */
bool options__format(size_t i, struct option_choice *c);

/*
 * Rows that several subcommands have stand in options_targets.def, options_sampling.def and others,
 * to be included in their tables.  What such a table fills begins with a struct options.
 */
#define OPTIONS_FREQ_HELP     "99"  /* a subcommand with other defaults defines it before */
#define OPTIONS_MEMORY_HELP   "32M" /* it includes them, */
#define OPTIONS_MEMORY_MANUAL ""    /* and more text about them */
#define OPTIONS_AT(member)    .at = offsetof(struct options, member)

/* Of these rows: how they are parsed (struct option_row, `parse`), and what they choose from. */
int options__pids(const struct option_row *row, void *place, const char *list, struct errmsg *f);
int options__filter(const struct option_row *row, void *place, const char *arg, struct errmsg *f);
int options__seconds(const struct option_row *row, void *place, const char *arg, struct errmsg *f);
int options__size(const struct option_row *row, void *place, const char *arg, struct errmsg *f);
int options__event(const struct option_row *row, void *place, const char *arg, struct errmsg *f);
int options__call(const struct option_row *row, void *place, const char *arg, struct errmsg *f);
bool options__engine(size_t i, struct option_choice *c);
bool options__clock(size_t i, struct option_choice *c);
bool options__native(size_t i, struct option_choice *c);

/* options__capture - what @native adds to what @c captures; @by_default: if it was not given. */
void options__capture(struct config *c, enum config_native by_default);

/* options__waits - wall time is time on a CPU and off it. */
void options__waits(struct config *c);

/* options__calls - what telling single calls apart needs is captured, too. */
void options__calls(struct config *c);

/*
 * options__idle - is time off the CPU sampled, if --idle adds to it what waits for work?  0 or
 * -EINVAL.
 */
int options__idle(const struct config *c, struct errmsg *f);

/*
 * options__events - do --event and --period go with each other, and with the engine, the clock and
 * the format (NULL: there is none, and several sample types have room)?  0 or -EINVAL.
 */
int options__events(const struct config *c, struct errmsg *f);

/* options__init - the defaults. */
void options__init(struct options *o);

/*
 * options__targets - of a subcommand that takes --pid or --all: is one of them given, and what the
 * filters are for?  0 or -EINVAL.
 */
int options__targets(const struct config *c, struct errmsg *f);

/*
 * options__parse - read the command line; argv[0] is skipped.  Everything that can be known to be
 * wrong without looking at the machine is refused here: -EINVAL, and @f says what.  With `help` or
 * `version` set nothing else was checked.  Afterwards, in every case, options__free.
 */
int options__parse(struct options *o, int argc, char **argv, struct errmsg *f);
void options__free(struct options *o);

#endif
