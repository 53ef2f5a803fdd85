/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/layout_check.h"
#include "session/session.h"
#include "os/proc.h"

#define NS_PER_MS 1000000ull

/*
 * How long to wait between two looks for R: an eighth of the time it has been waited for, within
 * these.  And how long for R to appear where a program was replaced.
 */
#define RETRY_MIN_MS 5
#define RETRY_MAX_MS 40
#define EXEC_MS	     10000

/* After so many polls nothing of an ended process can be on its way any more. */
#define DRAIN_POLLS 2

static struct profile_process process__profile(const struct process *p)
{
	return (struct profile_process){
		.serial = p->serial,
		.pid = p->pid,
		.parent_pid = p->parent_pid,
		.comm = p->comm,
	};
}

/*
 * May R still come?  -EAGAIN says so; -ENOEXEC (no R in it) is final but for a program that is only
 * starting: @loading, or one whose name says that it is about to become R.  Where there is a watch,
 * it tells of those that nobody named.
 */
static bool error__passes(const struct session *s, int err, bool loading, const struct process *p)
{
	if (err == -ENOEXEC && s->watch && !p->asked)
		return false;
	if (err == -ENOEXEC)
		return loading || !strcmp(p->target.comm, "R") ||
		       !strcmp(p->target.comm, "Rscript");
	return err == -EAGAIN;
}

static uint32_t session__row_flags(const struct session *s)
{
	return XR_ROW_FOLLOW | s->config->capture;
}

static void session__end_process(struct session *s, struct process *p)
{
	if (p->state == PROCESS_ENDED)
		return;
	if (p->state == PROCESS_SAMPLED)
		s->ops->remove(s->engine, p->pid, p->serial);
	p->state = PROCESS_ENDED;
	p->drained = 0;
	s->live--;
}

/* Forked children that end (or become another program) before their first sample do not count. */
static void session__count(struct session *s, struct process *p)
{
	s->stats.processes += !p->counted;
	p->counted = true;
}

static void process__retry_later(struct process *p, uint64_t now)
{
	uint64_t wait = (now - p->since) / 8;

	if (wait < RETRY_MIN_MS * NS_PER_MS)
		wait = RETRY_MIN_MS * NS_PER_MS;
	if (wait > RETRY_MAX_MS * NS_PER_MS)
		wait = RETRY_MAX_MS * NS_PER_MS;
	p->retry_at = now + wait;
}

/* What was found, for --verbose. */
static void session__describe(const struct session *s, const struct process *p)
{
	const struct target *t = &p->target;
	char cgroup[4096], id[65] = "none", late[48] = "";

	if (p->looked)
		snprintf(late, sizeof(late), ", began at most %.1f ms ago",
			 (double)(session__now() - p->looked) / (double)NS_PER_MS);
	if (!proc__cgroup((pid_t)p->pid, cgroup, sizeof(cgroup)))
		proc__container(cgroup, id);
	session__debug(s,
		       "process %u (%s): R %s in %s, load bias 0x%llx, parent %u, container %s%s",
		       p->pid, p->comm, t->version[0] ? t->version : "of unknown version", t->path,
		       (unsigned long long)t->load_bias, p->parent_pid, id, late);
}

/* Give a process whose R was found to the engine. */
static int session__sample(struct session *s, struct process *p)
{
	struct target *t = &p->target;
	struct profile_process profile = process__profile(p);
	int err;

	err = s->ops->add(s->engine, &t->row, &s->fault);
	if (err == -E2BIG) {
		s->crowd = s->live;
		if (!s->unprofiled++)
			session__note(s, "%s", s->fault.text);
	}
	if (err)
		return err;
	p->state = PROCESS_SAMPLED;
	session__count(s, p);
	if (!s->began)
		s->began = session__now();
	if (s->config->verbose)
		session__describe(s, p);
	/* a process that was asked for has a file even when it does nothing */
	if (p->asked && !s->err)
		s->err = s->sink.ops->process(s->sink.arg, &profile, PROFILE_BEGAN);
	return 0;
}

/*
 * An R that is not in the table of layouts is sampled only after its layout was seen to fit.  That
 * needs a function being called, which may take any time to come.
 */
static int session__check(struct session *s, struct process *p)
{
	struct target *t = &p->target;
	struct layout_found found;
	int err = layout_check__process(&t->row, &found, &s->fault);

	p->undecided = err == -EAGAIN;
	if (p->undecided && !s->began)
		s->began = session__now(); /* --duration counts, whether R does anything or not */
	if (err)
		return err;
	session__note(s,
		      "process %u runs R %s, which is not known; the layout of the newest that is "
		      "fits%s%s",
		      p->pid, t->version[0] ? t->version : "of a version that was not found",
		      found.shift ? " when moved" : "",
		      s->config->capture & XR_ROW_LINES && !found.lines
			      ? ", but not for source lines"
			      : "");
	session__debug(s,
		       "process %u: %u contexts kept R's rules, in %u looks; sysparent at %u, call "
		       "at %u, cloenv at %u",
		       p->pid, found.contexts, found.looks, t->row.layout.sysparent,
		       t->row.layout.call, t->row.layout.cloenv);
	return 0;
}

/* What has to be known of a process is: have it sampled. */
static int session__found(struct session *s, struct process *p)
{
	int err = 0;

	if (!p->target.version_known)
		err = session__check(s, p);
	if (err)
		return err;
	session__lines(s, p);
	p->state = PROCESS_FOUND;
	if (!s->engine)
		return 0;
	err = session__sample(s, p);
	if (!err)
		session__children(s, (pid_t)p->pid);
	return err;
}

/* Look for R in a process. */
static int session__find(struct session *s, struct process *p)
{
	struct target *t = &p->target;
	uint32_t flags = session__row_flags(s);
	struct proc proc;
	int err;

	err = target__find((pid_t)p->pid, flags & (XR_ROW_LINES | XR_ROW_GC), t, &s->fault);
	if (err)
		return err;
	p->mine = true;
	if (!proc__read((pid_t)p->pid, &proc))
		p->parent_pid = (uint32_t)proc.ppid;
	snprintf(p->comm, sizeof(p->comm), "%s", t->comm);
	t->row.serial = p->serial;
	t->row.flags |= flags;
	process__watch(p);
	return session__found(s, p);
}

/*
 * R was mapped when last looked for, and has still not begun: its R_GlobalContext is NULL.  A way
 * to know without looking for it again.
 */
static bool process__starting(const struct process *p)
{
	uint64_t context;

	return p->target.row.head_at &&
	       !proc__memory((pid_t)p->pid, p->target.row.head_at, &context, sizeof(context)) &&
	       !context;
}

int session__add_target(struct session *s, pid_t pid, bool asked, uint32_t wait_ms)
{
	struct process *p;
	uint64_t now = session__now();
	int err;

	p = processes__add(&s->processes, 0, (uint32_t)pid);
	if (!p)
		return errmsg__set(&s->fault, -ENOMEM, "out of memory");
	s->live++;
	p->asked = asked;
	err = session__find(s, p);
	if (!err)
		return 0;
	if (wait_ms && error__passes(s, err, !asked || wait_ms == UINT32_MAX, p)) {
		p->since = now;
		p->looked = err == -EAGAIN ? now : 0;
		process__retry_later(p, now);
		p->give_up_at = wait_ms == UINT32_MAX ? 0 : now + wait_ms * NS_PER_MS;
		process__watch(p);
		session__debug(s, "waiting: %s", s->fault.text);
		return 0;
	}
	s->live--;
	processes__remove(&s->processes, p);
	return err;
}

int session__attach(struct session *s)
{
	struct process *p, *next;
	int err, first = 0;

	for (p = processes__next(&s->processes, NULL); p; p = next) {
		next = processes__next(&s->processes, p);
		if (p->state != PROCESS_FOUND)
			continue;
		err = session__sample(s, p);
		if (!err)
			continue;
		first = first ? first : err;
		if (s->live > 1)
			session__note(s, "%s", s->fault.text);
		session__end_process(s, p);
	}
	return s->live ? 0 : first;
}

/* An exec: the row is gone.  With --subprocesses what runs there now is looked at as if new. */
static void session__replaced(struct session *s, struct process *p)
{
	int err;

	session__end_process(s, p);
	if (!s->config->follow && !s->config->all) {
		if (p->asked)
			session__note(s, "process %u became another program (%s)", p->pid, p->comm);
		else
			session__debug(s, "process %u became another program (%s)", p->pid,
				       p->comm);
		return;
	}
	err = session__add_target(s, (pid_t)p->pid, false, EXEC_MS);
	if (err == -ENOMEM)
		s->err = err;
	else if (err)
		session__debug(s, "process %u is followed no more: %s", p->pid, s->fault.text);
}

static void session__retry(struct session *s, struct process *p, uint64_t now)
{
	bool loading = !p->give_up_at || !p->asked;
	/* a program may load R long before it starts it; asking that costs little */
	bool patient = !p->give_up_at || now < p->give_up_at;
	int err;

	if (now < p->retry_at)
		return;
	process__retry_later(p, now);
	if (process__starting(p)) {
		p->looked = now;
		if (patient || !p->asked)
			return;
	}
	err = p->undecided ? session__found(s, p) : session__find(s, p);
	if (!err || p->undecided)
		return;
	if (err == -EAGAIN && !p->asked)
		return;
	if (error__passes(s, err, loading, p) && patient)
		return;
	/* when it was the only one, this is why the session failed, and session__run says it */
	if (p->asked ? s->live > 1
		     : err != -ENOEXEC && err != -ESRCH && err != -EEXIST && err != -E2BIG)
		session__note(s, "%s", s->fault.text);
	session__end_process(s, p);
}

/* @p has ended: when nothing of it is on its way any more, its file is complete. */
static void session__drained(struct session *s, struct process *p)
{
	struct profile_process profile = process__profile(p);

	if (p->drained++ < DRAIN_POLLS)
		return;
	decoder__forget(s->decoder, p->serial);
	if (!s->err)
		s->err = s->sink.ops->process(s->sink.arg, &profile, PROFILE_ENDED);
	processes__remove(&s->processes, p);
}

void session__settle(struct session *s)
{
	struct process *p, *next;
	uint64_t now = session__now();

	for (p = processes__next(&s->processes, NULL); p; p = next) {
		next = processes__next(&s->processes, p);
		if (p->state == PROCESS_ENDED) {
			session__drained(s, p);
			continue;
		}
		if (p->exited || process__gone(p))
			session__end_process(s, p);
		else if (p->execed && p->state == PROCESS_SAMPLED)
			session__replaced(s, p);
		else if (p->state == PROCESS_WAITING)
			session__retry(s, p, now);
		else if (p->state == PROCESS_SAMPLED && p->checking)
			session__lines_again(s, p, now);
	}
}

int session__retry_in(const struct session *s, int max)
{
	const struct process *p = NULL;
	uint64_t now = session__now();

	while ((p = processes__next(&s->processes, p))) {
		if (p->state != PROCESS_WAITING)
			continue;
		if (p->retry_at <= now)
			return 0;
		if (p->retry_at - now < (uint64_t)max * NS_PER_MS)
			max = (int)((p->retry_at - now) / NS_PER_MS) + 1;
	}
	return max;
}

/*
 * The process of a record.  One that nobody announced (its record was lost) is made up from what
 * the record says.
 */
static struct process *session__process(struct session *s, uint32_t serial, uint32_t pid)
{
	struct process *p = processes__find(&s->processes, serial);

	if (p)
		return p;
	p = processes__add(&s->processes, serial, pid);
	if (!p) {
		s->err = errmsg__set(&s->fault, -ENOMEM, "out of memory");
		return NULL;
	}
	p->state = PROCESS_SAMPLED;
	s->live++;
	process__watch(p);
	return p;
}

void session__on_sample(void *arg, const struct sample *sample)
{
	struct session *s = arg;
	struct profile_process profile;
	struct process *p;

	p = session__process(s, sample->serial, sample->pid);
	if (!p || s->err)
		return;
	session__count(s, p);
	if (!s->stats.first_sample && sample->time > s->started)
		s->stats.first_sample = (double)(sample->time - s->started) / 1e9;
	profile = process__profile(p);
	s->err = s->sink.ops->sample(s->sink.arg, &profile, sample);
}

void session__on_process(void *arg, const struct xr_process *record)
{
	struct session *s = arg;
	struct process *p, *parent;

	if (record->event == XR_PROCESS_FORK)
		p = session__process(s, record->serial, record->pid);
	else
		p = processes__find(&s->processes, record->serial);
	if (!p)
		return;
	snprintf(p->comm, sizeof(p->comm), "%.*s", (int)sizeof(record->comm), record->comm);
	switch (record->event) {
	case XR_PROCESS_FORK:
		p->parent_serial = record->parent_serial;
		p->parent_pid = record->parent_pid;
		parent = processes__find(&s->processes, record->parent_serial);
		session__debug(s, "process %u (%s): forked by %u%s", p->pid, p->comm, p->parent_pid,
			       parent ? "" : ", which is gone");
		break;
	case XR_PROCESS_EXEC:
		p->execed = true;
		break;
	case XR_PROCESS_EXIT:
		p->exited = true;
		break;
	}
}
