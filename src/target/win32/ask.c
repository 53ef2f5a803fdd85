/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* On Windows no file of a process is read, and its memory without waiting: the caller answers. */
#include "target/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/native.h"
#include "target/source.h"

struct asked {
	struct asked *next;
	struct ask ask;
};

struct asker {
	struct asked *first, **last; /* answered */
};

int asker__open(struct asker **out, const struct label_rules *rules, struct errmsg *f)
{
	struct asker *a = calloc(1, sizeof(*a));

	(void)rules;
	if (!a)
		return errmsg__set(f, -ENOMEM, "out of memory");
	a->last = &a->first;
	*out = a;
	return 0;
}

int asker__ask(struct asker *a, const struct ask *q)
{
	struct asked *mine = calloc(1, sizeof(*mine));

	if (!mine)
		return -ENOMEM;
	memcpy(&mine->ask, q, ask__question(q->kind));
	ask__answer(&mine->ask);
	*a->last = mine;
	a->last = &mine->next;
	return 0;
}

bool asker__take(struct asker *a, struct ask *answer, int wait_ms)
{
	struct asked *q = a->first;

	(void)wait_ms;
	if (!q)
		return false;
	a->first = q->next;
	if (!a->first)
		a->last = &a->first;
	*answer = q->ask;
	free(q);
	return true;
}

bool asker__busy(const struct asker *a)
{
	return a->first;
}

int asker__fd(const struct asker *a)
{
	(void)a;
	return -1;
}

int asker__due(const struct asker *a, int max)
{
	return a->first ? 0 : max;
}

struct helper_pool *asker__pool(struct asker *a)
{
	(void)a;
	return NULL;
}

uint64_t asker__cpu(const struct asker *a)
{
	(void)a;
	return 0; /* its threads are the program's own */
}

uint64_t asker__silent(const struct asker *a)
{
	(void)a;
	return 0;
}

void asker__close(struct asker *a)
{
	struct ask unread;

	while (a && asker__take(a, &unread, 0))
		;
	free(a);
}

/* --- nothing is asked that has a file for an answer, so nothing is taken --- */

int native_maps__open(struct native_maps *m, int fd)
{
	(void)fd;
	*m = (struct native_maps){0};
	return -ENOSYS;
}

void native_maps__close(struct native_maps *m)
{
	(void)m;
}

int native_module__open(struct native_module *m, int fd)
{
	(void)fd;
	*m = (struct native_module){0};
	return -ENOSYS;
}

void native_module__close(struct native_module *m)
{
	(void)m;
}

int source__take(struct source_found *s, int fd)
{
	(void)s;
	(void)fd;
	return -ENOSYS;
}
