/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/version.h"
#include "cmd/hints.h"
#include "os/os.h"
#include "os/rights.h"
#include "session/stats.h"

#define NAME_COLUMN 12

static const struct subcommand *const subcommands[] = {
	&cmd_record, &cmd_serve, &cmd_report, &cmd_top, &cmd_dump, &cmd_list, &cmd_info, NULL,
};

const struct subcommand *const *cmd__all(void)
{
	return subcommands;
}

/* NULL: there is no such subcommand. */
static const struct subcommand *cmd__find(const char *name)
{
	for (const struct subcommand *const *c = subcommands; *c; c++)
		if (!strcmp(name, (*c)->name))
			return *c;
	return NULL;
}

static int cmd__unknown(const char *word)
{
	const char *names[sizeof(subcommands) / sizeof(subcommands[0]) + 2] = {"help", "version"};
	char hint[HINT_MAX];
	struct errmsg f;

	for (size_t i = 0; subcommands[i]; i++)
		names[2 + i] = subcommands[i]->name;
	hints__subcommand(names, word, hint);
	errmsg__set(&f, 0, "no such subcommand: %s%s", word, hint);
	return cmd__usage_error(subcommands[0], &f);
}

/* `help [SUBCOMMAND]` and `version` are --help and --version. */
static int cmd__choose(int argc, char **argv)
{
	const struct subcommand *c;
	const char *word = argc > 1 ? argv[1] : "-";
	const char *of = argc > 2 ? argv[2] : subcommands[0]->name;

	if (!strcmp(word, "version"))
		return cmd__version();
	if (!strcmp(word, "help")) {
		c = cmd__find(of);
		return c ? cmd__help(c) : cmd__unknown(of);
	}
	if (word[0] == '-' || option_rows__is_pid(word))
		return subcommands[0]->run(argc, argv);
	c = cmd__find(word);
	return c ? c->run(argc - 1, argv + 1) : cmd__unknown(word);
}

int cmd__version(void)
{
	printf("%s %s\n", XR_PROGRAM, XR_VERSION);
	return CMD_OK;
}

int cmd__run(int argc, char **argv)
{
	int status = cmd__choose(argc, argv), err;

	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	err = errno;
	clearerr(stdout);
	/* an earlier write failed, and nothing is left of it: another one has the reason */
	if (!err && (putchar('\n') == EOF || fflush(stdout)))
		err = errno;
	err = err ? err : EIO;
	/* a subcommand that writes more than once looks at it itself; a reader may go away */
	if (status != CMD_OK || err == EPIPE)
		return status;
	log__line("cannot write to standard output: %s", os__reason(err));
	return CMD_FAILED;
}

int cmd__usage_error(const struct subcommand *c, const struct errmsg *f)
{
	/* the first is what the program does by itself */
	if (c == subcommands[0])
		log__line("%s (try %s --help)", f->text, XR_PROGRAM);
	else
		log__line("%s: %s (try %s %s --help)", c->name, f->text, XR_PROGRAM, c->name);
	return CMD_USAGE;
}

/* Would a shell take @word as it is? */
static bool word__plain(const char *word)
{
	return *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_@%+=:,./-")] == '\0';
}

int cmd__line(int argc, char **argv, struct buf *line)
{
	int err = buf__str(line, XR_PROGRAM);

	for (int i = 1; i < argc && !err; i++) {
		err = buf__str(line, word__plain(argv[i]) ? " " : " '");
		for (const char *c = argv[i]; *c && !err; c++)
			err = *c == '\'' ? buf__str(line, "'\\''") : buf__add(line, c, 1);
		if (!err && !word__plain(argv[i]))
			err = buf__str(line, "'");
	}
	return err ? err : buf__add(line, "", 1);
}

int cmd__btf(const char *path, struct errmsg *f)
{
	int fd;

	if (!path)
		return 0;
	if (!rights__exceed()) {
		/* libbpf would wait for the writer of a pipe; it reports a missing file itself */
		fd = os__open(path, OS_REGULAR);
		if (fd >= 0)
			os__close(fd);
		return fd == -OS_IRREGULAR
			       ? errmsg__set(f, fd, "--btf %s: %s", path, os__reason(fd))
			       : 0;
	}
	return errmsg__set(f, -EPERM,
			   "--btf %s: not allowed: this file chooses kernel addresses, and the "
			   "program has more privileges than its caller; run it as root (sudo)",
			   path);
}

bool cmd__options(const struct subcommand *c, void *into, int argc, char **argv, int *status)
{
	struct option_rest rest;
	struct errmsg f;
	int err = option_rows__parse(c->options, into, argc, argv, &rest, &f);

	if (!err && !rest.last && rest.first < argc)
		err = errmsg__set(&f, -EINVAL, "unexpected argument: %s", argv[rest.first]);
	if (!err && !rest.last)
		return true;
	*status = err ? cmd__usage_error(c, &f) : cmd__help(c);
	return false;
}

int cmd__help(const struct subcommand *c)
{
	for (size_t i = 0; i < sizeof(c->usage) / sizeof(c->usage[0]) && c->usage[i]; i++)
		printf("%s %s %s\n", i ? "      " : "Usage:", XR_PROGRAM, c->usage[i]);
	printf("\n");
	text__wrap(stdout, c->about, 0);
	if (c == subcommands[0]) {
		printf("\nSubcommands:\n");
		for (const struct subcommand *const *s = subcommands; *s; s++) {
			printf("  %-*s", NAME_COLUMN - 2, (*s)->name);
			text__wrap(stdout, (*s)->help, NAME_COLUMN);
		}
		printf("\nhelp [SUBCOMMAND] is the same as [SUBCOMMAND] --help, version as "
		       "--version.\n");
	}
	option_rows__help(c->options, stdout);
	if (c == subcommands[0])
		printf("\nExit status: 0 a profile was written (with -- COMMAND: the exit status "
		       "of the command),\n1 no profile was written, or not all of it, 2 wrong "
		       "usage.\n");
	if (!os__is_windows())
		printf("More: man %s-%s\n", XR_PROGRAM, c->name);
	return CMD_OK;
}

struct session_config cmd__session(const struct config *c, const struct engine_ops *one[2])
{
	one[0] = c->engine;
	one[1] = NULL;
	return (struct session_config){
		.pids = c->pids,
		.npids = c->npids,
		.all = c->all,
		.follow = c->follow || c->command,
		.filters = &c->filters,
		.engines = c->engine ? one : engines__all(),
		.freq = c->freq,
		.clock = c->clock,
		.one_type = c->format && !c->format->types,
		.sources = c->format && c->format->sources,
		.lines = c->format && c->format->sample,
		.events = &c->events,
		.period = c->period,
		.calls = c->calls.n ? &c->calls : NULL,
		.capture = c->capture | event_list__capture(&c->events),
		.raw = c->native == NATIVE_RAW,
		.asked = c->asked,
		.memory = c->max_memory,
		.btf = c->btf,
		.max_sample_us = c->max_sample_us,
	};
}

unsigned int cmd__rights(const struct config *c, bool again)
{
	unsigned int uses = RIGHTS_TARGET | RIGHTS_EVENTS | RIGHTS_PRIORITY;

	if (again)
		uses |= RIGHTS_LOAD;
	if (c->capture & XR_ROW_KERNEL)
		uses |= RIGHTS_KERNEL;
	for (uint32_t i = 0; i < c->events.n; i++) {
		const enum event_kind kind = c->events.all[i].kind;

		if (kind == EVENT_GC || (again && (kind == EVENT_UPROBE || kind == EVENT_USDT)))
			uses |= RIGHTS_PROBES;
	}
	return uses;
}

bool cmd__none_profiled(const struct config *c, const struct stats *st)
{
	char text[256];

	if (st->processes)
		return false;
	if (filters__narrow(&c->filters)) {
		filters__text(&c->filters, text, sizeof(text));
		log__line("no R process matched %s", text);
		return true;
	}
	if (st->refused)
		log__line("no R process could be profiled; xrprof-bpf list prints the reasons");
	return st->refused;
}
