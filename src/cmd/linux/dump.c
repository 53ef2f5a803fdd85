/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `dump`: its command line. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/linux/dump_core.h"
#include "cmd/linux/dump_run.h"
#include "os/linux/rights.h"

static bool choice_engine(size_t i, struct option_choice *c)
{
	static const struct option_choice engines[] = {
		{
			.name = "vmread",
			.help = "the process is never stopped (default without --native)",
			.object = &engine_vmread,
		},
		{
			.name = "ptrace",
			.help = "the thread is stopped for a few microseconds, so that its stack "
				"cannot change",
			.object = &engine_ptrace,
		},
	};

	if (i < sizeof(engines) / sizeof(engines[0]))
		*c = engines[i];
	return i < sizeof(engines) / sizeof(engines[0]);
}

static const struct option_row rows[] = {
	{
		.name = "pid",
		.letter = 'p',
		.arg = "PID[,PID...]",
		.help = "show the stacks of these processes; repeatable",
		.type = OPTION_PARSE,
		.parse = options__pids,
		OPTIONS_AT(config),
	},
	{
		.name = "all",
		.letter = 'a',
		.help = "show the stacks of every R process",
		.type = OPTION_FLAG,
		OPTIONS_AT(config.all),
	},
	{
		.name = "subprocesses",
		.letter = 's',
		.help = "also show the R processes that these started",
		.type = OPTION_FLAG,
		OPTIONS_AT(config.follow),
	},
	{
		.name = "calls",
		.letter = 'c',
		.help = "show each call with its arguments, as traceback() does",
		.type = OPTION_FLAG,
		.at = offsetof(struct dump_options, calls),
	},
	{
		.name = "locals",
		.letter = 'l',
		.help = "show the variables of each function, as str() does; nothing is evaluated",
		.type = OPTION_FLAG,
		.at = offsetof(struct dump_options, locals),
	},
	{
		.name = "globals",
		.help = "also show what holds the memory: the largest objects",
		.manual = "Of the global environment, the functions that run and the loaded "
			  "packages, with the sizes of object.size(). An object that several "
			  "others share counts once. The process is not stopped: what changes "
			  "meanwhile may be counted twice or not.",
		.type = OPTION_FLAG,
		.at = offsetof(struct dump_options, globals),
	},
	{
		.name = "native",
		.arg = "HOW",
		.without = "full",
		.help = "native frames among R's, of engine ptrace or --core:",
		.manual = "As record shows them. A thread that runs is stopped for as long as its "
			  "frames are read. One that waits is not, unless its frames need its "
			  "registers: then its system call is restarted.",
		.type = OPTION_ENUM,
		.choice = options__native,
		OPTIONS_AT(config.native),
	},
	{
		.name = "threads",
		.help = "also show what the other threads do, with --native in which functions",
		.type = OPTION_FLAG,
		.at = offsetof(struct dump_options, threads),
	},
	{
		.name = "core",
		.arg = "FILE",
		.help = "show the calls that R was in when it crashed, from its core file",
		.type = OPTION_STRING,
		.at = offsetof(struct dump_options, core),
	},
	{
		.name = "libr",
		.arg = "FILE",
		.help = "with --core: the libR.so that ran, where it lies now",
		.type = OPTION_STRING,
		.at = offsetof(struct dump_options, libr),
	},
	{
		.name = "every",
		.arg = "TIME",
		.help = "repeat after this time, until Ctrl-C or the end of the processes: 5, "
			"0.5, 1m",
		.manual = "Each dump begins with the time. A process whose stack is the same as "
			  "before has one line, unchanged. With --json each dump is an object "
			  "in one line.",
		.type = OPTION_PARSE,
		.parse = options__seconds,
		.at = offsetof(struct dump_options, every),
	},
	{
		.name = "json",
		.letter = 'j',
		.help = "print one JSON object, with --every one a line",
		.type = OPTION_FLAG,
		.at = offsetof(struct dump_options, json),
	},
	{
		.name = "engine",
		.letter = 'e',
		.arg = "NAME",
		.help = "how a stack is read:",
		.type = OPTION_OBJECT,
		.choice = choice_engine,
		OPTIONS_AT(config.engine),
	},
	{
		.name = "verbose",
		.letter = 'v',
		.help = "print more on stderr",
		.type = OPTION_FLAG,
		OPTIONS_AT(config.verbose),
	},
	{
		.name = "help",
		.letter = 'h',
		.help = "print this help and exit",
		.type = OPTION_FLAG,
		.last = true,
		OPTIONS_AT(help),
	},
	{0},
};

/* What goes with what. */
static int dump__check(const struct dump_options *o, struct errmsg *f)
{
	const struct config *c = &o->o.config;

	if (o->core && (c->npids || c->all || c->follow))
		return errmsg__set(f, -EINVAL,
				   "--core and --pid, --all or --subprocesses exclude "
				   "each other: a core file has one process");
	if (o->core && o->every > 0)
		return errmsg__set(f, -EINVAL,
				   "--core and --every exclude each other: a core "
				   "file does not change");
	if (o->core && o->threads)
		return errmsg__set(f, -EINVAL, "--core and --threads exclude each other: use gdb");
	if (o->core && c->native == NATIVE_LEAF)
		return errmsg__set(f, -EINVAL, "--core needs --native=full or raw");
	if (!o->core && c->native != NATIVE_OFF && c->engine != &engine_ptrace)
		return errmsg__set(f, -EINVAL, "--native needs engine ptrace");
	if (o->libr && !o->core)
		return errmsg__set(f, -EINVAL, "--libr needs --core FILE");
	return o->core ? 0 : options__targets(c, f);
}

/* A core file is read with the rights of who calls. */
static int dump__core(const struct dump_options *o, struct errmsg *f)
{
	const struct dump_core d = {.path = o->core,
				    .libr = o->libr,
				    .locals = o->locals,
				    .globals = o->globals,
				    .native = o->o.config.native != NATIVE_OFF,
				    .raw = o->o.config.native == NATIVE_RAW,
				    .json = o->json};

	rights__keep(0);
	return dump_core__show(&d, f);
}

/* A member of the group sees functions of every process, and no data (SECURITY.md). */
static int dump__values_allowed(const struct dump_options *o, struct errmsg *f)
{
	if ((!o->calls && !o->locals && !o->globals) || rights__whose(NULL) != RIGHTS_GROUP)
		return 0;
	return errmsg__set(f, -EPERM,
			   "--calls, --locals and --globals: not allowed to members of the "
			   "program's group: they "
			   "show the data of a process; run it as root (sudo)");
}

static int dump__main(int argc, char **argv)
{
	struct dump_options o;
	struct errmsg f = {""};
	int err;

	memset(&o, 0, sizeof(o));
	options__init(&o.o);
	err = cmd__options(&cmd_dump, &o, argc, argv);
	o.o.config.capture = XR_ROW_LINES | XR_ROW_GC | XR_ROW_PACKAGES;
	options__capture(&o.o.config, NATIVE_OFF);
	if (!o.o.config.engine)
		o.o.config.engine =
			o.o.config.native == NATIVE_OFF ? &engine_vmread : &engine_ptrace;
	if (!err && o.o.help)
		err = cmd__help(&cmd_dump);
	else if (!err && dump__check(&o, &f))
		err = cmd__usage_error(&cmd_dump, &f);
	if (err || o.o.help) {
		options__free(&o.o);
		return err;
	}
	if (o.core) {
		err = dump__core(&o, &f);
		if (err)
			log__line("%s", f.text);
		options__free(&o.o);
		return err ? CMD_FAILED : CMD_OK;
	}
	rights__keep(RIGHTS_TARGET | RIGHTS_PRIORITY);
	err = dump__values_allowed(&o, &f);
	err = err ? err : dump_run(&o, &f);
	if (f.text[0])
		log__line("%s", f.text);
	options__free(&o.o);
	return err ? CMD_FAILED : CMD_OK;
}

const struct subcommand cmd_dump = {
	.name = "dump",
	.help = "show the current stacks of R processes",
	.usage = {"dump (-p PID[,PID...] | -a) [options]",
		  "dump --core FILE [--libr FILE] [--native] [--locals] [--globals] [--json]"},
	.about = "The stack of each process as it is now, whether it runs or waits, the "
		 "innermost call first. A line has the function, and if R has source "
		 "references, the file and line that is being executed in it. The head "
		 "names the process and the state of its R thread: running, or the "
		 "system call in which it waits.",
	.examples =
		{
			{"What a process that seems to hang is doing", "xrprof-bpf dump -p 4711"},
			{"And with which arguments and variables",
			 "xrprof-bpf dump -p 4711 --calls --locals"},
			{"And which objects hold its memory", "xrprof-bpf dump -p 4711 --globals"},
			{"The functions in which it crashed",
			 "xrprof-bpf dump --core core.4711 --native"},
			{"What changes, once a second", "xrprof-bpf dump -p 4711 --every 1"},
			{"All R processes, for another program", "xrprof-bpf dump -a --json"},
		},
	.options = rows,
	.run = dump__main,
};
