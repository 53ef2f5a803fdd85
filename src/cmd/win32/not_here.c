/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subcommands that are not available on Windows report that. */
#include "base/log.h"
#include "cmd/cmd.h"

static const struct option_row none[] = {{0}};

static int dump__main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log__line("dump: not available on Windows, which does not show what a thread waits for; "
		  "record has the stacks");
	return CMD_FAILED;
}

const struct subcommand cmd_dump = {
	.name = "dump",
	.help = "not available on Windows",
	.usage = {"dump"},
	.about = "Not available on Windows.",
	.options = none,
	.run = dump__main,
};

static int top__main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log__line("top: not available on Windows; record -f folded writes functions while it "
		  "samples");
	return CMD_FAILED;
}

const struct subcommand cmd_top = {
	.name = "top",
	.help = "not available on Windows",
	.usage = {"top"},
	.about = "Not available on Windows.",
	.options = none,
	.run = top__main,
};

static int serve__main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	log__line("serve: not available on Windows; record --all -o DIRECTORY writes a file for "
		  "each process");
	return CMD_FAILED;
}

const struct subcommand cmd_serve = {
	.name = "serve",
	.help = "not available on Windows",
	.usage = {"serve"},
	.about = "Not available on Windows.",
	.options = none,
	.run = serve__main,
};
