/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subcommands: one file and one row of cmd.c each.
 */
#ifndef XR_CMD_CMD_H
#define XR_CMD_CMD_H

#include "base/buf.h"
#include "base/errmsg.h"
#include "cmd/config.h"
#include "cmd/option_rows.h"
#include "session/config.h"

struct stats;

enum cmd_status { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2 };

struct subcommand {
	const char *name;
	const char *help;     /* one line for the list of subcommands */
	const char *usage[3]; /* what follows the program's name, ended by NULL unless full */
	const char *operand; /* what its words behind the options are called; NULL: it takes none */
	const char *about;   /* a paragraph for --help and the man page */
	const char *manual;  /* more for the man page, paragraphs between newlines; NULL: none */
	/* For the man page, ended by NULL unless full; commands are lines below each other. */
	struct {
		const char *what, *commands;
	} examples[7];
	const struct option_row *options;
	/* argv[0] is its name, or the program's when none was given; the exit status. */
	int (*run)(int argc, char **argv);
};

/* cmd__all - ended by NULL; the first is run when no subcommand is given. */
const struct subcommand *const *cmd__all(void);

/* cmd__run - what the arguments of main() ask for. */
int cmd__run(int argc, char **argv);

/* cmd__help - what `@c --help` prints; the exit status for that. */
int cmd__help(const struct subcommand *c);

/* cmd__version - what `version` prints; the exit status for that. */
int cmd__version(void);

/* cmd__usage_error - say what is wrong with the arguments of @c; the exit status for that. */
int cmd__usage_error(const struct subcommand *c, const struct errmsg *f);

/*
 * cmd__options - option_rows__parse() for a subcommand that takes no words behind its options.
 * False: *@status is the exit status, after --help or an error message.
 */
bool cmd__options(const struct subcommand *c, void *into, int argc, char **argv, int *status);

/* cmd__line - append the command line as a shell would take it, the program's own name in front. */
int cmd__line(int argc, char **argv, struct buf *line);

/*
 * cmd__btf - may the caller name the file of the kernel's types?  It says where in the kernel's
 * memory the sampler reads.  0, also of NULL; else -EPERM, with @f filled.
 */
int cmd__btf(const char *path, struct errmsg *f);

/*
 * cmd__session - what of @c is about a session: all but the notes, and what the subcommand alone
 * has.  Borrowed from @c; @one: room for the list of the one engine that was named, also borrowed.
 */
struct session_config cmd__session(const struct config *c, const struct engine_ops *one[2]);

/*
 * cmd__rights - RIGHTS_* that a session of @c takes once it has begun, for rights__keep.  A probe
 * for --event gc is set in R's file when R is found.  @again: with what it takes to restart.
 */
unsigned int cmd__rights(const struct config *c, bool again);

/*
 * cmd__none_profiled - there were R processes, or filters for them, and none was profiled: log why.
 * Returns whether that is so.
 */
bool cmd__none_profiled(const struct config *c, const struct stats *st);

/* The rows of cmd.c; each is defined in the file of its name (on Windows, list_info.c). */
extern const struct subcommand cmd_record, cmd_report, cmd_top, cmd_dump, cmd_serve, cmd_list,
	cmd_info;

#endif
