/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `dump`: its command line. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "cmd/cmd.h"
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
	OPT_PARSE('p', "pid", OPTIONS_AT(config), "PID[,PID...]", options__pids,
		  "show the stacks of these processes; repeatable"),
	OPT_FLAG('a', "all", OPTIONS_AT(config.all), "show the stacks of every R process"),
	OPT_FLAG('s', "subprocesses", OPTIONS_AT(config.follow),
		 "also show R processes that these processes started"),
	OPT_FLAG('c', "calls", .at = offsetof(struct dump_options, calls),
		 "show each call with its arguments, as traceback() does"),
	OPT_FLAG('l', "locals", .at = offsetof(struct dump_options, locals),
		 "show the variables of each function, as str() does; nothing is evaluated"),
	OPT_FLAG(0, "globals", .at = offsetof(struct dump_options, globals),
		 "also show what holds the memory: the largest objects",
		 .manual = "Of the global environment, the functions that run and the loaded "
			   "packages, with the sizes of object.size(). An object that several "
			   "others share counts once. The process is not stopped: what changes "
			   "meanwhile may be counted twice or not."),
	OPT_ENUM(0, "native", OPTIONS_AT(config.native), "HOW", options__native,
		 "native frames among R's, of engine ptrace or --core:", .without = "full",
		 .manual = "As record shows them. A thread that runs is stopped for as long as its "
			   "frames are read. One that waits is not, unless its frames need its "
			   "registers: then its system call is restarted."),
	OPT_FLAG(0, "threads", .at = offsetof(struct dump_options, threads),
		 "also show what the other threads do, with --native in which functions"),
	OPT_STRING(0, "core", .at = offsetof(struct dump_options, core), "FILE",
		   "show the calls that R was in when it crashed, from its core file"),
	OPT_STRING(0, "libr", .at = offsetof(struct dump_options, libr), "FILE",
		   "with --core: the libR.so that ran, where it lies now"),
	OPT_PARSE(0, "every", .at = offsetof(struct dump_options, every), "TIME", options__seconds,
		  "repeat after this time, until Ctrl-C or the end of the processes: 5, 0.5, 1m",
		  .manual = "Each dump begins with the time. A process whose stack is the same as "
			    "before has one line, unchanged. With --json each dump is an object in "
			    "one line."),
	OPT_FLAG('j', "json", .at = offsetof(struct dump_options, json),
		 "print one JSON object, with --every one a line"),
	OPT_OBJECT('e', "engine", OPTIONS_AT(config.engine), "NAME", choice_engine,
		   "how a stack is read:"),
	OPT_FLAG('v', "verbose", OPTIONS_AT(config.verbose), "print more on stderr"),
	OPT_HELP(OPTIONS_AT(help)),
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
	if (!cmd__options(&cmd_dump, &o, argc, argv, &err))
		goto cleanup;
	o.o.config.capture = XR_ROW_LINES | XR_ROW_GC | XR_ROW_PACKAGES;
	if (o.calls || o.locals)
		o.o.config.capture |= XR_ROW_CALLS;
	options__capture(&o.o.config, NATIVE_OFF);
	if (!o.o.config.engine)
		o.o.config.engine =
			o.o.config.native == NATIVE_OFF ? &engine_vmread : &engine_ptrace;
	if (dump__check(&o, &f)) {
		err = cmd__usage_error(&cmd_dump, &f);
		goto cleanup;
	}
	if (o.core) {
		rights__keep(0); /* it is read with the rights of who calls */
		err = dump_core(&o, &f);
	} else {
		rights__keep(RIGHTS_TARGET | RIGHTS_PRIORITY);
		err = dump__values_allowed(&o, &f);
		err = err ? err : dump_run(&o, &f);
	}
	if (err && f.text[0])
		log__line("%s", f.text);
	err = err ? CMD_FAILED : CMD_OK;
cleanup:
	options__free(&o.o);
	return err;
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
