/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/lifecycle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "os/os.h"
#include "os/proc.h"
#include "session/records.h"
#include "target/layout_check.h"

/*
 * How long to wait between two looks for R in a process: a part of the time it has been waited for,
 * within these.  A look at whether an R that is mapped has begun costs one read, another one opens
 * files.
 */
#define RETRY_MIN_MS	5
#define RETRY_MAX_MS	40
#define RETRY_PART	8
#define RETRY_READ_PART 64

/* One that is looked at before its first sample, ms; and those sampled whose row is not complete.
 */
#define FOUND_MS     1
#define AGAIN_MS     20
#define AGAIN_LOOKS  8
#define SETTLE_LOOKS 64 /* of all together, in one lifecycle__settle() */

#define GONE_MS 5 /* at least, between two questions who has ended */

/* After so many polls nothing of an ended process can be on its way any more. */
#define DRAIN_POLLS 2

struct profile_process process__profile(const struct process *p)
{
	return (struct profile_process){
		.serial = p->serial,
		.pid = p->pid,
		.parent_pid = p->parent_pid,
		.comm = p->comm,
	};
}

void lifecycle__sunk(struct lifecycle *l, int err)
{
	if (!err || l->err)
		return;
	l->err = err;
	l->reason = *l->sink.ops->why(l->sink.arg);
}

static int lifecycle__no_memory(struct lifecycle *l)
{
	l->err = errmsg__set(&l->reason, -ENOMEM, "out of memory");
	return l->err;
}

static enum outcome process__outcome(const struct lifecycle *l, const struct process *p, int err,
				     uint64_t now)
{
	const struct outcome_facts facts = {
		.origin = p->origin,
		.comm = p->target.comm,
		.told = l->told,
		.waited = now - p->since,
	};

	return outcome__of(err, &facts);
}

static uint32_t lifecycle__row_flags(const struct lifecycle *l)
{
	return XR_ROW_FOLLOW | l->config->capture;
}

static void lifecycle__end(struct lifecycle *l, struct process *p)
{
	if (p->state == PROCESS_ENDED)
		return;
	if (p->state == PROCESS_SAMPLED)
		l->ops->remove(l->engine, p->pid, p->serial);
	p->state = PROCESS_ENDED;
	p->drained = 0;
	l->live--;
}

void lifecycle__count(struct lifecycle *l, struct process *p)
{
	l->counted += !p->counted;
	p->counted = true;
}

/* @part: of the time waited so far. */
static void process__retry_later(struct process *p, uint64_t now, unsigned int part)
{
	uint64_t wait = (now - p->since) / part;

	if (wait < RETRY_MIN_MS * NS_PER_MS)
		wait = RETRY_MIN_MS * NS_PER_MS;
	if (wait > RETRY_MAX_MS * NS_PER_MS)
		wait = RETRY_MAX_MS * NS_PER_MS;
	p->retry_at = now + wait;
}

void lifecycle__hint(struct process *p)
{
	if (p->state == PROCESS_WAITING)
		p->retry_at = 0;
}

/* What was found, for those who want to know all. */
static void lifecycle__describe(const struct lifecycle *l, const struct process *p)
{
	const struct target *t = &p->target;
	char cgroup[4096], id[65] = "none", late[48] = "";

	if (l->config->notes.lowest > NOTES_DEBUG)
		return;
	if (p->not_begun_at)
		snprintf(late, sizeof(late), ", began at most %.1f ms ago",
			 (double)(os__now() - p->not_begun_at) / (double)NS_PER_MS);
	if (!proc__cgroup((pid_t)p->pid, cgroup, sizeof(cgroup)))
		proc__container(cgroup, id);
	notes__debug(&l->config->notes,
		     "process %u (%s): R %s in %s, load bias 0x%llx, parent %u, container %s%s",
		     p->pid, p->comm, t->version[0] ? t->version : "of unknown version", t->path,
		     (unsigned long long)t->load_bias, p->parent_pid, id, late);
}

/* Give a process whose R was found to the engine. */
static int lifecycle__sample(struct lifecycle *l, struct process *p)
{
	struct profile_process profile = process__profile(p);
	int err;

	err = l->ops->add(l->engine, &p->target.row, &l->reason);
	if (err == -E2BIG) {
		l->crowd = l->live;
		if (!l->unprofiled++)
			notes__user(&l->config->notes, "%s", l->reason.text);
	}
	if (err)
		return err;
	p->state = PROCESS_SAMPLED;
	lifecycle__count(l, p);
	if (!l->began)
		l->began = os__now();
	lifecycle__describe(l, p);
	/* a process that was asked for has a file even when it does nothing */
	if (process__named(p) && !l->err)
		lifecycle__sunk(l, l->sink.ops->process(l->sink.arg, &profile, PROFILE_BEGAN));
	/* those forked before the row was there have none */
	if ((l->config->all || l->config->follow) && pids__put(&l->sampled, (pid_t)p->pid))
		return lifecycle__no_memory(l);
	return 0;
}

/*
 * An R that is not in the table of layouts is sampled only after its layout was seen to fit.  That
 * needs a function being called, which may take any time to come.
 */
static int lifecycle__check_layout(struct lifecycle *l, struct process *p)
{
	const struct notes *notes = &l->config->notes;
	struct target *t = &p->target;
	struct layout_found found;
	int err = layout_check__process(&t->row, &found, &l->reason);

	p->undecided = err == -EAGAIN;
	if (p->undecided && !l->began)
		l->began = os__now(); /* a duration counts, whether R does anything or not */
	if (err)
		return err;
	notes__user(
		notes,
		"process %u: R %s is not in the table of layouts; the newest one in it fits%s%s",
		p->pid, t->version[0] ? t->version : "of unknown version",
		found.shift ? " when shifted" : "",
		l->config->capture & XR_ROW_LINES && !found.lines ? ", but not for source lines"
								  : "");
	notes__debug(notes,
		     "process %u: %u contexts kept R's rules, in %u looks; sysparent at %u, call "
		     "at %u, cloenv at %u",
		     p->pid, found.contexts, found.looks, t->row.layout.sysparent,
		     t->row.layout.call, t->row.layout.cloenv);
	return 0;
}

/*
 * PROCESS_FOUND: have it sampled, if it need not wait.  Before the engine is open nothing has to be
 * done.
 */
static int lifecycle__go_on(struct lifecycle *l, struct process *p, uint64_t now)
{
	if (!l->engine)
		return 0;
	verify_hidden__advance(&l->verify, &p->hidden, &p->target, 1, now);
	if (verify_hidden__worth_waiting(&p->hidden, &p->target, now))
		return 0;
	return lifecycle__sample(l, p);
}

/* All that must be known of a process' R is, but perhaps its layout. */
static int lifecycle__found(struct lifecycle *l, struct process *p, uint64_t now)
{
	int err = 0;

	if (!p->target.version_known)
		err = lifecycle__check_layout(l, p);
	if (err)
		return err;
	if (verify_hidden__begin(&l->verify, &p->hidden, &p->target, now))
		return lifecycle__no_memory(l);
	p->state = PROCESS_FOUND;
	return lifecycle__go_on(l, p, now);
}

/* Look for R in a process. */
static int lifecycle__find(struct lifecycle *l, struct process *p, uint64_t now)
{
	uint32_t flags = lifecycle__row_flags(l);
	struct target *t = &p->target;
	struct proc proc;
	int err;

	err = target__find((pid_t)p->pid, flags & (XR_ROW_LINES | XR_ROW_GC), t, &l->reason);
	if (err)
		return err;
	p->mine = true;
	if (!proc__read((pid_t)p->pid, &proc))
		p->parent_pid = (uint32_t)proc.ppid;
	snprintf(p->comm, sizeof(p->comm), "%s", t->comm);
	t->row.serial = p->serial;
	t->row.flags |= flags;
	process__hold(p);
	return lifecycle__found(l, p, now);
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

int lifecycle__add(struct lifecycle *l, pid_t pid, enum process_origin origin)
{
	uint64_t now = os__now();
	struct process *p;
	int err;

	p = processes__add(&l->processes, 0, (uint32_t)pid);
	if (!p)
		return lifecycle__no_memory(l);
	l->live++;
	p->origin = origin;
	p->since = now;
	if (!process__named(p))
		l->added_at = now;
	err = lifecycle__find(l, p, now);
	if (!err)
		return 0;
	if (!l->err && p->state == PROCESS_WAITING &&
	    process__outcome(l, p, err, now) == OUTCOME_NOT_YET) {
		p->not_begun_at = err == -EAGAIN ? now : 0;
		process__retry_later(p, now, RETRY_PART);
		process__hold(p);
		notes__debug(&l->config->notes, "waiting: %s", l->reason.text);
		return 0;
	}
	l->live--;
	processes__remove(&l->processes, p);
	return err;
}

int lifecycle__attach(struct lifecycle *l, const struct engine_ops *ops, struct engine *engine)
{
	struct process *p, *next;
	uint64_t now = os__now();
	int err, first = 0;

	l->ops = ops;
	l->engine = engine;
	for (p = processes__next(&l->processes, NULL); p; p = next) {
		next = processes__next(&l->processes, p);
		if (p->state != PROCESS_FOUND)
			continue;
		p->hidden.opened_at = now; /* while the engine was opened nothing was looked at */
		err = lifecycle__go_on(l, p, now);
		if (!err)
			continue;
		first = first ? first : err;
		if (l->live > 1)
			notes__user(&l->config->notes, "%s", l->reason.text);
		lifecycle__end(l, p);
	}
	if (l->err)
		return l->err;
	return l->live ? 0 : first;
}

/* An exec: the row is gone.  Where it is followed, what runs there now is looked at as if new. */
static void lifecycle__replaced(struct lifecycle *l, struct process *p)
{
	const struct notes *notes = &l->config->notes;
	int err;

	lifecycle__end(l, p);
	if (!l->config->follow && !l->config->all) {
		(process__named(p) ? notes__user : notes__debug)(
			notes, "process %u executed another program (%s)", p->pid, p->comm);
		return;
	}
	err = lifecycle__add(l, (pid_t)p->pid, PROCESS_REPLACED);
	if (err && !l->err)
		notes__debug(notes, "process %u is no longer profiled: %s", p->pid, l->reason.text);
}

/* R was not found in @p, or the engine would not have it. */
static void lifecycle__failed(struct lifecycle *l, struct process *p, int err, uint64_t now)
{
	enum outcome outcome = process__outcome(l, p, err, now);

	if (l->err || (p->state == PROCESS_WAITING && outcome == OUTCOME_NOT_YET))
		return;
	/* when it was the only one, this is why the session is over, and its caller says so */
	if (outcome != OUTCOME_GONE && (process__named(p) ? l->live > 1 : outcome__matters(err)))
		notes__user(&l->config->notes, "%s", l->reason.text);
	lifecycle__end(l, p);
}

static void lifecycle__retry(struct lifecycle *l, struct process *p, uint64_t now)
{
	int err;

	if (now < p->retry_at)
		return;
	if (process__starting(p)) {
		p->not_begun_at = now;
		process__retry_later(p, now, RETRY_READ_PART);
		if (process__outcome(l, p, -EAGAIN, now) == OUTCOME_NOT_YET)
			return;
	} else {
		process__retry_later(p, now, RETRY_PART);
	}
	err = p->undecided ? lifecycle__found(l, p, now) : lifecycle__find(l, p, now);
	/* a named R may take any time to call a function */
	if (err && !p->undecided)
		lifecycle__failed(l, p, err, now);
}

/* @p has ended: when nothing of it is on its way any more, its file is complete. */
static void lifecycle__drain(struct lifecycle *l, struct process *p)
{
	struct profile_process profile = process__profile(p);

	if (p->drained++ < DRAIN_POLLS)
		return;
	decoder__forget(l->decoder, p->serial);
	if (!l->err)
		lifecycle__sunk(l, l->sink.ops->process(l->sink.arg, &profile, PROFILE_ENDED));
	processes__remove(&l->processes, p);
}

/* One that is sampled with a row that may become more complete. */
static void lifecycle__complete(struct lifecycle *l, struct process *p, int *looks, uint64_t now)
{
	unsigned int n = AGAIN_LOOKS;

	if (now - p->hidden.looked_at < AGAIN_MS * NS_PER_MS || *looks <= 0)
		return;
	*looks -= AGAIN_LOOKS;
	if (verify_hidden__advance(&l->verify, &p->hidden, &p->target, n, now))
		l->ops->update(l->engine, &p->target.row);
}

void lifecycle__settle(struct lifecycle *l)
{
	struct process *p, *next;
	uint64_t now = os__now();
	bool ask = now - l->gone_at >= GONE_MS * NS_PER_MS;
	int looks = SETTLE_LOOKS, err;

	if (ask)
		l->gone_at = now;
	for (p = processes__next(&l->processes, NULL); p; p = next) {
		next = processes__next(&l->processes, p);
		if (p->state == PROCESS_ENDED) {
			lifecycle__drain(l, p);
		} else if (p->exited || (ask && process__gone(p))) {
			lifecycle__end(l, p);
		} else if (p->execed && p->state == PROCESS_SAMPLED) {
			lifecycle__replaced(l, p);
		} else if (p->state == PROCESS_WAITING) {
			lifecycle__retry(l, p, now);
		} else if (p->state == PROCESS_FOUND) {
			err = lifecycle__go_on(l, p, now);
			if (err)
				lifecycle__failed(l, p, err, now);
		} else if (p->hidden.open) {
			lifecycle__complete(l, p, &looks, now);
		}
	}
}

/* When @p has to be looked at next; 0: only when something happens. */
static uint64_t process__due(const struct process *p, uint64_t now)
{
	if (p->state == PROCESS_WAITING)
		return p->retry_at ? p->retry_at : now;
	if (p->state == PROCESS_FOUND)
		return now + FOUND_MS * NS_PER_MS;
	if (p->state == PROCESS_SAMPLED && p->hidden.open)
		return p->hidden.looked_at + AGAIN_MS * NS_PER_MS;
	return 0;
}

int lifecycle__due(const struct lifecycle *l, int max)
{
	const struct process *p = NULL;
	uint64_t now = os__now(), due;

	while ((p = processes__next(&l->processes, p))) {
		due = process__due(p, now);
		if (!due)
			continue;
		if (due <= now)
			return 0;
		if (due - now < (uint64_t)max * NS_PER_MS)
			max = (int)((due - now + NS_PER_MS - 1) / NS_PER_MS);
	}
	return max;
}

int lifecycle__open(struct lifecycle *l, const struct session_config *config, struct sink sink)
{
	static const struct decoder_ops decoder_ops = {
		.sample = records__sample,
		.process = records__process,
	};
	int err;

	*l = (struct lifecycle){.config = config, .sink = sink, .opened = os__now()};
	l->verify.notes = &config->notes;
	err = decoder__new(&l->decoder, &decoder_ops, l);
	return err ? errmsg__set(&l->reason, err, "cannot make a decoder: %s", strerror(-err)) : 0;
}

void lifecycle__close(struct lifecycle *l)
{
	struct process *p, *next;

	for (p = processes__next(&l->processes, NULL); p; p = next) {
		next = processes__next(&l->processes, p);
		processes__remove(&l->processes, p);
	}
	pids__free(&l->sampled);
	verify_hidden__free(&l->verify);
	decoder__free(l->decoder);
	l->decoder = NULL;
}
