/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `record`: a session whose samples go to files. */
#include <stdio.h>

#include "base/log.h"
#include "base/version.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "os/signals.h"
#include "output/outputs.h"
#include "session/session.h"

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
	for (const struct subcommand *c = cmd__all(); c->name; c++)
		printf("  %-31s %s\n", c->name, c->help);
	printf("\nOptions:\n");
	options__help(stdout);
	printf("\nExit status: 0 a profile was written, 1 it could not be, 2 wrong usage.\n");
}

static int record__session(const struct config *config, struct signals *signals)
{
	const struct outputs_config to = {
		.format = config->format,
		.writer =
			{
				.freq = config->freq,
				.capture = config->capture,
				.roots = config__several(config),
			},
		.path = config->output,
		.several = config->npids > 1 || config->all,
	};
	struct outputs *outputs;
	int status;

	if (outputs__new(&outputs, &to)) {
		log__line("out of memory");
		return CMD_FAILED;
	}
	status = session__run(config, outputs__sink(outputs), signals);
	outputs__free(outputs);
	return status;
}

int cmd_record(int argc, char **argv)
{
	struct options o;
	struct signals *signals;
	struct errmsg f = {""};
	int status;

	if (options__parse(&o, argc, argv, &f)) {
		status = cmd__usage_error(&f);
		goto cleanup;
	}
	if (o.help || o.version) {
		if (o.help)
			help();
		else
			printf("%s %s\n", XR_PROGRAM, XR_VERSION);
		status = fflush(stdout) ? CMD_FAILED : CMD_OK;
		goto cleanup;
	}
	if (signals__open(&signals, &f)) {
		log__line("%s", f.text);
		status = CMD_FAILED;
		goto cleanup;
	}
	status = record__session(&o.config, signals);
	signals__close(signals);
cleanup:
	options__free(&o);
	return status;
}
