/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"
#include "os/os.h"
#include "engine/engine.h"
#include "output/writer.h"

#define FREQ_DEFAULT 99
#define FREQ_MAX     100000
#define HELP_COLUMN  34

/* Keys of options that have no letter. */
enum {
	KEY_GC = 256,
	KEY_FILTER,
	KEY_USER,
	KEY_CGROUP,
	KEY_COMM,
	KEY_EXCLUDE,
	KEY_STATS,
	KEY_CLOCK,
	KEY_BTF,
};

/* One row per option; a row without help is an alias of another. */
struct row {
	int key;
	const char *name;
	const char *arg; /* what its argument is called, NULL: it has none */
	const char *help;
};

static const struct row rows[] = {
	{.key = 'p',
	 .name = "pid",
	 .arg = "PID[,PID...]",
	 .help = "profile these processes; repeatable"},
	{.key = 'a', .name = "all", .help = "profile every R process, present and future"},
	{.key = 's',
	 .name = "subprocesses",
	 .help = "and the R processes that the profiled ones start"},
	{.key = KEY_USER,
	 .name = "user",
	 .arg = "NAME",
	 .help = "of those found by --all or -s, only this user's; repeatable"},
	{.key = KEY_CGROUP,
	 .name = "cgroup",
	 .arg = "PATTERN",
	 .help = "only those in this cgroup or container; repeatable"},
	{.key = KEY_COMM,
	 .name = "comm",
	 .arg = "PATTERN",
	 .help = "only those whose command has this name; repeatable"},
	{.key = KEY_EXCLUDE,
	 .name = "exclude-pid",
	 .arg = "PID[,PID...]",
	 .help = "but not these; repeatable"},
	{.key = 'F',
	 .name = "freq",
	 .arg = "HZ",
	 .help = "samples per second of CPU time (default: 99)"},
	{.key = 'F', .name = "rate", .arg = "HZ"},
	{.key = 'F', .name = "frequency", .arg = "HZ"},
	{.key = 'd',
	 .name = "duration",
	 .arg = "SECONDS",
	 .help = "stop after this time (default: when all have ended)"},
	{.key = 'o',
	 .name = "output",
	 .arg = "FILE",
	 .help = "write the profile to FILE (default: -, stdout); a directory gets"},
	{.key = 'f', .name = "format", .arg = "NAME", .help = "format of the profile:"},
	{.key = 'e', .name = "engine", .arg = "NAME", .help = "how samples are taken:"},
	{.key = KEY_CLOCK,
	 .name = "clock",
	 .arg = "cpu|wall",
	 .help = "sample the time spent computing, or all time"},
	{.key = 'l', .name = "lines", .help = "source lines, as Rprof(line.profiling = TRUE)"},
	{.key = KEY_GC,
	 .name = "gc",
	 .help = "mark garbage collection, as Rprof(gc.profiling = TRUE)"},
	{.key = KEY_FILTER,
	 .name = "filter-callframes",
	 .help = "leave out frames of lazy evaluation, as Rprof(filter.callframes = TRUE)"},
	{.key = KEY_STATS,
	 .name = "stats",
	 .arg = "FILE",
	 .help = "on exit write counts to FILE, one JSON object"},
	{.key = KEY_BTF,
	 .name = "btf",
	 .arg = "FILE",
	 .help = "the kernel's types, for kernels without /sys/kernel/btf"},
	{.key = 'v', .name = "verbose", .help = "say more on stderr"},
	{.key = 'q', .name = "quiet", .help = "say nothing on stderr but errors"},
	{.key = 'h', .name = "help", .help = "print this and exit"},
	{.key = 'V', .name = "version", .help = "print the version and exit"},
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))

static const struct row *row__find(int key)
{
	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].key == key)
			return &rows[i];
	return NULL;
}

/* The rows in the form of getopt_long(); @shorts has room for three characters per row and two. */
static void rows__make(struct option *longs, char *shorts)
{
	size_t n = 0;

	shorts[n++] = '+'; /* stop at the first word that is no option */
	shorts[n++] = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < NROWS; i++) {
		longs[i] = (struct option){
			.name = rows[i].name,
			.has_arg = rows[i].arg ? required_argument : no_argument,
			.val = rows[i].key,
		};
		if (rows[i].key >= KEY_GC || !rows[i].help)
			continue;
		shorts[n++] = (char)rows[i].key;
		if (rows[i].arg)
			shorts[n++] = ':';
	}
	shorts[n] = '\0';
	longs[NROWS] = (struct option){0};
}

/* A whole number from @min to @max, and nothing after it but @end or the end of the string. */
static int number__parse(const char *text, char end, long min, long max, long *out,
			 const char **rest)
{
	char *stop;
	long value;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtol(text, &stop, 10);
	if (errno || value < min || value > max || (*stop && *stop != end))
		return -EINVAL;
	*out = value;
	*rest = stop;
	return 0;
}

static int options__add_pids(struct options *o, const char *list, struct errmsg *f)
{
	const char *text = list;
	pid_t *grown;
	size_t i;
	long pid;

	for (;;) {
		if (number__parse(text, ',', 1, INT_MAX, &pid, &text))
			return errmsg__set(f, -EINVAL, "--pid %s: not a list of process ids", list);
		for (i = 0; i < o->config.npids && o->config.pids[i] != pid; i++)
			;
		if (i == o->config.npids) {
			grown = realloc(o->config.pids, (o->config.npids + 1) * sizeof(*grown));
			if (!grown)
				return errmsg__set(f, -ENOMEM, "out of memory");
			o->config.pids = grown;
			o->config.pids[o->config.npids++] = (pid_t)pid;
		}
		if (!*text)
			return 0;
		text++;
	}
}

static int options__duration(struct options *o, const char *text, struct errmsg *f)
{
	char *stop;

	o->config.duration = strtod(text, &stop);
	if (stop == text || *stop || !isfinite(o->config.duration) || o->config.duration <= 0 ||
	    o->config.duration > 1e9)
		return errmsg__set(f, -EINVAL, "--duration %s: not a number of seconds above 0",
				   text);
	return 0;
}

/* The names in a table, as "auto, bpf". */
static void names__join(char *buf, size_t size, const char *first, const char *name)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s%s", len ? ", " : first, name);
}

static int options__format(struct options *o, const char *name, struct errmsg *f)
{
	char known[256] = "";

	o->config.format = formats__find(name);
	if (o->config.format)
		return 0;
	for (const struct writer_ops *const *w = formats__all(); *w; w++)
		names__join(known, sizeof(known), "", (*w)->name);
	return errmsg__set(f, -EINVAL, "--format %s: no such format (there are: %s)", name, known);
}

static int options__engine(struct options *o, const char *name, struct errmsg *f)
{
	char known[256] = "auto";

	o->config.engine = engines__find(name);
	if (o->config.engine || !strcmp(name, "auto"))
		return 0;
	for (const struct engine_ops *const *e = engines__all(); *e; e++)
		names__join(known, sizeof(known), "", (*e)->name);
	return errmsg__set(f, -EINVAL, "--engine %s: no such engine (there are: %s)", name, known);
}

static int options__set(struct options *o, int key, const char *arg, struct errmsg *f)
{
	const char *rest;
	long value;

	switch (key) {
	case 'p':
		return options__add_pids(o, arg, f);
	case 'a':
		o->config.all = true;
		return 0;
	case 's':
		o->config.follow = true;
		return 0;
	case KEY_USER:
		return filters__add(&o->config.filters, FILTER_USER, arg, f);
	case KEY_CGROUP:
		return filters__add(&o->config.filters, FILTER_CGROUP, arg, f);
	case KEY_COMM:
		return filters__add(&o->config.filters, FILTER_COMM, arg, f);
	case KEY_EXCLUDE:
		return filters__add(&o->config.filters, FILTER_EXCLUDE, arg, f);
	case 'F':
		if (number__parse(arg, '\0', 1, FREQ_MAX, &value, &rest))
			return errmsg__set(f, -EINVAL, "--freq %s: not a whole number from 1 to %d",
					   arg, FREQ_MAX);
		o->config.freq = (uint32_t)value;
		return 0;
	case 'd':
		return options__duration(o, arg, f);
	case 'o':
		if (!*arg)
			return errmsg__set(f, -EINVAL, "--output: the name is empty");
		o->config.output = arg;
		return 0;
	case 'f':
		return options__format(o, arg, f);
	case 'e':
		return options__engine(o, arg, f);
	case KEY_CLOCK:
		if (!strcmp(arg, "cpu"))
			o->config.clock = ENGINE_CLOCK_CPU;
		else if (!strcmp(arg, "wall"))
			o->config.clock = ENGINE_CLOCK_WALL;
		else
			return errmsg__set(f, -EINVAL, "--clock %s: neither cpu nor wall", arg);
		return 0;
	case 'l':
		o->config.capture |= XR_ROW_LINES;
		return 0;
	case KEY_GC:
		o->config.capture |= XR_ROW_GC;
		return 0;
	case KEY_FILTER:
		o->config.capture |= XR_ROW_FILTER;
		return 0;
	case KEY_STATS:
		o->config.stats = arg;
		return 0;
	case KEY_BTF:
		o->config.btf = arg;
		return 0;
	case 'v':
		o->config.verbose = true;
		return 0;
	case 'q':
		o->config.quiet = true;
		return 0;
	case 'h':
		o->help = true;
		return 0;
	case 'V':
		o->version = true;
		return 0;
	}
	return errmsg__set(f, -EINVAL, "option %d has no code", key);
}

/* What only all options together can tell. */
static int options__check(const struct options *o, struct errmsg *f)
{
	int ways = (o->config.npids > 0) + o->config.all + (o->config.command != NULL);

	if (!ways)
		return errmsg__set(f, -EINVAL,
				   "nothing to profile: give --pid PID, --all or -- COMMAND");
	if (ways > 1)
		return errmsg__set(f, -EINVAL, "--pid, --all and -- COMMAND exclude each other");
	if ((o->config.npids > 1 || o->config.all) && o->config.format->per_process &&
	    !strcmp(o->config.output, "-"))
		return errmsg__set(f, -EINVAL,
				   "several processes need one file each in format %s: "
				   "give -o DIRECTORY/, or -f folded",
				   o->config.format->name);
	if (o->config.filters.n && !o->config.all && !o->config.follow)
		return errmsg__set(
			f, -EINVAL,
			"--user, --cgroup, --comm and --exclude-pid choose from what --all "
			"or --subprocesses finds: give one of these");
	return 0;
}

int options__parse(struct options *o, int argc, char **argv, struct errmsg *f)
{
	struct option longs[NROWS + 1];
	char shorts[3 * NROWS + 3];
	const char *why;
	int key, err;

	*o = (struct options){
		.config.freq = FREQ_DEFAULT,
		.config.output = "-",
		.config.format = formats__all()[0],
	};
	rows__make(longs, shorts);
	optind = 0; /* start anew: getopt keeps its place in a global */
	opterr = 0;
	while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (key == ':')
			return errmsg__set(f, -EINVAL, "%s needs an argument", argv[optind - 1]);
		if (key == '?' && optopt > 0 && optopt < KEY_GC && !row__find(optopt))
			return errmsg__set(f, -EINVAL, "no such option: -%c", optopt);
		if (key == '?' && optopt)
			return errmsg__set(f, -EINVAL, "%s takes no argument", argv[optind - 1]);
		if (key == '?')
			return errmsg__set(f, -EINVAL, "no such option: %s", argv[optind - 1]);
		why = os__refuses(row__find(key)->name);
		if (why)
			return errmsg__set(f, -EINVAL, "--%s: %s", row__find(key)->name, why);
		err = options__set(o, key, optarg, f);
		if (err)
			return err;
		if (o->help || o->version)
			return 0;
	}
	if (optind < argc) {
		if (strcmp(argv[optind - 1], "--") != 0)
			return errmsg__set(f, -EINVAL,
					   "what is %s? A command to start comes after --",
					   argv[optind]);
		o->config.command = argv + optind;
	} else if (!strcmp(argv[argc - 1], "--")) {
		return errmsg__set(f, -EINVAL, "no command after --");
	}
	return options__check(o, f);
}

void options__free(struct options *o)
{
	filters__free(&o->config.filters);
	free(o->config.pids);
	o->config.pids = NULL;
	o->config.npids = 0;
}

static void help__name(FILE *out, const char *name, const char *help)
{
	fprintf(out, "%*s%-12s %s\n", HELP_COLUMN, "", name, help);
}

void options__help(FILE *out)
{
	char left[64];

	for (const struct row *r = rows; r < rows + NROWS; r++) {
		if (!r->help || os__refuses(r->name))
			continue;
		if (r->key < KEY_GC)
			snprintf(left, sizeof(left), "-%c, --%s %s", r->key, r->name,
				 r->arg ? r->arg : "");
		else
			snprintf(left, sizeof(left), "    --%s %s", r->name, r->arg ? r->arg : "");
		fprintf(out, "  %-*s%s\n", HELP_COLUMN - 2, left, r->help);
		switch (r->key) {
		case 'o':
			fprintf(out, "%*s%s\n", HELP_COLUMN, "",
				"one file per process, Rprof.PID.out");
			break;
		case 'f':
			for (const struct writer_ops *const *w = formats__all(); *w; w++)
				help__name(out, (*w)->name, (*w)->help);
			break;
		case 'e':
			help__name(out, "auto", "the first of these that works here (default)");
			for (const struct engine_ops *const *e = engines__all(); *e; e++)
				help__name(out, (*e)->name, (*e)->help);
			break;
		}
	}
}
