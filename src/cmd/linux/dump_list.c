/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/dump_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "os/proc.h"
#include "target/ask.h"
#include "target/linux/scan.h"

#define DEPTH_MAX 64 /* generations looked at to find a process' ancestor */

static struct dump_asked *list__add(struct dump_list *d, pid_t pid)
{
	if (array__room(&d->asked, d->n, &d->cap, sizeof(*d->asked)))
		return NULL;
	d->asked[d->n] = (struct dump_asked){.pid = pid};
	return &d->asked[d->n++];
}

static int list__ask(struct asker *a, pid_t pid)
{
	const struct ask q = {.kind = ASK_LIST, .pid = pid, .want = TARGET_ANY_NAME};

	return asker__ask(a, &q);
}

/* For each process there is. */
struct dump_scan {
	const struct config *config;
	struct asker *asker;
};

/* Was @pid started by one of those named, or by what they started? */
static bool config__descends(const struct config *c, pid_t pid)
{
	struct proc p;

	for (int i = 0; i < DEPTH_MAX && pid > 1 && !proc__read(pid, &p); i++) {
		pid = p.ppid;
		for (size_t k = 0; k < c->npids; k++)
			if (c->pids[k] == pid)
				return true;
	}
	return false;
}

static int on_process(void *scan, pid_t pid)
{
	const struct dump_scan *s = scan;

	return s->config->all || config__descends(s->config, pid) ? list__ask(s->asker, pid) : 0;
}

/* The place of a process named; with --all one is made, if it has R in it. */
static struct dump_asked *list__place(struct dump_list *d, const struct ask *q, int *err)
{
	*err = 0;
	for (size_t i = 0; i < d->n; i++)
		if (d->asked[i].pid == q->pid)
			return &d->asked[i];
	if (q->err ? q->err == -ENOEXEC || q->err == -ESRCH : !q->yes)
		return NULL;
	if (d->n < LIMIT_PROCESSES(LIMIT_SAMPLED)) {
		struct dump_asked *p = list__add(d, q->pid);

		*err = p ? 0 : -ENOMEM;
		return p;
	}
	return NULL;
}

/*
 * What was answered.  Its session reports what else may be wrong with it.  But a process that does
 * not answer is not asked again, and one that was not named is known to be R.
 */
static int list__answered(struct dump_list *d, const struct ask *q, bool follow)
{
	int err;
	struct dump_asked *p = list__place(d, q, &err);

	if (!p)
		return err;
	p->failed = q->err == -ETIMEDOUT || q->err == -EBUSY || q->err == -EIO;
	p->left_out = follow && q->err == -ENOEXEC;
	p->why = q->why;
	memcpy(p->version, q->target.version, sizeof(p->version));
	p->version_known = q->target.version_known;
	p->row = q->target.row;
	p->namespaces = q->target.namespaces;
	free(p->command); /* one that is named, and a child of another, is asked twice */
	p->command = q->text[0] ? strdup(q->text) : NULL;
	return q->text[0] && !p->command ? -ENOMEM : 0;
}

static int asked__compare(const void *a, const void *b)
{
	const struct dump_asked *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int dump_list__find(struct dump_list *d, const struct config *c, struct errmsg *f)
{
	struct dump_scan scan = {.config = c};
	struct ask q = {0};
	struct asker *a;
	int err = asker__open(&a, NULL, f);

	if (err)
		return err;
	for (size_t i = 0; i < c->npids && !err; i++)
		err = list__add(d, c->pids[i]) ? list__ask(a, c->pids[i]) : -ENOMEM;
	scan.asker = a;
	if (!err && (c->all || c->follow))
		err = target__each(on_process, &scan);
	while (!err && asker__busy(a)) {
		if (asker__take(a, &q, ASK_DEADLINE_MS))
			err = list__answered(d, &q, c->follow);
		memset(&q, 0, sizeof(q));
	}
	asker__close(a);
	if (c->all && d->n)
		qsort(d->asked, d->n, sizeof(*d->asked), asked__compare);
	return err ? errmsg__set(f, err, "cannot inspect processes: %s", strerror(-err)) : 0;
}

void dump_list__free(struct dump_list *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->asked[i].command);
	free(d->asked);
	*d = (struct dump_list){0};
}
