/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The line of progress: what is in it, and that samples go on. */
#include "base/clock.h"
#include "cmd/progress.h"
#include "stack_maker.h"
#include "tap.h"

static unsigned int passed;

static int on_sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	passed++;
	return passed == 1000 ? -5 : 0;
}

static const struct sink_ops ops = {.sample = on_sample};
static const struct profile_process process = {.pid = 1, .comm = "R"};

static int put(struct progress *p, const char *function, uint64_t weight)
{
	struct sample s = {.weight = weight, .stack = stack__one(function)};
	struct sink sink = progress__sink(p);

	return sink__sample(&sink, &process, &s);
}

static const char *line(const struct progress *p, unsigned int columns)
{
	const struct stats stats = {.seconds = 12.4, .written = 1188, .processes = 2, .lost = 3};
	static char text[512];

	progress__line(p, &stats, columns, text, sizeof(text));
	return text;
}

TEST(progress)
{
	struct progress *p;
	char name[32];
	int err = 0;

	tap__bail_if(progress__new(&p, (struct sink){.ops = &ops}), "no memory");
	tap__is(line(p, 200), "12 s, 1188 samples of 2 processes, 96 a second, 3 lost",
		"before the first sample");
	/* many others between those of the heaviest */
	for (int i = 0; i < 499; i++) {
		snprintf(name, sizeof(name), "other%d", i);
		err |= put(p, name, 1) | put(p, "heavy", 1);
	}
	tap__ok(!err && passed == 998, "samples go on");
	tap__ok(strstr(line(p, 200), " % in heavy") != NULL, "the heaviest: %s", line(p, 200));
	tap__ok(put(p, "x", 1) == 0 && put(p, "x", 1) == -5, "and so do errors");
	tap__ok(strlen(line(p, 30)) == 29 && strlen(line(p, 1)) == 20, "cut to the terminal");
	progress__free(p);
	tap__bail_if(progress__new(&p, (struct sink){.ops = &ops}), "no memory");
	for (int i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "other%d", i);
		put(p, name, 1);
	}
	put(p, "waits", 936); /* a wait is one sample of many ticks */
	tap__ok(strstr(line(p, 200), ", 94 % in waits") != NULL, "by weight: %s", line(p, 200));
	progress__free(p);
	tap__bail_if(progress__new(&p, (struct sink){.ops = &ops}), "no memory");
	put(p, "\x1b[2J\xe9\n", 1);
	tap__ok(!strpbrk(line(p, 200), "\x1b\n\r"),
		"a hostile name does not act on the terminal: %s", line(p, 200));
	tap__ok(progress__due(p, NS_PER_S) && !progress__due(NULL, NS_PER_S), "due");
	progress__free(p);
}
