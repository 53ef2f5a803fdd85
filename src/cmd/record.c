/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `record`: its command line, and what its manual says. */
#include <stdio.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/record.h"
#include "os/signals.h"

static int record__main(int argc, char **argv)
{
	struct options o;
	struct signals *signals;
	struct errmsg f = {""};
	struct buf line = {0};
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
		status = cmd__version();
		goto cleanup;
	}
	if (signals__open(&signals, &f)) {
		log__line("%s", f.text);
		status = CMD_FAILED;
		goto cleanup;
	}
	if (signals__reload(signals) || signals__report(signals))
		log__line("SIGHUP and SIGUSR1 keep their default actions");
	if (cmd__line(argc, argv, &line))
		log__line("out of memory");
	o.config.line = line.data;
	status = record__run(&o.config, signals);
	signals__close(signals);
	buf__free(&line);
cleanup:
	options__free(&o);
	return status;
}

const struct subcommand cmd_record = {
	.name = "record",
	.help = "profile R processes (the default subcommand)",
	.usage = {"[record] (-p PID[,PID...] | -a) [options]",
		  "[record] [options] -- COMMAND [ARG...]"},
	.about = "A sampling profiler for running R processes. The profile goes to "
		 "stdout or to the file of -o, and everything else to stderr. It ends "
		 "with Ctrl-C or when all profiled processes have ended.",
	.operand = "COMMAND [ARG...]",
	.manual = "The profiler profiles the processes of --pid, all R processes of the "
		  "machine (--all), or the command after --. Processes that a profiled "
		  "one forks are profiled with it. While the profile, --stats or --ready goes "
		  "to standard output, the command's output goes to standard error.\n"
		  "The command after -- runs as the user who called sudo, unless "
		  "--as-root is given. The profiler finds R in it and in everything that "
		  "it starts. An interrupt from the keyboard goes to the command. Two "
		  "within a second end the profile, and the profiler waits for the "
		  "command.\n"
		  "These end the profile normally, with a complete file: an interrupt "
		  "from the keyboard, SIGTERM, a closed terminal, the end of the profiled "
		  "processes or of --duration, and a closed pipe. A second interrupt "
		  "while the profiler is finishing ends it at once.\n"
		  "At a SIGHUP that a program sends, the profiler completes the files and "
		  "opens new files with the same names. Move the old ones first: a file "
		  "that was not moved stays, and the new one gets a number. At SIGUSR1 it "
		  "prints its state and writes --stats. With --verbose and without a "
		  "terminal it prints the state once a minute.",
	.examples =
		{
			{"Profile a process until Ctrl-C, or until it ends",
			 "xrprof-bpf -p 4711 -o Rprof.out\n"
			 "Rscript -e 'summaryRprof(\"Rprof.out\")'"},
			{"Five minutes at 999 samples per second of CPU time, as a page with flame "
			 "graph and sources",
			 "xrprof-bpf -p 4711 -d 5m -F 999 -l -o profile.html"},
			{"For go tool pprof, all R processes in one file",
			 "xrprof-bpf --all -d 60 -o profile.pb.gz\n"
			 "go tool pprof -http=: profile.pb.gz"},
			{"With source lines and garbage collection",
			 "xrprof-bpf -p 4711 --lines --gc -o Rprof.out"},
			{"Every R process of one user, present and future, one file each",
			 "xrprof-bpf --all --user shiny -o profiles/"},
			{"Start a program and profile it and the R processes that it starts",
			 "xrprof-bpf -s -f folded -o out.folded -- Rscript report.R"},
		},
	.options = options__rows,
	.run = record__main,
};
