/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --process`: the processes that were asked for. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/parse.h"
#include "cmd/value_text.h"
#include "cmd/report_index.h"
#include "cmd/report.h"
#include "os/match.h"
#include "profile/attributes.h"

#define WORD_MAX 512u /* bytes of a word of a command, at most */

static bool text__matches(const char *pattern, const char *text)
{
	return text && *text && match__glob(pattern, text);
}

/* A word, or the last part of a word. */
static bool words__match(const char *pattern, const char *text)
{
	char word[WORD_MAX];
	const char *last;
	size_t len;

	for (; *text; text += len) {
		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (!len || len >= sizeof(word))
			continue;
		memcpy(word, text, len);
		word[len] = '\0';
		last = strrchr(word, '/');
		if (text__matches(pattern, word) || (last && text__matches(pattern, last + 1)))
			return true;
	}
	return false;
}

/* The id as it is shown. */
static bool id__matches(const char *pattern, const char *id)
{
	char cut[CONTAINER_SHORT + 1];

	if (!id[container__shown(id)])
		return false;
	memcpy(cut, id, CONTAINER_SHORT);
	cut[CONTAINER_SHORT] = '\0';
	return text__matches(pattern, cut);
}

static bool attribute__matches(const struct attribute *a, const char *pattern, const char *text)
{
	if (!a->match || !text)
		return false;
	return text__matches(pattern, text) ||
	       (a->match == ATTRIBUTE_MATCH_ID && id__matches(pattern, text)) ||
	       (a->match == ATTRIBUTE_MATCH_WORDS && words__match(pattern, text));
}

static bool process__matches(const char *pattern, const struct profile_process *p)
{
	uint64_t pid;

	if (!parse__u64(pattern, UINT32_MAX, &pid))
		return p->pid == pid;
	for (size_t i = 0; i < p->nlabels; i++)
		if (text__matches(pattern, p->labels[i].value))
			return true;
	for (const struct attribute *a = attributes; a->kind; a++)
		if (attribute__matches(a, pattern, attribute__text(a, p)))
			return true;
	return false;
}

static bool chosen__has(const struct report_chosen *chosen, const struct profile_process *p)
{
	return map__get(&chosen->processes, p->pid, p->started / NS_PER_S);
}

bool report_filter__has(const struct report_patterns *processes, const struct report_chosen *chosen,
			const struct profile_process *p)
{
	for (size_t i = 0; i < processes->n; i++)
		if (process__matches(processes->texts[i], p))
			return true;
	return !processes->n || chosen__has(chosen, p);
}

/* --- what the index tells --- */

struct choosing {
	const struct report_patterns *processes;
	struct report_chosen *chosen;
};

static int choosing__line(void *arg, size_t file, const struct index_line *line)
{
	const struct profile_process *p = &line->process;
	struct choosing *c = arg;

	(void)file;
	if (!p->pid || !p->command || chosen__has(c->chosen, p) ||
	    !report_filter__has(c->processes, c->chosen, p))
		return 0;
	if (c->chosen->processes.count == LIMIT_READ_PROCESSES) {
		c->chosen->others++;
		return 0;
	}
	return map__put(&c->chosen->processes, p->pid, p->started / NS_PER_S, c->chosen);
}

/* Is there one that is not a pid? */
static bool patterns__are_texts(const struct report_patterns *processes)
{
	uint64_t pid;

	for (size_t i = 0; i < processes->n; i++)
		if (parse__u64(processes->texts[i], UINT32_MAX, &pid))
			return true;
	return false;
}

int report_filter__choose(const struct report *r, const struct report_input *in,
			  struct report_chosen *chosen, struct errmsg *f)
{
	struct choosing choosing = {&r->processes, chosen};
	const struct report_index_span span = {
		.dir = r->dir,
		.files = in->files,
		.n = in->n,
		.take = choosing__line,
		.arg = &choosing,
		/* --list reads it again, and reports it then */
		.lost = r->list ? NULL
				: "processes that --process finds by their command may be missing",
	};
	int err;

	if (!in->store || !patterns__are_texts(&r->processes))
		return 0;
	err = report_index__span(&span, f);
	if (err == -ENOMEM)
		return errmsg__set(f, err, "out of memory");
	if (chosen->others)
		log__line("more than %u processes match --process: the others are found by name, "
			  "labels and container only",
			  LIMIT_READ_PROCESSES);
	return err;
}

void report_chosen__free(struct report_chosen *chosen)
{
	map__free(&chosen->processes);
}

/* --- samples --- */

static int filter__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	const struct report_filter *filter = arg;

	return report_filter__has(filter->processes, filter->chosen, p)
		       ? sink__process(&filter->to, p, event)
		       : 0;
}

static bool filter__is_slow(const struct report_filter *filter, const struct profile_call *call)
{
	while (call && call__ns(call) < filter->slower_ns && !map__get(&filter->slow, call->id, 0))
		call = call->outer;
	return call;
}

static int filter__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct report_filter *filter = arg;

	if (!report_filter__has(filter->processes, filter->chosen, p))
		return 0;
	filter->processed = true;
	filter->calls += s->call != NULL;
	if (filter->slower_ns && !filter__is_slow(filter, s->call))
		return 0;
	filter->samples += sample__count(s);
	filter->values[s->type] += s->weight;
	return sink__sample(&filter->to, p, s);
}

struct sink report_filter__sink(struct report_filter *filter)
{
	static const struct sink_ops ops = {
		.process = filter__process,
		.sample = filter__sample,
	};

	return (struct sink){&ops, filter, &filter->to};
}

static int slow__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct report_filter *filter = arg;
	int err = 0;

	(void)p;
	for (const struct profile_call *call = s->call; call && !err; call = call->outer)
		if (call__ns(call) >= filter->slower_ns)
			err = map__put(&filter->slow, call->id, 0, filter);
	return err;
}

struct sink report_filter__slow(struct report_filter *filter)
{
	static const struct sink_ops ops = {.sample = slow__sample};

	return (struct sink){.ops = &ops, .arg = filter};
}
