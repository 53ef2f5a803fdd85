/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line: what is understood, and what is refused and how. */
#include "cmd/options.h"
#include "command.h"

static struct options o;
static struct errmsg f;

static int parse(const char *line)
{
	int argc;
	char **argv = words("xrprof-bpf", line, &argc);

	options__free(&o);
	o = (struct options){0};
	f.text[0] = '\0';
	return options__parse(&o, argc, argv, &f);
}

TEST(defaults)
{
	tap__ok(parse("-p 42") == 0, "-p 42 is enough: %s", f.text);
	tap__ok(o.config.npids == 1 && o.config.pids[0] == 42, "the pid");
	tap__ok(o.config.freq == 99, "99 Hz");
	tap__ok(o.config.max_sample_us == 1000, "a stack is read for a millisecond at most");
	tap__is(o.config.output, "-", "to stdout");
	tap__is(o.config.format->name, "rprof", "as Rprof writes");
	tap__ok(o.config.engine == NULL && o.config.clock == ENGINE_CLOCK_DEFAULT,
		"engine auto, its own clock");
	tap__ok(o.config.duration == 0 && !o.config.all && !o.config.follow && !o.config.capture &&
			!o.config.verbose && !o.config.quiet && !o.config.stats && !o.config.btf &&
			!o.config.command,
		"all else is off");
}

TEST(calls)
{
	static const struct {
		const char *preset, *names;
	} rows[] = {
		{"http", "httpuv::rookCall"},
		{"shiny", "<observer* <reactive* output$*"},
		{"rserve", CALLS_OUTERMOST},
		{"task", "mirai::eval_mirai crew::crew_eval future::evalFuture " CALLS_TASK},
		{"pkg::f", "pkg::f"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct calls_wanted *calls = &o.config.calls;
		char line[64];

		snprintf(line, sizeof(line), "-p 1 -f pprof --calls %s", rows[i].preset);
		tap__ok(!parse(line), "%s: %s", line, f.text);
		for (size_t k = 0; k < calls->n; k++)
			tap__say("%s%s", k ? " " : "", calls->names[k]);
		tap__said(rows[i].names, "what it looks for");
	}
}

TEST(events)
{
	tap__ok(!parse("-p 1 -f pprof --event cs --event tracepoint:a:b --period 7 --off-cpu") &&
			o.config.events.n == 2 && !strcmp(o.config.events.all[0].text, "cs") &&
			o.config.events.all[1].kind == EVENT_TRACEPOINT && o.config.period == 7,
		"events, and a period: %s", f.text);
	tap__ok(!parse("-p 1 -e bpf --event cs") && o.config.events.n == 1 && !o.config.period,
		"one, in a format with one number: %s", f.text);
	tap__ok(!parse("-p 1") && !o.config.events.n, "none unless asked for");
}

TEST(native)
{
	tap__ok(!parse("-p 1 --native") && o.config.native == NATIVE_ALL, "full by default");
	tap__ok(!parse("--native=leaf 1") && o.config.native == NATIVE_LEAF, "behind =");
	tap__ok(!parse("--native leaf 1") && o.config.native == NATIVE_LEAF && o.config.npids == 1,
		"as a word: %s", f.text);
	tap__ok(!parse("--native -- off") && o.config.native == NATIVE_ALL && o.config.command,
		"behind -- is a command");
}

TEST(all_given)
{
	tap__ok(parse("--pid=7,8 -p 9 -p 7 --rate 1000 -d 0.25 -o out/ --format folded -e bpf -s "
		      "--clock cpu --stats s.json --btf b -q -v") == 0,
		"many options: %s", f.text);
	tap__ok(o.config.npids == 3 && o.config.pids[0] == 7 && o.config.pids[1] == 8 &&
			o.config.pids[2] == 9,
		"--pid is a list and repeatable; a pid named twice counts once");
	tap__ok(o.config.freq == 1000 && o.config.duration == 0.25,
		"rate and a fraction of a second");
	tap__ok(!strcmp(o.config.output, "out/") && !strcmp(o.config.format->name, "folded"),
		"output, format");
	tap__ok(o.config.engine && !strcmp(o.config.engine->name, "bpf") &&
			o.config.clock == ENGINE_CLOCK_CPU,
		"engine, clock");
	tap__ok(o.config.follow && o.config.quiet && o.config.verbose, "flags");
	tap__ok(!strcmp(o.config.stats, "s.json") && !strcmp(o.config.btf, "b"), "files");
}

TEST(filters)
{
	tap__ok(parse("-a -o d/ --user 0 --cgroup /x --comm R* --exclude-pid 4,5 "
		      "--frequency 50") == 0 &&
			o.config.freq == 50 && o.config.filters.n == 5 &&
			o.config.filters.list[0].id == 0 &&
			!strcmp(o.config.filters.list[2].text, "R*") &&
			o.config.filters.list[4].id == 5,
		"filters: %s", f.text);
}

TEST(command)
{
	tap__ok(parse("-F 10 -- R -F 20 -- x") == 0, "a command: %s", f.text);
	tap__ok(o.config.freq == 10, "its options are not ours");
	tap__ok(o.config.command && !strcmp(o.config.command[0], "R") &&
			!strcmp(o.config.command[1], "-F") && !strcmp(o.config.command[3], "--") &&
			!strcmp(o.config.command[4], "x") && !o.config.command[5],
		"it is passed on word for word");
}

/* Refused, with @word in the message. */
static void refused(const char *line, const char *word)
{
	int err = parse(line);

	tap__ok(err == -EINVAL && strstr(f.text, word) && !strchr(f.text, '\n'),
		"refused: '%s': %d %s", line, err, f.text);
}

/* Each value of the option is refused, and the message names both. */
static void values_refused(const char *option, const char *named, const char *values)
{
	char text[256], line[128], word[128], *at = text;

	snprintf(text, sizeof(text), "%s", values);
	for (const char *value; (value = strsep(&at, " "));) {
		snprintf(line, sizeof(line), "%s %s", option, value);
		snprintf(word, sizeof(word), "%s%s", named, value);
		refused(line, word);
	}
}

TEST(refused)
{
	values_refused("-p", "", "x 0 -1 1, ,1 1,,2 99999999999999999999 4294967297 1x");
	values_refused("-p 1 -F", "--freq ", "0 -5 1.5 100001");
	values_refused("-p 1 --max-sample-time", "--max-sample-time ", "99 1000001 1ms");
	values_refused("-p 1 -d", "--duration ", "0 -1 nan inf 1x 5us 1e3 2000000000");
	values_refused("-p 1 --event cs --period", "--period ", "0 4294967296");
	refused("-p 1 -f nonsense", "rprof, folded");
	refused("-p 1 -e nonsense", "auto, bpf");
	refused("-p 1 --event page-fault", "did you mean page-faults");
	refused("-p 1 --event tracepoint:a", "tracepoint:CATEGORY:NAME");
	refused("-p 1 -f pprof --event cs --event cs", "given twice");
	refused("-p 1 --event cs --event faults", "pprof, speedscope or flamegraph");
	refused("-p 1 -f folded --event cs --off-cpu", "pprof, speedscope or flamegraph");
	refused("-p 1 -e vmread --event cs", "engine bpf");
	refused("-p 1 -f pprof --calls f --filter-callframes", "--calls needs all frames");
	refused("-p 1 --period 10", "--period needs --event");
	refused("-p 1 --event gc --period 3", "each collection is a sample");
	refused("-p 1 --event cs --clock wall", "--off-cpu");
	refused("-p 1 -f pprof --calls http --event cs", "leave one out");
	refused("-p 1 -f folded --calls http", "-f pprof or flamegraph");
	refused("-p 1 -f pprof --calls ::f", "not a function");
	refused("-p 1 --user no-such-user-here", "no-such-user-here");
	refused("-p 1 --user 0", "--all");
	refused("-a -f folded --exclude-pid 1,", "--exclude-pid 1,");
	refused("-p 1 4711x", "unexpected argument: 4711x; put -- before a command to start");
	refused("1 2,3 -d 5", "need one file each in format rprof: give -o DIRECTORY/");
	refused("file", "file");
	refused("-p 1 --", "--");
	refused("-p 1 -- R", "exclude");
}
