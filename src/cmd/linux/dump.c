/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xrprof-bpf dump`: the stack of R processes right now, whether they run or wait.
 *
 * All processes are asked at once what they are (dump_list.h).  Then each in turn has a separate
 * session, of wall time, which ends with the first sample.  So `dump` knows of an R what `record`
 * knows, and reports the same when it cannot be read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/linux/dump_core.h"
#include "cmd/linux/dump_list.h"
#include "cmd/linux/dump_show.h"
#include "cmd/options.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/linux/rights.h"
#include "profile/stacks.h"
#include "session/session.h"

#define FREQ	    500 /* Hz: a stack that changed while it was read is read again so soon */
#define TRY_MS	    800 /* for one process, from the start of its session on */
#define UNPROVEN_MS 100 /* of that, for the line of the innermost frame to become known */
#define POLL_MS	    2
#define READ_US	    5000 /* for a stack, however deep */

struct dump_options {
	struct options o; /* first */
	bool json, calls, locals;
	const char *core, *libr;
};

struct dump {
	const struct dump_options *options;
	struct dump_list list;
	uint64_t dumped;
	struct json json; /* with --json: all of it */
	/* of the process that is looked at now: what its session's sink was given */
	struct dump_process now;
	struct stacks stacks;
	uint64_t last_id;
	uint32_t samples;
	struct errmsg why; /* of the sink */
};

/* --- one process: the sink of its session --- */

/* The newest sample stands. */
static int newest__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct dump *d = arg;
	struct dump_process *now = &d->now;

	(void)p;
	if (s->pid != (uint32_t)now->pid) /* a child */
		return 0;
	stacks__free(&d->stacks);
	stacks__init(&d->stacks, NULL, &d->last_id);
	now->stack = stacks__copy(&d->stacks, s->stack);
	if (!now->stack)
		return errmsg__set(&d->why, -ENOMEM, "out of memory");
	now->tid = (pid_t)s->tid;
	now->flags = s->flags;
	d->samples++;
	activity__read(&now->activity, now->pid, now->tid);
	return 0;
}

static const struct errmsg *newest__why(void *arg)
{
	struct dump *d = arg;

	return &d->why;
}

static const struct sink_ops sink_ops = {
	.sample = newest__sample,
	.why = newest__why,
};

/* Is what came so far what is to be shown? */
static bool dump__complete(const struct dump *d, struct session *s, uint64_t passed)
{
	struct stats stats;

	if (d->samples)
		return !(d->now.flags & XR_F_UNPROVEN) || passed >= UNPROVEN_MS * NS_PER_MS;
	return !session__stats(s, &stats) && stats.no_r_frames;
}

/* Its session has begun: take a sample.  0, or a negative errno with @f filled. */
static int dump__sample(struct dump *d, struct session *s, struct errmsg *f)
{
	uint64_t began = os__now(), passed = 0;
	enum session_state state = SESSION_RUNS;
	struct stats stats;
	const char *why;

	while (state == SESSION_RUNS && passed < TRY_MS * NS_PER_MS) {
		state = session__poll(s, POLL_MS);
		passed = os__now() - began;
		if (dump__complete(d, s, passed))
			break;
	}
	if (d->samples)
		return 0;
	if (session__stats(s, &stats))
		stats = (struct stats){0};
	if (stats.no_r_frames) {
		activity__read(&d->now.activity, d->now.pid, d->now.tid);
		return 0;
	}
	why = session__why(s)->text;
	if (state == SESSION_FAILED || (*why && !stats.ticks))
		return errmsg__set(f, -EIO, "%s", why);
	if (state == SESSION_OVER)
		return errmsg__set(f, -ESRCH, "process %d ended before it could be read",
				   (int)d->now.pid);
	if (stats.rows[XR_TORN])
		return errmsg__set(f, -EAGAIN,
				   "process %d: its stack changed during each of %llu attempts to "
				   "read it; -e ptrace stops it for a moment",
				   (int)d->now.pid, (unsigned long long)stats.rows[XR_TORN]);
	return errmsg__set(f, -EIO, "process %d: its stack could not be read within %u ms",
			   (int)d->now.pid, TRY_MS);
}

static void on_note(void *arg, enum notes_level level, const char *line)
{
	(void)arg;
	(void)level;
	log__line("%s", line);
}

/* The stack of d->now, in a separate session.  0, or a negative errno with @f filled. */
static int dump__process(struct dump *d, struct errmsg *f)
{
	const struct config *c = &d->options->o.config;
	const struct engine_ops *const engines[] = {c->engine, NULL};
	const struct session_config config = {
		.pids = &d->now.pid,
		.npids = 1,
		.stopped = true,
		.engines = engines,
		.freq = FREQ,
		.clock = ENGINE_CLOCK_WALL,
		.capture = c->capture,
		.max_sample_us = READ_US,
		.memory = LIMIT_MEMORY,
		.notes = {.line = c->verbose ? on_note : NULL, .lowest = NOTES_USER},
	};
	const struct sink sink = {.ops = &sink_ops, .arg = d};
	struct session *s = NULL;
	struct stats stats;
	int err;

	d->samples = 0;
	err = session__open(&s, &config, sink, f);
	if (err)
		return err;
	err = session__start(s);
	if (err)
		*f = *session__why(s);
	else
		err = dump__sample(d, s, f);
	session__stop(s, &stats);
	session__free(s);
	/* what stopped it when the sample came was engine ptrace, at its next one */
	if (!err && d->now.activity.state == 't')
		activity__read(&d->now.activity, d->now.pid, d->now.tid);
	return err;
}

/* --- what is shown --- */

/* Each goes out at once: another may take its time. */
static int dump__print(struct dump *d)
{
	struct buf text = {0};
	int err;

	if (d->options->json)
		return dump_show__json(&d->json, &d->now);
	err = d->dumped ? buf__str(&text, "\n") : 0;
	err = err ? err : dump_show__text(&text, &d->now);
	errno = 0;
	if (!err && (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout))) {
		err = errno ? -errno : -EIO;
		clearerr(stdout);
	}
	buf__free(&text);
	return err;
}

/* The program's data, if they are wanted: NULL when they cannot be read, which is reported. */
static int dump__values(struct dump *d, const struct dump_asked *p, struct frame_values **values)
{
	int err;

	if ((!d->options->calls && !d->options->locals) || !d->now.stack)
		return 0;
	err = dump_values__read(p->pid, &p->row, d->now.stack, d->options->calls,
				d->options->locals, values);
	if (err == -EFAULT)
		log__line("process %d: its calls could not be read; the stack below is without "
			  "them",
			  (int)p->pid);
	return err == -EFAULT ? 0 : err;
}

/* A negative errno: nothing more can be shown.  What failed with one process is in its `why`. */
static int dump__one(struct dump *d, struct dump_asked *p)
{
	struct frame_values *values = NULL;
	struct proc proc;
	char name[sizeof(proc.comm) + 2];
	int err = 0;

	d->now = (struct dump_process){
		.pid = p->pid, .tid = p->pid, .command = p->command, .r_version = p->version};
	if (!p->failed)
		p->failed = dump__process(d, &p->why) != 0;
	if (p->failed) {
		log__line("%s", p->why.text);
		return 0;
	}
	if (!d->now.command) {
		snprintf(name, sizeof(name), "[%s]", proc__read(p->pid, &proc) ? "?" : proc.comm);
		d->now.command = name;
	}
	err = dump__values(d, p, &values);
	d->now.values = values;
	err = err ? err : dump__print(d);
	d->dumped++;
	if (values)
		dump_values__free(values, d->now.stack);
	stacks__free(&d->stacks);
	return err;
}

static void dump__failures(struct dump *d)
{
	json__array(&d->json, "failed");
	for (size_t i = 0; i < d->list.n; i++) {
		if (!d->list.asked[i].failed)
			continue;
		json__object(&d->json, NULL);
		json__u64(&d->json, "pid", (uint64_t)d->list.asked[i].pid);
		json__str(&d->json, "reason", d->list.asked[i].why.text);
		json__close(&d->json);
	}
	json__close(&d->json);
}

static int dump__all(struct dump *d, struct errmsg *f)
{
	int err = dump_list__find(&d->list, &d->options->o.config, f), shown;

	if (err)
		return err;
	if (d->options->json) {
		json__begin(&d->json);
		json__object(&d->json, NULL);
		json__array(&d->json, "processes");
	}
	for (size_t i = 0; i < d->list.n && !err; i++)
		err = d->list.asked[i].left_out ? 0 : dump__one(d, &d->list.asked[i]);
	if (d->options->json) {
		json__close(&d->json);
		dump__failures(d);
		json__close(&d->json);
		shown = json__print(&d->json, stdout);
		err = err ? err : shown;
	}
	if (err)
		return errmsg__set(f, err, "cannot write the stacks: %s", strerror(-err));
	if (d->options->o.config.follow && !d->dumped)
		return errmsg__set(f, -ESRCH,
				   "no R process in these processes or their descendants");
	if (!d->list.n)
		return errmsg__set(f, -ESRCH, "no R process found that this user may inspect");
	return 0;
}

/* --- the command line --- */

static bool choice_engine(size_t i, struct option_choice *c)
{
	static const struct option_choice engines[] = {
		{
			.name = "vmread",
			.help = "the process is never stopped (default)",
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
		.name = "json",
		.letter = 'j',
		.help = "print one JSON object",
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
	if (o->libr && !o->core)
		return errmsg__set(f, -EINVAL, "--libr needs --core FILE");
	return o->core ? 0 : options__targets(c, f);
}

/* A core file is read with the rights of who calls. */
static int dump__core(const struct dump_options *o, struct errmsg *f)
{
	const struct dump_core d = {
		.path = o->core, .libr = o->libr, .locals = o->locals, .json = o->json};

	rights__keep(0);
	return dump_core__show(&d, f);
}

/* A member of the group sees functions of every process, and no data (SECURITY.md). */
static int dump__values_allowed(const struct dump_options *o, struct errmsg *f)
{
	if ((!o->calls && !o->locals) || rights__whose(NULL) != RIGHTS_GROUP)
		return 0;
	return errmsg__set(
		f, -EPERM,
		"--calls and --locals: not allowed to members of the program's group: they "
		"show the data of a process; run it as root (sudo)");
}

static int dump__main(int argc, char **argv)
{
	struct dump_options o;
	struct dump d = {.options = &o};
	struct errmsg f = {""};
	int err;

	memset(&o, 0, sizeof(o));
	options__init(&o.o);
	o.o.config.engine = &engine_vmread;
	o.o.config.capture = XR_ROW_LINES | XR_ROW_GC | XR_ROW_PACKAGES;
	err = cmd__options(&cmd_dump, &o, argc, argv);
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
	if (dump__values_allowed(&o, &f) || dump__all(&d, &f))
		log__line("%s", f.text);
	dump_list__free(&d.list);
	stacks__free(&d.stacks);
	options__free(&o.o);
	return d.dumped && !f.text[0] ? CMD_OK : CMD_FAILED;
}

const struct subcommand cmd_dump = {
	.name = "dump",
	.help = "show the current stacks of R processes",
	.usage = {"dump (-p PID[,PID...] | -a) [--calls] [--locals] [--json]",
		  "dump --core FILE [--libr FILE] [--locals] [--json]"},
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
			{"The R functions in which it crashed", "xrprof-bpf dump --core core.4711"},
			{"All R processes, for another program", "xrprof-bpf dump -a --json"},
		},
	.options = rows,
	.run = dump__main,
};
