/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "engine/engine.h"
#include "os/os.h"
#include "output/writer.h"
#include "base/limits.h"

#define DURATION_MAX 1e9 /* seconds */

int options__pids(const struct option_row *row, void *place, const char *list, struct errmsg *f)
{
	struct config *c = place;
	const char *at = list;
	uint64_t pid;
	pid_t *grown;
	size_t i;

	for (;;) {
		if (parse__u64_to(&at, ',', INT_MAX, &pid) || !pid)
			return errmsg__set(f, -EINVAL, "--%s %s: not a list of process ids",
					   row->name, list);
		for (i = 0; i < c->npids && c->pids[i] != (pid_t)pid; i++)
			;
		if (i == c->npids) {
			grown = realloc(c->pids, (c->npids + 1) * sizeof(*grown));
			if (!grown)
				return errmsg__set(f, -ENOMEM, "out of memory");
			c->pids = grown;
			c->pids[c->npids++] = (pid_t)pid;
		}
		if (!*at)
			return 0;
		at++;
	}
}

/* `bits` of the row is the kind of filter. */
int options__filter(const struct option_row *row, void *place, const char *arg, struct errmsg *f)
{
	return filters__add(place, (enum filter_kind)row->bits, arg, f);
}

int options__size(const struct option_row *row, void *place, const char *arg, struct errmsg *f)
{
	uint64_t size;

	if (parse__size(arg, &size) || size < row->min)
		return errmsg__set(f, -EINVAL,
				   "--%s %s: not a size of at least %u bytes, such as 500M or 8G",
				   row->name, arg, row->min);
	*(uint64_t *)place = size;
	return 0;
}

/*
 * What the presets are called.  shiny: its wrapFunctionLabel() calls each by its label.  task:
 * eval_mirai() in mirai, crew_eval() in crew, evalFuture() in future, the do.call() of workLoop()
 * in parallel.  rserve: what R's parser hands over, below no other call.
 */
static const struct {
	const char *preset, *names[4];
} presets[] = {
	{"http", {CALLS_HTTP}},
	{"shiny", {"<observer*", "<reactive*", "output$*"}},
	{"rserve", {CALLS_OUTERMOST}},
	{"task", {"mirai::eval_mirai", "crew::crew_eval", "future::evalFuture", CALLS_TASK}},
};

static int calls__add(struct calls_wanted *calls, const struct option_row *row, const char *name,
		      struct errmsg *f)
{
	if (!call_name__ok(name))
		return errmsg__set(f, -EINVAL, "--%s %s: not a function: give f, or pkg::f",
				   row->name, name);
	if (calls->n == CALLS_NAMES_MAX)
		return errmsg__set(f, -EINVAL, "--%s: more than %u functions: use * in a name",
				   row->name, CALLS_NAMES_MAX);
	calls->names[calls->n++] = name;
	return 0;
}

int options__call(const struct option_row *row, void *place, const char *arg, struct errmsg *f)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		const char *const *names = presets[i].names;
		int err = 0;

		if (strcmp(arg, presets[i].preset) != 0)
			continue;
		for (size_t k = 0; k < 4 && names[k] && !err; k++)
			err = calls__add(place, row, names[k], f);
		return err;
	}
	return calls__add(place, row, arg, f);
}

int options__seconds(const struct option_row *row, void *place, const char *arg, struct errmsg *f)
{
	double seconds;

	if (parse__seconds(arg, &seconds) || seconds <= 0 || seconds > DURATION_MAX)
		return errmsg__set(
			f, -EINVAL,
			"--%s %s: not a time above 0: give seconds, or a number with ms, s, m or h",
			row->name, arg);
	*(double *)place = seconds;
	return 0;
}

bool options__format(size_t i, struct option_choice *c)
{
	const struct writer_ops *w = formats__all()[i];

	if (w)
		*c = (struct option_choice){.name = w->name, .help = w->help, .object = w};
	return w != NULL;
}

bool options__engine(size_t i, struct option_choice *c)
{
	const struct engine_ops *e = i ? engines__all()[i - 1] : NULL;

	if (e)
		*c = (struct option_choice){.name = e->name, .help = e->help, .object = e};
	else if (!i)
		*c = (struct option_choice){
			.name = "auto",
			.help = "the first of these that works on this machine (default)",
		};
	return !i || e;
}

bool options__clock(size_t i, struct option_choice *c)
{
	static const struct option_choice clocks[] = {
		{.name = "cpu", .number = ENGINE_CLOCK_CPU},
		{.name = "wall", .number = ENGINE_CLOCK_WALL},
	};

	if (i < sizeof(clocks) / sizeof(clocks[0]))
		*c = clocks[i];
	return i < sizeof(clocks) / sizeof(clocks[0]);
}

bool options__native(size_t i, struct option_choice *c)
{
	static const struct option_choice choices[] = {
		{.name = "leaf", .help = "within the innermost R function", .number = NATIVE_LEAF},
		{.name = "full", .help = "all native frames", .number = NATIVE_ALL},
		{.name = "raw", .help = "also R's own, by instruction", .number = NATIVE_RAW},
		{.name = "off", .help = "none", .number = NATIVE_OFF},
	};

	if (i < sizeof(choices) / sizeof(choices[0]))
		*c = choices[i];
	return i < sizeof(choices) / sizeof(choices[0]);
}

void options__capture(struct config *c, enum config_native by_default)
{
	if (c->native == NATIVE_DEFAULT)
		c->native = os__is_windows() ? NATIVE_OFF : by_default;
	c->capture &= ~(XR_ROW_NATIVE | XR_ROW_LEAF);
	if (c->native != NATIVE_OFF)
		c->capture |= XR_ROW_NATIVE;
	if (c->native == NATIVE_LEAF)
		c->capture |= XR_ROW_LEAF;
}

void options__waits(struct config *c)
{
	if (c->clock == ENGINE_CLOCK_WALL && !os__is_windows())
		c->capture |= XR_ROW_OFF_CPU;
}

void options__calls(struct config *c)
{
	const bool remote = c->engine && c->engine != engines__find("bpf");

	if (!c->calls.n)
		return;
	c->capture |= XR_ROW_CALLS | XR_ROW_PACKAGES | XR_ROW_GC | XR_ROW_OFF_CPU;
	if (remote)
		c->clock = ENGINE_CLOCK_WALL;
}

#define AT(member) OPTIONS_AT(member)

#undef OPTIONS_MEMORY_MANUAL
#define OPTIONS_MEMORY_MANUAL                                                                      \
	" The formats that keep all stacks until the end (pprof, speedscope, flamegraph) may "     \
	"use 128M by default."

const struct option_row options__rows[] = {
#include "cmd/options_targets.def"
#include "cmd/options_sampling.def"
	OPT_FLAG(0, "as-root", AT(config.as_root),
		 "with sudo: also run the command after -- as root", .group = OPTION_WHAT,
		 .windows = "there is no sudo on Windows",
		 .manual = "Otherwise the command runs as the user who called sudo (SUDO_UID and "
			   "SUDO_GID), with the groups, HOME, USER and LOGNAME of that user."),
	OPT_PARSE('d', "duration", AT(config.duration), "TIME", options__seconds,
		  "stop after this time: 30, 0.5, 30s, 5m, 1h (default: when all have ended)",
		  .group = OPTION_HOW, .manual = "Seconds, unless the number ends in s, m or h."),
	OPT_STRING('o', "output", AT(config.output), "FILE",
		   "write the profile to FILE (default: -, stdout); in a directory, rprof writes "
		   "Rprof.PID.out files",
		   .group = OPTION_WRITE,
		   .manual =
			   "A name that ends in / is a directory, which is made if it is missing."),
	OPT_PARSE(0, "max-file", AT(config.max_file), "SIZE", options__size,
		  "limit the size of each file: 500M, 8G (default: 4G)", .group = OPTION_WRITE,
		  .min = 4096,
		  .manual = "A number of bytes, or of KiB, MiB or GiB with K, M or G behind it. "
			    "What no longer fits into the file is counted. A pipe has no limit."),
	OPT_NUMBER(
		0, "min-samples", AT(config.min_samples), "N", 1, 1000,
		"in a directory, a separate file for processes with N samples or more (default: 5)",
		.group = OPTION_WRITE,
		.manual = "Fewer samples do not show what a process did. Those of such processes "
			  "are in one file, Rprof.others.out, and the index names the processes. "
			  "Processes of --pid and the command after -- always have a file; with 1 "
			  "all processes have."),
	OPT_OBJECT('f', "format", AT(config.format), "NAME", options__format,
		   "format (default: by the ending of -o):", .group = OPTION_WRITE),
#include "cmd/options_stacks.def"
	OPT_BITS(0, "gc", AT(config.capture), XR_ROW_GC,
		 "mark garbage collection, as Rprof(gc.profiling = TRUE)", .group = OPTION_HOW,
		 .windows = "not on Windows: R.dll does not export whether the collector runs",
		 .manual = "Without it the time of the collector is counted for the functions that "
			   "it interrupts. All formats except rprof always have the marks, if they "
			   "are available."),
#include "cmd/options_memory.def"
#include "cmd/options_waits.def"
#include "cmd/options_calls.def"
#include "cmd/options_events.def"
	OPT_BITS(0, "filter-callframes", AT(config.capture), XR_ROW_FILTER,
		 "short stacks without wrappers; may also drop callers, as R's own filter does",
		 .group = OPTION_HOW,
		 .manual = "As Rprof(filter.callframes = TRUE), it leaves out frames that only "
			   "pass on a lazy argument."),
	OPT_STRING(0, "stats", AT(config.stats), "FILE",
		   "on exit, write the counts to FILE as one JSON object (-: stdout)",
		   .group = OPTION_WRITE),
	OPT_STRING(
		0, "ready", AT(config.ready), "FILE",
		"write the profiler's process id to FILE once sampling has begun",
		.manual =
			"For programs that start the profiler. When FILE has a line, the processes "
			"of --pid are being sampled, or the command after -- was started."),
	OPT_FLAG(0, "until-eof", AT(config.until_eof),
		 "end the profile when standard input ends or has a line",
		 .manual = "For programs that start the profiler: the profile ends when they close "
			   "a pipe, or exit. It needs no permission to send a signal."),
#include "cmd/options_words.def"
	OPT_FLAG('V', "version", AT(version), "print the version and exit", .last = true),
	{0},
};

/* Filters need something to be filtered. */
static int options__filters(const struct config *c, struct errmsg *f)
{
	if (!c->filters.n || c->all || c->follow || c->command)
		return 0;
	return errmsg__set(f, -EINVAL,
			   "--user, --cgroup, --comm and --exclude-pid need --all, --subprocesses "
			   "or -- COMMAND: give one of these");
}

int options__targets(const struct config *c, struct errmsg *f)
{
	if (!c->npids && !c->all)
		return errmsg__set(f, -EINVAL, "no process given: give --pid PID or --all");
	if (c->npids && c->all)
		return errmsg__set(f, -EINVAL, "--pid and --all exclude each other");
	return options__filters(c, f);
}

int options__idle(const struct config *c, struct errmsg *f)
{
	if (!(c->capture & XR_ROW_IDLE) || c->capture & XR_ROW_OFF_CPU || c->calls.n ||
	    c->clock == ENGINE_CLOCK_WALL)
		return 0;
	return errmsg__set(f, -EINVAL, "--idle needs --off-cpu or --clock wall: give one of these");
}

/* rprof has R's counts themselves; of the others, those that can have another sample type. */
static int options__memory(const struct config *c, struct errmsg *f)
{
	if (!(c->capture & XR_ROW_MEMORY) || c->format->types || c->format->memory)
		return 0;
	return errmsg__set(f, -EINVAL,
			   "format %s has one number for a stack, and --memory adds another: give "
			   "-f rprof, pprof, speedscope or flamegraph",
			   c->format->name);
}

static int options__calls_fit(const struct config *c, struct errmsg *f)
{
	if (c->slower > 0 && !c->calls.n)
		return errmsg__set(f, -EINVAL, "--slower needs --calls NAME");
	if (!c->calls.n)
		return 0;
	if (c->capture & XR_ROW_FILTER)
		return errmsg__set(f, -EINVAL,
				   "--calls needs all frames, and --filter-callframes leaves out "
				   "some: leave one out");
	if (c->format->keeps.calls || c->slower > 0)
		return 0;
	return errmsg__set(f, -EINVAL,
			   "format %s does not have single calls, which --calls finds: give "
			   "-f pprof or flamegraph, or --slower TIME",
			   c->format->name);
}

/* What only all options together can tell. */
static int options__check(const struct config *c, struct errmsg *f)
{
	int ways = (c->npids > 0) + c->all + (c->command != NULL);

	if (!ways)
		return errmsg__set(f, -EINVAL,
				   "nothing to profile: give --pid PID, --all or -- COMMAND");
	if (ways > 1)
		return errmsg__set(f, -EINVAL, "--pid, --all and -- COMMAND exclude each other");
	if ((c->npids > 1 || c->all) && c->format->per_process && !strcmp(c->output, "-"))
		return errmsg__set(f, -EINVAL,
				   "several processes need one file each in format %s: "
				   "give -o DIRECTORY/, or -f folded, pprof, flamegraph",
				   c->format->name);
	if (c->stats && !strcmp(c->stats, "-") && !strcmp(c->output, "-"))
		return errmsg__set(
			f, -EINVAL,
			"--stats - and the profile would both go to stdout: give -o FILE");
	if (c->until_eof && c->command)
		return errmsg__set(f, -EINVAL,
				   "--until-eof: standard input belongs to the command after --");
	if (options__idle(c, f) || options__events(c, f) || options__memory(c, f) ||
	    options__calls_fit(c, f))
		return -EINVAL;
	return options__filters(c, f);
}

void options__init(struct options *o)
{
	*o = (struct options){
		.config.freq = OPTIONS_FREQ,
		.config.max_sample_us = XR_SAMPLE_US,
		.config.output = "-",
		.config.max_file = LIMIT_FILE,
		.config.min_samples = OPTIONS_MIN_SAMPLES,
		.config.max_memory = LIMIT_MEMORY,
	};
}

int options__parse(struct options *o, int argc, char **argv, struct errmsg *f)
{
	struct config *c = &o->config;
	struct option_rest rest;
	int err;

	options__init(o);
	c->max_memory = 0; /* its default depends on the format */
	err = option_rows__parse(options__rows, o, argc, argv, &rest, f);
	if (err || o->help || o->version)
		return err;
	if (rest.first < argc && !rest.separated)
		return errmsg__set(f, -EINVAL,
				   "unexpected argument: %s; put -- before a command to start",
				   argv[rest.first]);
	if (rest.separated && rest.first == argc)
		return errmsg__set(f, -EINVAL, "no command after --");
	if (rest.separated)
		c->command = argv + rest.first;
	if (!c->format)
		c->format = formats__of_path(c->output, f);
	if (!c->format)
		return -EINVAL;
	if (!c->max_memory)
		c->max_memory = c->format->profile ? LIMIT_MEMORY_WHOLE : LIMIT_MEMORY;
	c->asked = c->capture;
	c->capture |= c->format->capture;
	if (os__is_windows())
		c->capture &= ~XR_ROW_GC;
	if (c->no_packages)
		c->capture &= ~XR_ROW_PACKAGES;
	options__calls(c);
	options__waits(c);
	options__capture(c, NATIVE_OFF);
	return options__check(c, f);
}

void options__free(struct options *o)
{
	filters__free(&o->config.filters);
	free(o->config.pids);
	o->config.pids = NULL;
	o->config.npids = 0;
}
