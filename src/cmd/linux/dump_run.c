/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/dump_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sha256.h"
#include "cmd/linux/dump_list.h"
#include "cmd/linux/dump_show.h"
#include "cmd/linux/dump_take.h"
#include "cmd/when.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"
#include "os/signals.h"
#include "target/layout_check.h"

#define WAIT_MS 50 /* between two looks at signals */

/* A round of --every, and what was shown of a process in it. */
struct dump_seen {
	pid_t pid;
	uint8_t sum[SHA256_SIZE];
};

struct dump_round {
	struct dump_seen *seen;
	size_t n, cap;
};

struct dump_rounds {
	struct dump_round before, now;
};

struct dump {
	const struct dump_options *options;
	struct dump_list list;
	uint64_t dumped;
	struct json json; /* with --json: all of it */
	struct dump_process now;
	struct dump_take take;
	/* with --every */
	struct signals *signals;
	struct dump_rounds rounds;
	uint64_t *started; /* start times of the processes that were named */
	bool told;	   /* by a signal, to end */
};

/* --- what each process had in the round before --- */

/*
 * Is @body, what is to be shown of process @pid, what there was of it in the round before?  It is
 * kept for the next one.  1, 0 or -ENOMEM.
 */
static int rounds__same(struct dump_rounds *r, pid_t pid, const struct buf *body)
{
	struct dump_round *now = &r->now;
	struct dump_seen *seen;
	struct sha256 sum;

	if (array__room(&now->seen, now->n, &now->cap, sizeof(*now->seen)))
		return -ENOMEM;
	seen = &now->seen[now->n++];
	seen->pid = pid;
	sha256__begin(&sum);
	sha256__add(&sum, body->data, body->len);
	sha256__end(&sum, seen->sum);
	for (size_t i = 0; i < r->before.n; i++)
		if (r->before.seen[i].pid == pid)
			return !memcmp(r->before.seen[i].sum, seen->sum, sizeof(seen->sum));
	return 0;
}

/* A round is over.  Processes that were not in it are forgotten. */
static void rounds__next(struct dump_rounds *r)
{
	struct dump_round before = r->before;

	r->before = r->now;
	r->now = before;
	r->now.n = 0;
}

static void rounds__free(struct dump_rounds *r)
{
	free(r->before.seen);
	free(r->now.seen);
}

/* --- what is shown --- */

static int text__print(const struct buf *text)
{
	errno = 0;
	if (fwrite(text->data, 1, text->len, stdout) == text->len && !fflush(stdout))
		return 0;
	clearerr(stdout);
	return errno ? -errno : -EIO;
}

/* Each goes out at once: another may take its time. */
static int dump__print(struct dump *d)
{
	struct buf text = {0}, body = {0};
	const bool json = d->options->json;
	int err = 0;

	if (!json || d->now.again)
		err = dump_show__body(&body, &d->now);
	if (!err && d->now.again) {
		err = rounds__same(&d->rounds, d->now.pid, &body);
		d->now.unchanged = err == 1;
		err = err < 0 ? err : 0;
	}
	if (!err && json)
		err = dump_show__json(&d->json, &d->now);
	if (!err && !json && d->dumped)
		err = buf__str(&text, "\n");
	if (!err && !json)
		err = dump_show__head(&text, &d->now);
	if (!err && !json && !d->now.unchanged)
		err = buf__add(&text, body.data, body.len);
	if (!err && !json)
		err = text__print(&text);
	buf__free(&text);
	buf__free(&body);
	return err;
}

/* Can the program's data be read, if they are wanted?  An R that is not in the table is checked. */
static bool dump__layout(const struct dump *d, struct dump_asked *p)
{
	const struct dump_options *o = d->options;
	struct layout_found found;
	uint64_t raised;
	int err;

	if ((!o->calls && !o->locals && !o->globals) || !p->row.pid || p->version_known)
		return true;
	raised = rights__raise(RIGHTS_TARGET);
	err = layout_check__process(&p->row, &found, &p->why);
	rights__lower(raised);
	if (err)
		log__line("%s", p->why.text);
	return !err;
}

/* The program's data, if they are wanted: NULL when they cannot be read, which is reported. */
static int dump__values(struct dump *d, const struct dump_asked *p, struct frame_values **values)
{
	int err;

	if ((!d->options->calls && !d->options->locals) || !d->now.calls)
		return 0;
	err = dump_values__read(p->pid, &p->row, d->now.stack, d->now.calls, d->options->calls,
				d->options->locals, values);
	if (err == -EFAULT)
		log__line("process %d: its calls could not be read; the stack below is without "
			  "them",
			  (int)p->pid);
	return err == -EFAULT ? 0 : err;
}

/* The largest objects, if they are wanted and R was found. */
static int dump__globals(struct dump *d, const struct dump_asked *p, struct globals *g)
{
	const struct mem_reader reader = proc__reader(p->pid);
	uint64_t raised;
	int err;

	if (!d->options->globals || !p->row.pid)
		return 0;
	raised = rights__raise(RIGHTS_TARGET);
	err = dump_globals__read(&reader, &p->row, p->namespaces, g);
	rights__lower(raised);
	d->now.globals = g;
	return err;
}

/* A negative errno: nothing more can be shown.  What failed with one process is in its `why`. */
static int dump__one(struct dump *d, struct dump_asked *p)
{
	struct frame_values *values = NULL;
	struct globals globals = {0};
	struct proc proc;
	char name[sizeof(proc.comm) + 2];
	int err = 0;

	d->now = (struct dump_process){
		.pid = p->pid,
		.tid = p->pid,
		.command = p->command,
		.r_version = p->version,
		.again = d->options->every > 0,
	};
	if (!p->failed)
		p->failed = dump_take__process(&d->take, &d->options->o.config, d->options->threads,
					       &d->now, &p->why) != 0;
	if (p->failed) {
		log__line("%s", p->why.text);
		return 0;
	}
	if (!d->now.command) {
		snprintf(name, sizeof(name), "[%s]", proc__read(p->pid, &proc) ? "?" : proc.comm);
		d->now.command = name;
	}
	if (dump__layout(d, p)) {
		err = dump__values(d, p, &values);
		err = err ? err : dump__globals(d, p, &globals);
	}
	d->now.values = values;
	err = err ? err : dump__print(d);
	d->dumped++;
	globals__free(&globals);
	if (values)
		dump_values__free(values, d->now.stack);
	return err;
}

static void dump__failures(struct dump *d)
{
	json__array(&d->json, "failed");
	for (size_t i = 0; i < d->list.n; i++) {
		if (!d->list.asked[i].failed)
			continue;
		json__object(&d->json, NULL);
		json__u64(&d->json, "pid", (uint64_t)d->list.asked[i].pid);
		json__str(&d->json, "reason", d->list.asked[i].why.text);
		json__close(&d->json);
	}
	json__close(&d->json);
}

/* With --every a round begins with its time. */
static int dump__time(struct dump *d)
{
	const uint64_t now = os__real_time();
	struct buf text = {0};
	char time[WHEN_MAX];
	int err;

	if (d->options->json) {
		json__u64(&d->json, "time_ms", now / NS_PER_MS);
		return 0;
	}
	when__print(time, now / NS_PER_S);
	err = buf__printf(&text, "%s%s\n", d->dumped ? "\n" : "", time);
	err = err ? err : text__print(&text);
	buf__free(&text);
	d->dumped = 0; /* no blank line before the first */
	return err;
}

/* All processes once.  A negative errno with @f filled: nothing can be shown. */
static int dump__all(struct dump *d, struct errmsg *f)
{
	int err = dump_list__find(&d->list, &d->options->o.config, f), shown;

	if (err)
		return err;
	if (d->options->json) {
		json__begin(&d->json);
		json__object(&d->json, NULL);
	}
	if (d->options->every > 0)
		err = dump__time(d);
	if (d->options->json)
		json__array(&d->json, "processes");
	for (size_t i = 0; i < d->list.n && !err; i++)
		err = d->list.asked[i].left_out ? 0 : dump__one(d, &d->list.asked[i]);
	if (d->options->json) {
		json__close(&d->json);
		dump__failures(d);
		json__close(&d->json);
		shown = json__print(&d->json, stdout);
		err = err ? err : shown;
	}
	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		return errmsg__set(f, err, "cannot write the stacks: %s", strerror(-err));
	return 0;
}

/* One dump.  A negative errno with @f filled; with "": what failed has been reported. */
static int dump__once(struct dump *d, struct errmsg *f)
{
	const struct config *c = &d->options->o.config;
	int err = dump__all(d, f);

	if (err)
		return err;
	if (c->follow && !d->dumped)
		return errmsg__set(f, -ESRCH,
				   "no R process in these processes or their descendants");
	if (!d->list.n)
		return errmsg__set(f, -ESRCH, "no R process found that this user may inspect");
	return d->dumped ? 0 : -ESRCH;
}

/* Have the processes ended that were named? */
static bool dump__ended(const struct dump *d)
{
	const struct config *c = &d->options->o.config;
	struct proc p;

	for (size_t i = 0; i < c->npids; i++)
		if (!proc__read(c->pids[i], &p) && !p.ending && p.start_time == d->started[i])
			return false;
	return !c->all;
}

/* Wait until @until.  False: there is to be no other round. */
static bool dump__wait(struct dump *d, uint64_t until)
{
	const struct timespec step = {.tv_nsec = WAIT_MS * NS_PER_MS};

	do {
		if (signals__take(d->signals).signal) {
			d->told = true;
			return false;
		}
		if (dump__ended(d))
			return false;
		if (os__now() < until)
			nanosleep(&step, NULL);
	} while (os__now() < until);
	return true;
}

static int dump__every(struct dump *d, struct errmsg *f)
{
	const struct config *c = &d->options->o.config;
	const uint64_t step = (uint64_t)(d->options->every * (double)NS_PER_S);
	uint64_t next = os__now();
	int err = signals__open(&d->signals, f);

	d->started = calloc(c->npids + 1, sizeof(*d->started));
	if (!err && !d->started)
		err = errmsg__set(f, -ENOMEM, "out of memory");
	for (size_t i = 0; i < c->npids && !err; i++)
		d->started[i] = proc__start_time(c->pids[i]);
	err = err ? err : dump__once(d, f);
	if (c->all && err == -ESRCH) { /* some may come */
		err = 0;
		f->text[0] = '\0';
	}
	while (!err) {
		next += step;
		if (!dump__wait(d, next))
			break;
		if (os__now() >= next + step) /* it took longer than that */
			next = os__now();
		rounds__next(&d->rounds);
		dump_list__free(&d->list);
		err = dump__all(d, f);
	}
	if (err == -EPIPE) { /* the reader has seen enough */
		f->text[0] = '\0';
		return 0;
	}
	if (!err && !d->told)
		log__line("%s",
			  c->npids == 1 ? "the process has ended" : "all processes have ended");
	return err;
}

int dump_run(const struct dump_options *o, struct errmsg *f)
{
	struct dump d = {.options = o};
	int err = o->every > 0 ? dump__every(&d, f) : dump__once(&d, f);

	dump_take__free(&d.take);
	dump_list__free(&d.list);
	rounds__free(&d.rounds);
	signals__close(d.signals);
	free(d.started);
	return err;
}
