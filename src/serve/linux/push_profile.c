/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/push_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "os/os.h"
#include "output/encode.h"
#include "output/otlp.h"
#include "profile/read.h"

/* What Pyroscope accepts at a time: distributor limits of its 1.x; and receivers of OTLP. */
#define PYROSCOPE_ROWS	16000
#define PYROSCOPE_DEPTH 1000

struct push_profile {
	enum push_kind kind;
	const struct writer_ops *format;
	struct aggregate *sum;
	struct read_types types;
	struct stats stats;
	/* of the next request */
	size_t process; /* PUSH_PYROSCOPE: the first one of its service */
	struct profile_part part;
	struct buf body;
};

/* --- the file --- */

static int bytes__read(void *arg, void *to, size_t size)
{
	struct buf *left = arg;
	size_t n = size < left->len ? size : left->len;

	if (!n)
		return 0;
	memcpy(to, left->data, n);
	left->data += n;
	left->len -= n;
	return (int)n;
}

static int profile__read(struct push_profile *p, const char *name, const struct buf *file,
			 size_t memory, struct errmsg *f)
{
	struct buf left = *file;
	const struct read_input in = {.read = bytes__read, .arg = &left, .name = name};
	const struct reader_config config = {
		.to = aggregate__sink(p->sum),
		.memory = memory,
		.types = &p->types,
		.syscall = os__syscall_detail,
	};
	const struct read_process process = {0};
	const struct aggregate_row *rows;
	struct read_result result;
	size_t n;
	struct reader *reader;
	int err = reader__new(&reader, &config);

	err = err ? errmsg__set(f, err, "out of memory")
		  : reader__file(reader, &in, &process, &result, f);
	reader__free(reader);
	if (err)
		return err;
	rows = aggregate__rows(p->sum, &n);
	p->stats = (struct stats){
		.lost = p->types.made.lost,
		.truncated = p->types.made.truncated,
		.unreadable = p->types.made.unreadable,
		.seconds = (double)result.duration_ns / (double)NS_PER_S,
	};
	for (size_t i = 0; i < n; i++)
		p->stats.written += row__samples(&rows[i]);
	return 0;
}

int push_profile__open(struct push_profile **out, enum push_kind kind, const char *name,
		       const struct buf *file, size_t memory, struct errmsg *f)
{
	struct push_profile *p = calloc(1, sizeof(*p));
	struct aggregate_config config;
	int err = -ENOMEM;

	*out = NULL;
	if (!p)
		return errmsg__set(f, err, "out of memory");
	p->kind = kind;
	p->format = kind == PUSH_OTLP ? &writer_otlp : formats__find("pprof");
	config = p->format->keeps;
	config.max = LIMIT_AGGREGATE(memory);
	config.describe = true;
	config.calls = kind == PUSH_OTLP; /* of Pyroscope's, each would be a series */
	err = aggregate__new(&p->sum, &config);
	err = err ? errmsg__set(f, err, "out of memory") : profile__read(p, name, file, memory, f);
	if (err)
		push_profile__close(p);
	else
		*out = p;
	return err;
}

/* --- its requests --- */

static const char *process__service(const struct profile_process *process)
{
	const char *service = process__label(process, "service");

	return service ? service : *process->comm ? process->comm : "R";
}

static bool service__wants(const void *service, const struct profile_process *process)
{
	return !strcmp(service, process__service(process));
}

/* Is the service of process @i that of one before it? */
static bool service__seen(const struct profile_process *processes, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (service__wants(process__service(&processes[k]), &processes[i]))
			return true;
	return false;
}

/* Begin with the next service.  False: there is none. */
static bool profile__service(struct push_profile *p)
{
	const struct profile_process *processes;
	size_t n;

	processes = aggregate__processes(p->sum, &n);
	while (p->process < n && service__seen(processes, p->process))
		p->process++;
	if (p->process == n)
		return false;
	p->part = (struct profile_part){
		.rows = PYROSCOPE_ROWS,
		.size = PUSH_SIZE_MAX,
		.depth = PYROSCOPE_DEPTH,
		.wants = service__wants,
		.arg = process__service(&processes[p->process]),
	};
	return true;
}

static int profile__encode(struct push_profile *p, struct push_part *part)
{
	const struct writer_config config = {
		.about = p->types.about, .roots = true, .described = true};
	struct encoded done;
	int err;

	p->body.len = 0;
	err = encode__next(&p->body, p->format, &config, p->sum, &p->stats, &p->part, &done);
	part->left_out += done.left_out;
	if (err <= 0)
		return err;
	part->service = p->part.arg;
	part->series = p->types.made.series;
	part->data = p->body.data;
	part->size = p->body.len;
	part->samples = done.samples;
	return 1;
}

int push_profile__next(struct push_profile *p, struct push_part *part)
{
	int err;

	*part = (struct push_part){0};
	if (p->kind == PUSH_OTLP) {
		p->part.size = PUSH_SIZE_MAX;
		return profile__encode(p, part);
	}
	for (;;) {
		if (!p->part.arg && !profile__service(p))
			return 0;
		err = profile__encode(p, part);
		if (err)
			return err;
		p->part.arg = NULL;
		p->process++;
	}
}

void push_profile__close(struct push_profile *p)
{
	if (!p)
		return;
	aggregate__free(p->sum);
	buf__free(&p->body);
	free(p);
}

/* --- of a queue --- */

void push_reader__forget(struct push_reader *r)
{
	push_profile__close(r->profile);
	r->profile = NULL;
	r->left_out = 0;
}

static int reader__open(struct push_reader *r, const struct queue *q, const struct queue_entry *e,
			struct errmsg *f)
{
	char name[INTERVAL_NAME_MAX];
	struct buf file = {0};
	int err;

	interval_name__print(name, &e->name);
	err = queue__read(q, e, &file);
	err = err ? errmsg__set(f, err, "cannot read %s: %s", name, strerror(-err))
		  : push_profile__open(&r->profile, r->kind, name, &file, r->memory, f);
	buf__free(&file);
	r->number = e->number;
	r->request = UINT32_MAX;
	return err;
}

int push_reader__request(struct push_reader *r, const struct queue *q, const struct queue_entry *e,
			 uint32_t n, struct errmsg *f)
{
	int err;

	if (r->profile && (r->number != e->number || (r->request != UINT32_MAX && r->request > n)))
		push_reader__forget(r);
	err = r->profile ? 0 : reader__open(r, q, e, f);
	if (err)
		return err;
	while (r->request == UINT32_MAX || r->request < n) {
		err = push_profile__next(r->profile, &r->part);
		r->request++;
		if (err <= 0)
			push_reader__forget(r);
		r->left_out = r->part.left_out;
		if (err <= 0)
			return err ? errmsg__set(f, err, "out of memory") : 0;
	}
	return 1;
}
