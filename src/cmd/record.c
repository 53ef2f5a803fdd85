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

static int record__main(int argc, char **argv)
{
	struct options o;
	struct signals *signals;
	struct errmsg f = {""};
	int status;

	if (options__parse(&o, argc, argv, &f)) {
		status = cmd__usage_error(&cmd_record, &f);
		goto cleanup;
	}
	if (o.help) {
		status = cmd__help(&cmd_record);
		goto cleanup;
	}
	if (o.version) {
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

const struct subcommand cmd_record = {
	.name = "record",
	.help = "profile R processes (what is done when no subcommand is given)",
	.usage = {"[record] (-p PID[,PID...] | -a) [options]",
		  "[record] [options] -- COMMAND [ARG...]"},
	.about = "A sampling profiler for running R processes. The profile goes to stdout or to "
		 "the file of -o, until Ctrl-C or the end of what is profiled; everything else to "
		 "stderr.",
	.options = options__rows,
	.run = record__main,
};
