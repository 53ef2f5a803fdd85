/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/windows_send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "output/encode.h"
#include "output/otlp.h"
#include "profile/attributes.h"

/* What Pyroscope takes at a time: distributor limits of its 1.x; and what OTLP's receivers do. */
#define PYROSCOPE_ROWS	16000
#define PYROSCOPE_DEPTH 1000
#define BODY_MAX	(4u << 20)

static int profile__hand_on(struct windows_profile *p, enum channel_kind kind, const char *name,
			    const struct buf *index, uint64_t samples)
{
	struct channel_head head = p->head;

	head.kind = kind;
	head.name_len = name ? (uint32_t)strlen(name) : 0;
	head.size = p->body->len;
	head.index_len = index ? index->len : 0;
	head.samples = samples;
	return p->config->send(p->config->arg, &head, name, p->body->data,
			       index ? index->data : NULL);
}

static struct writer_config profile__writer(const struct windows_profile *p)
{
	return (struct writer_config){
		.about = *p->about,
		.roots = true,
		.labels = p->config->labels,
		.nlabels = p->config->nlabels,
		.described = true,
	};
}

/* All of it, as a file. */
static int profile__whole(struct windows_profile *p)
{
	const struct writer_config config = profile__writer(p);

	p->body->len = 0;
	return encode__profile(p->body, formats__find("pprof"), &config, p->sum, p->stats);
}

/* --- the index --- */

/* Has the index something else by that name? */
static bool index__has(const char *key)
{
	static const char *const taken[] = {"file", "from", "seconds", "samples", "interval"};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!strcmp(key, taken[i]))
			return true;
	return attribute__by_index(key);
}

/* Those of @labels that @process has not itself (NULL: all), of each key the first. */
static void index__labels(struct json *j, const struct profile_label *labels, size_t n,
			  const struct profile_process *process)
{
	for (size_t i = 0; i < n; i++)
		if (!index__has(labels[i].key) && !labels__value(labels, i, labels[i].key) &&
		    !(process && process__label(process, labels[i].key)))
			json__str(j, labels[i].key, labels[i].value);
}

/* The line of a process, without its opening brace.  @interval: ns of a sample; 0: not known. */
static int index__line(const struct windows_config *config, const struct profile_process *process,
		       uint64_t samples, uint64_t interval, struct buf *out)
{
	struct buf line = {0};
	struct json j;
	int err;

	json__begin(&j);
	json__object(&j, NULL);
	attributes__json(&j, process, "command");
	json__u64(&j, "samples", samples);
	if (interval)
		json__u64(&j, "interval", interval);
	index__labels(&j, process->labels, process->nlabels, NULL);
	index__labels(&j, config->labels, config->nlabels, process);
	if (process->command)
		json__str(&j, "command", process->command);
	json__close(&j);
	err = json__end(&j, &line);
	if (!err && line.len > 1)
		err = buf__add(out, line.data + 1, line.len - 1);
	buf__free(&line);
	return err;
}

int windows_send__index(const struct windows_config *config, const struct aggregate *sum,
			uint64_t interval, struct buf *out)
{
	const struct profile_process *processes;
	const struct aggregate_row *rows;
	size_t nprocesses, nrows;
	uint64_t *samples;
	int err = 0;

	processes = aggregate__processes(sum, &nprocesses);
	rows = aggregate__rows(sum, &nrows);
	samples = calloc(nprocesses + 1, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	for (size_t i = 0; i < nrows; i++)
		samples[rows[i].process] += row__samples(&rows[i]);
	for (size_t i = 0; i < nprocesses && !err; i++)
		if (samples[i])
			err = index__line(config, &processes[i], samples[i], interval, out);
	free(samples);
	return err;
}

static int profile__store(struct windows_profile *p)
{
	int err = profile__whole(p);

	p->index->len = 0;
	err = err ? err
		  : windows_send__index(p->config, p->sum, about__interval(p->about), p->index);
	return err ? err : profile__hand_on(p, CHANNEL_STORE, NULL, p->index, p->head.samples);
}

/* --- by service --- */

static int name__word(const char *word, struct buf *out)
{
	int err = 0;

	for (; *word && !err; word++)
		err = buf__add(out,
			       strchr("{}=,\"", *word) || (unsigned char)*word <= ' ' ? "_" : word,
			       1);
	return err;
}

int windows_send__name(const char *service, const struct profile_label *labels, size_t nlabels,
		       struct buf *out)
{
	int err = name__word(service, out);

	for (size_t i = 0; i < nlabels && !err; i++) {
		if (!strcmp(labels[i].key, "service"))
			continue;
		err = buf__add(out, i ? "," : "{", 1);
		err = err ? err : name__word(labels[i].key, out);
		err = err ? err : buf__str(out, "=");
		err = err ? err : name__word(labels[i].value, out);
	}
	if (!err && nlabels)
		err = buf__str(out, "}");
	return err ? err : buf__add(out, "", 1);
}

static const char *process__service(const struct profile_process *p)
{
	const char *service = process__label(p, "service");

	return service ? service : *p->comm ? p->comm : "R";
}

static bool service__wants(const void *service, const struct profile_process *p)
{
	return !strcmp(service, process__service(p));
}

/* Was the service of process @i that of one before it? */
static bool service__seen(const struct profile_process *processes, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(process__service(&processes[k]), process__service(&processes[i])))
			return true;
	return false;
}

static int profile__parts(struct windows_profile *p, enum channel_kind kind,
			  const struct writer_ops *format, struct profile_part *part,
			  const char *name)
{
	const struct writer_config config = profile__writer(p);
	struct encoded done = {0};
	int err, first = 0;

	for (;;) {
		p->body->len = 0;
		err = encode__next(p->body, format, &config, p->sum, p->stats, part, &done);
		if (done.left_out && !first)
			first = -EMSGSIZE;
		if (err <= 0)
			break;
		err = profile__hand_on(p, kind, name, NULL, done.samples);
		first = first ? first : err;
	}
	return err ? err : first;
}

static int profile__pyroscope(struct windows_profile *p)
{
	const struct profile_process *processes;
	struct buf name = {0};
	int err = 0, first = 0;
	size_t n;

	processes = aggregate__processes(p->sum, &n);
	for (size_t i = 0; i < n && err != -ENOMEM; i++) {
		struct profile_part part = {
			.rows = PYROSCOPE_ROWS,
			.size = BODY_MAX,
			.depth = PYROSCOPE_DEPTH,
			.wants = service__wants,
			.arg = process__service(&processes[i]),
		};

		if (service__seen(processes, i))
			continue;
		name.len = 0;
		err = windows_send__name(part.arg, p->config->labels, p->config->nlabels, &name);
		if (!err)
			err = profile__parts(p, CHANNEL_PYROSCOPE, formats__find("pprof"), &part,
					     name.data);
		first = first ? first : err;
	}
	buf__free(&name);
	return first;
}

static int profile__otlp(struct windows_profile *p)
{
	struct profile_part part = {.size = BODY_MAX};

	return profile__parts(p, CHANNEL_OTLP, &writer_otlp, &part, NULL);
}

static int profile__answer(struct windows_profile *p)
{
	int err = profile__whole(p);

	if (err)
		p->body->len = 0; /* it cannot be had */
	return profile__hand_on(p, CHANNEL_PROFILE, NULL, NULL, p->head.samples);
}

int windows_send__profile(struct windows_profile *p, unsigned int ways)
{
	int first = 0, err;

	if (!ways)
		return profile__answer(p);
	if (ways & WINDOWS_STORE)
		first = profile__store(p);
	if (!p->head.samples)
		return first; /* servers are not told of nothing */
	if (ways & WINDOWS_PYROSCOPE) {
		err = profile__pyroscope(p);
		first = first ? first : err;
	}
	if (ways & WINDOWS_OTLP) {
		err = profile__otlp(p);
		first = first ? first : err;
	}
	return first;
}
