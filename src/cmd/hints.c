/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/hints.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 32u /* bytes of words that are compared */

/* An option of another profiler.  @has: the option that the answer is about; where it is missing,
 * so is the answer.
 */
static const struct {
	const char *word, *has, *answer;
} options[] = {
	{"-r", "freq", "the rate is -F HZ"},
	{"--interval", "freq", "the rate is -F HZ"},
	{"-c", "period", "every Nth event: --period N"},
	{"--count", "period", "every Nth event: --period N"},
	{"-g", "native", "stacks are always recorded; --native adds native frames"},
	{"--call-graph", "native", "stacks are always recorded; --native adds native frames"},
	{"-t", "pid", "all threads of --pid are sampled; threads that do not run R are marked"},
	{"--tid", "pid", "all threads of --pid are sampled; threads that do not run R are marked"},
	{"--threads", "pid",
	 "all threads of --pid are sampled; threads that do not run R are marked"},
	{"--locals", "pid", "the variables of this moment: dump -p PID --locals"},
	{"--gil", "pid", "R has no such lock: one thread runs R"},
	{"--nonblocking", "engine", "-e vmread and engine bpf never stop the process"},
	{"--blocking", "engine", "-e ptrace stops the process for each sample"},
	{"-i", "idle", "processes that wait: --off-cpu --idle"},
	{"--on-cpu", "clock", "CPU time only: --clock cpu"},
	{"--wall", "clock", "wall time: --clock wall"},
	{"--timeout", "duration", "-d TIME"},
	{"--file", "output", "-o FILE"},
	{"--raw-file", "output", "-o FILE"},
	{"--out", "output", "-o FILE"},
	{"--full-filenames", "lines", "files and lines: --lines"},
	{"--children", "subprocesses", "-s"},
	{"--follow", "subprocesses", "-s"},
	{"--with-subprocesses", "subprocesses", "-s"},
	{"--silent", "quiet", "-q"},
	{"--pid", "process", "the samples of one process: --process PID"},
	{"-p", "process", "the samples of one process: --process PID"},
	{"--off-cpu", "sample-type", "time off the CPU: --sample-type off_cpu"},
	{"--memory", "sample-type", "memory: --sample-type alloc_space"},
	{"-i", "dir", "FILE is given without an option"},
	{"--input", "dir", "FILE is given without an option"},
	{"--children", "sort", "--sort total"},
	{"--no-children", "sort", "--sort self"},
	{"-g", "fold", "the stacks: -f folded, or -o FILE.html"},
};

/* A value: what is meant by it, or NULL and what there is in its place. */
static const struct {
	const char *option, *value, *means, *answer;
} values[] = {
	{"format", "html", "flamegraph", NULL},
	{"format", "flame", "flamegraph", NULL},
	{"format", "raw", "folded", NULL},
	{"format", "collapsed", "folded", NULL},
	{"format", "json", "speedscope", NULL},
	{"format", "pb", "pprof", NULL},
	{"format", "proto", "pprof", NULL},
	{"format", "svg", NULL, "-f flamegraph -o FILE.html writes that graph as a page"},
	{"format", "chrometrace", NULL, "-f speedscope has a time line"},
	{"format", "summary", NULL, "`report FILE` prints a table of functions"},
	{"engine", "cycles", NULL, "--event cycles"},
	{"engine", "cpu-clock", NULL, "--event cpu-clock"},
	{"engine", "page-faults", NULL, "--event page-faults"},
};

static const struct {
	const char *word, *answer;
} subcommands[] = {
	{"attach", "record -p PID"},
	{"run", "record -- COMMAND"},
	{"snapshot", "dump -p PID"},
	{"ps", "list"},
	{"live", "top"},
	{"stat", "record --stats FILE"},
	{"script", "report -f folded FILE"},
	{"annotate", "record --lines -o FILE.html"},
	{"flamegraph", "record -o FILE.html"},
	{"diff", "report --diff A B"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool rows__have(const struct option_row *rows, const char *name)
{
	while (rows->name && strcmp(rows->name, name) != 0)
		rows++;
	return rows->name;
}

/* How many letters are to be inserted, left out or replaced to make @b of @a. */
static unsigned int words__distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned int row[WORD_MAX + 1];

	if (n > WORD_MAX || m > WORD_MAX)
		return WORD_MAX;
	for (unsigned int j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		unsigned int corner = row[0]++;

		for (size_t j = 1; j <= m; j++) {
			unsigned int least = corner + (a[i - 1] != b[j - 1]);

			if (row[j] + 1 < least)
				least = row[j] + 1;
			if (row[j - 1] + 1 < least)
				least = row[j - 1] + 1;
			corner = row[j];
			row[j] = least;
		}
	}
	return row[m];
}

/* Is @name nearer to @word than *@best, and near enough to be meant? */
static bool words__nearer(const char *word, const char *name, unsigned int *best)
{
	unsigned int distance = words__distance(word, name);

	if (distance >= *best || distance > 2 || 3 * distance > strlen(name))
		return false;
	*best = distance;
	return true;
}

void hints__option(const struct option_row *rows, const char *word, char text[HINT_MAX])
{
	unsigned int best = WORD_MAX;
	const char *nearest = NULL;
	char name[WORD_MAX] = "";

	text[0] = '\0';
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (size_t i = 0; i < COUNT(options); i++)
		if (!strcmp(options[i].word, name) && rows__have(rows, options[i].has)) {
			snprintf(text, HINT_MAX, "; %s", options[i].answer);
			return;
		}
	if (word[1] >= '0' && word[1] <= '9')
		snprintf(text, HINT_MAX, "; a time before now is written without a dash: 10m, 1h");
	if (strncmp(name, "--", 2) != 0)
		return;
	for (const struct option_row *r = rows; r->name; r++)
		if (words__nearer(name + 2, r->name, &best))
			nearest = r->name;
	if (nearest)
		snprintf(text, HINT_MAX, "; did you mean --%s?", nearest);
}

const char *hints__value(const char *option, const char *value, char text[HINT_MAX])
{
	text[0] = '\0';
	for (size_t i = 0; i < COUNT(values); i++) {
		if (strcmp(values[i].option, option) != 0 || strcmp(values[i].value, value) != 0)
			continue;
		if (values[i].answer)
			snprintf(text, HINT_MAX, "; %s", values[i].answer);
		return values[i].means;
	}
	return NULL;
}

void hints__subcommand(const char *const *names, const char *word, char text[HINT_MAX])
{
	unsigned int best = WORD_MAX;
	const char *nearest = NULL;

	text[0] = '\0';
	for (size_t i = 0; i < COUNT(subcommands); i++)
		if (!strcmp(subcommands[i].word, word))
			nearest = subcommands[i].answer;
	for (; !nearest && *names; names++)
		if (words__nearer(word, *names, &best))
			nearest = *names;
	if (nearest)
		snprintf(text, HINT_MAX, "; did you mean %s?", nearest);
}
