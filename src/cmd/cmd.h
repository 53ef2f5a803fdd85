/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subcommands.  Each takes its own arguments, argv[0] being its name (or the program's, when
 * none was given), and returns the exit status of the program.
 */
#ifndef XR_CMD_CMD_H
#define XR_CMD_CMD_H

#include "base/errmsg.h"

enum cmd_status { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2 };

struct subcommand {
	const char *name;
	const char *help; /* one line for --help */
	int (*run)(int argc, char **argv);
};

/* cmd__all - ended by a row without a name; the first is done when no subcommand is given. */
const struct subcommand *cmd__all(void);

/* cmd__run - what the arguments of main() ask for. */
int cmd__run(int argc, char **argv);

/* cmd__usage - say that @word is no option of @command; returns the exit status for that. */
int cmd__usage(const char *command, const char *word);

/* cmd__usage_error - the same of what @f says. */
int cmd__usage_error(const struct errmsg *f);

/* The rows of cmd.c; each is defined in the file of its name (on Windows, list_info.c). */
int cmd_record(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_info(int argc, char **argv);

#endif
