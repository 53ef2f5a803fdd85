/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subcommands that are not available on Windows report that. */
#include "base/log.h"
#include "cmd/cmd.h"

static const struct option_row none[] = {{0}};

#define NOT_HERE(what, instead)                                                                    \
	static int what##__main(int argc, char **argv)                                             \
	{                                                                                          \
		(void)argc;                                                                        \
		(void)argv;                                                                        \
		log__line(#what ": not available on Windows" instead);                             \
		return CMD_FAILED;                                                                 \
	}                                                                                          \
	const struct subcommand cmd_##what = {                                                     \
		.name = #what,                                                                     \
		.help = "not available on Windows",                                                \
		.usage = {#what},                                                                  \
		.about = "Not available on Windows.",                                              \
		.options = none,                                                                   \
		.run = what##__main,                                                               \
	}

NOT_HERE(dump, ", which does not show what a thread waits for; record has the stacks");
NOT_HERE(top, "; record -f folded writes functions while it samples");
NOT_HERE(serve, "; record --all -o DIRECTORY writes a file for each process");
