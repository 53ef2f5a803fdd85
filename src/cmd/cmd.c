/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/cmd.h"

#include <string.h>

#include "base/log.h"
#include "base/version.h"

static const struct subcommand subcommands[] = {
	{"record", "profile R processes (what is done when no subcommand is given)", cmd_record},
	{"list", "the processes with R in them", cmd_list},
	{"info", "what this machine can do, and what that means", cmd_info},
	{0},
};

const struct subcommand *cmd__all(void)
{
	return subcommands;
}

int cmd__run(int argc, char **argv)
{
	struct errmsg f;

	if (argc < 2 || argv[1][0] == '-')
		return subcommands[0].run(argc, argv);
	for (const struct subcommand *c = subcommands; c->name; c++)
		if (!strcmp(argv[1], c->name))
			return c->run(argc - 1, argv + 1);
	errmsg__set(&f, 0, "no such subcommand: %s", argv[1]);
	return cmd__usage_error(&f);
}

int cmd__usage(const char *command, const char *word)
{
	log__line("%s: what is %s? (try %s %s --help)", command, word, XR_PROGRAM, command);
	return CMD_USAGE;
}

int cmd__usage_error(const struct errmsg *f)
{
	log__line("%s (try %s --help)", f->text, XR_PROGRAM);
	return CMD_USAGE;
}
