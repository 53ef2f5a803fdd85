/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "os/os.h"
#include "base/log.h"
#include "session/session.h"
#include "base/version.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* argv[0] is the subcommand's name, or the program's when none was given. */
struct subcommand {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv);
};

static int record(int argc, char **argv);

/* The first is the default. */
static const struct subcommand subcommands[] = {
	{"record", "profile R processes (what is done when no subcommand is given)", record},
	{"list", "the processes with R in them", cmd_list},
	{"info", "what this machine can do, and what that means", cmd_info},
};

#define NSUBCOMMANDS (sizeof(subcommands) / sizeof(subcommands[0]))

static int usage_error(const struct errmsg *f)
{
	log__line("%s (try %s --help)", f->text, XR_PROGRAM);
	return EXIT_USAGE;
}

static void help(void)
{
	printf("Usage: %s [record] (-p PID[,PID...] | -a) [options]\n"
	       "       %s [record] [options] -- COMMAND [ARG...]\n"
	       "\n"
	       "A sampling profiler for running R processes. The profile goes to stdout or to the\n"
	       "file of -o, until Ctrl-C or the end of what is profiled; everything else to "
	       "stderr.\n"
	       "\n"
	       "Subcommands:\n",
	       XR_PROGRAM, XR_PROGRAM);
	for (size_t i = 0; i < NSUBCOMMANDS; i++)
		printf("  %-31s %s\n", subcommands[i].name, subcommands[i].help);
	printf("\nOptions:\n");
	options__help(stdout);
	printf("\nExit status: 0 a profile was written, 1 it could not be, 2 wrong usage.\n");
}

static int record(int argc, char **argv)
{
	struct options o;
	struct signals *signals;
	struct errmsg f = {""};
	int status;

	if (options__parse(&o, argc, argv, &f)) {
		status = usage_error(&f);
		goto cleanup;
	}
	if (o.help) {
		help();
		status = fflush(stdout) ? EXIT_FAILED : EXIT_OK;
		goto cleanup;
	}
	if (o.version) {
		printf("%s %s\n", XR_PROGRAM, XR_VERSION);
		status = fflush(stdout) ? EXIT_FAILED : EXIT_OK;
		goto cleanup;
	}
	if (signals__open(&signals, &f)) {
		log__line("%s", f.text);
		status = EXIT_FAILED;
		goto cleanup;
	}
	status = session__run(&o, signals);
	signals__close(signals);
cleanup:
	options__free(&o);
	return status;
}

int main(int argc, char **argv)
{
	struct errmsg f;

	if (os__arguments(&argc, &argv, &f)) {
		log__line("%s", f.text);
		return EXIT_FAILED;
	}
	if (argc < 2 || argv[1][0] == '-')
		return record(argc, argv);
	for (size_t i = 0; i < NSUBCOMMANDS; i++)
		if (!strcmp(argv[1], subcommands[i].name))
			return subcommands[i].run(argc - 1, argv + 1);
	errmsg__set(&f, 0, "no such subcommand: %s", argv[1]);
	return usage_error(&f);
}
