/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/admission.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"
#include "session/sources.h"
#include "target/variables.h"

/*
 * How long to wait between two looks for R in a process: a part of the time it has been waited for,
 * within these.  A look at whether an R that is mapped has begun costs one read, another one opens
 * files.
 */
#define RETRY_MIN_MS	5
#define RETRY_MAX_MS	40
#define RETRY_TOLD_MS	1000 /* after TOLD_NS, where the kernel reports when R is mapped */
#define TOLD_NS		(2 * NS_PER_S)
#define RETRY_PART	8
#define RETRY_READ_PART 64

#define LOOKS 8 /* at a row that is not complete, one after the other */

/* before one is asked about again who did not answer, or too many of whose user */
#define BUSY_MS 1000

/* how long the first sample of an R that was named waits for its labels */
#define LABELS_FIRST_MS 1000

static enum outcome admission__outcome(const struct lifecycle *l, struct process *p, int err,
				       uint64_t now)
{
	return process__outcome(p, err, l->told, l->config->follow || l->config->all, now);
}

static uint32_t admission__flags(const struct lifecycle *l)
{
	return XR_ROW_FOLLOW | l->config->capture;
}

/* @part: of the time waited so far.  @told: its mapping of R will be reported (lifecycle__hint). */
static void process__retry_later(struct process *p, uint64_t now, unsigned int part, bool told)
{
	uint64_t wait = (now - p->since) / part;
	uint64_t max = told && now - p->since > TOLD_NS ? RETRY_TOLD_MS : RETRY_MAX_MS;

	if (wait < RETRY_MIN_MS * NS_PER_MS)
		wait = RETRY_MIN_MS * NS_PER_MS;
	if (wait > max * NS_PER_MS)
		wait = max * NS_PER_MS;
	p->retry_at = now + wait;
}

/* What was found, for those who want to know all. */
static void admission__note(const struct lifecycle *l, const struct process *p)
{
	const struct target *t = &p->target;
	char late[48] = "";

	if (l->config->notes.lowest > NOTES_DEBUG)
		return;
	if (p->not_begun_at)
		snprintf(late, sizeof(late), ", began at most %.1f ms ago",
			 (double)(os__now() - p->not_begun_at) / (double)NS_PER_MS);
	notes__debug(&l->config->notes,
		     "process %u (%s): R %s in %s, load bias 0x%llx, parent %u, container %s%s",
		     p->pid, p->comm, t->version[0] ? t->version : "of unknown version", t->path,
		     (unsigned long long)t->load_bias, p->parent_pid,
		     p->container[0] ? p->container : "none", late);
}

/*
 * Where the caller's own rights count: was what was given to the engine his to look at?  Between
 * the reading of its R and the row it may have executed a program that is not, a setuid one say.  A
 * program that may be looked at after the row was there, and a row that is still there after that,
 * leave no time in which another was sampled: an exec would have taken the row.
 */
static int admission__allowed(struct lifecycle *l, struct process *p)
{
	int err;

	if (!rights__exceed())
		return 0;
	err = rights__may_look((pid_t)p->pid, p->target.start_time);
	if (!err && l->ops->holds && !l->ops->holds(l->engine, p->pid, p->serial))
		err = -ESRCH;
	if (!err)
		return 0;
	l->ops->remove(l->engine, p->pid, p->serial);
	p->refused = true;
	return err == -EACCES ? target__denied(&p->target, "memory", &l->reason)
			      : target__gone(&p->target, &l->reason);
}

/* Give a process whose R was found to the engine. */
static int admission__sample(struct lifecycle *l, struct process *p)
{
	struct profile_process profile;
	char cgroup[4096];
	int err;

	err = l->ops->add(l->engine, &p->target.row, &l->reason);
	if (!l->began && err != -ESRCH && err != -EEXIST)
		l->began = os__now(); /* also if it failed: --duration ends the session */
	if (outcome__is_full(err))
		lifecycle__no_room(l, WAITING_ENGINE, (pid_t)p->pid, p->target.start_time);
	if (!err)
		err = admission__allowed(l, p);
	if (err)
		return err;
	lifecycle__sampled(l, p);
	/* an exec that came before the row has taken none, and is not reported */
	p->execed = target__replaced(&p->target);
	records__count(&l->records, p);
	process__look(p, os__now());
	if (proc__cgroup((pid_t)p->pid, cgroup, sizeof(cgroup)) ||
	    !proc__container(cgroup, p->container))
		proc__isolated((pid_t)p->pid, p->container);
	if (l->config->labels)
		p->started = proc__began(p->target.start_time);
	profile = process__profile(p);
	admission__note(l, p);
	lifecycle__report(l, p);
	/* a process that was asked for has a file even when it does nothing */
	if (process__named(p) && !l->err)
		lifecycle__sunk(l, sink__process(&l->sink, &profile, PROFILE_BEGAN));
	/* those forked before the row was there have none */
	if ((l->config->all || l->config->follow) && pids__put(&l->sampled, (pid_t)p->pid))
		return lifecycle__no_memory(l);
	/* now, so that it is known by the first sample where that can be */
	if (admission__undescribed(l, p) && !p->asked)
		return admission__describe(l, p, os__now());
	return admission__labels(l, p, os__now());
}

/* Ask @q of @p; admission__answered() goes on. */
static int admission__put(struct lifecycle *l, struct process *p, struct ask *q, uint64_t now)
{
	q->pid = (pid_t)p->pid;
	q->tag = p->serial;
	if (asker__ask(l->asker, q))
		return lifecycle__no_memory(l);
	p->asked = true;
	p->asked_at = now;
	return 0;
}

int admission__ask(struct lifecycle *l, struct process *p, enum ask_kind kind, uint64_t now)
{
	struct ask q = {
		.kind = kind,
		.want = admission__flags(l) & TARGET_HIDDEN,
		.target = p->target,
	};

	/* a workload is looked at again and again, and never runs a renamed library */
	if (p->origin != PROCESS_WORKLOAD)
		q.want |= TARGET_ANY_NAME;
	return admission__put(l, p, &q, now);
}

bool admission__undescribed(const struct lifecycle *l, const struct process *p)
{
	return l->config->labels && p->state == PROCESS_SAMPLED && !p->described && !p->refused;
}

int admission__describe(struct lifecycle *l, struct process *p, uint64_t now)
{
	return admission__put(l, p, &(struct ask){.kind = ASK_DESCRIBE}, now);
}

int admission__labels(struct lifecycle *l, struct process *p, uint64_t now)
{
	struct ask q = {.kind = ASK_LABELS, .target = p->target};

	if (!(l->config->capture & XR_ROW_LABELS) || p->labels_never || p->asked ||
	    !p->target.row.start_time)
		return 0;
	if (p->labels_at &&
	    (!p->labels_ran || now - p->labels_at < processes__labels_rest(&l->processes, p)))
		return 0;
	if (!processes__symbols(&l->processes, p))
		return 0;
	q.at = p->symbols_at;
	p->labels_at = now;
	p->labels_looks++;
	p->labels_ran = false;
	p->labels_asked = true;
	return admission__put(l, p, &q, now);
}

/* Where @p has its option for labels is known. */
static void admission__labelled(struct lifecycle *l, struct process *p, const struct ask *a)
{
	struct xr_row *row = &p->target.row;

	p->labels_asked = false;
	if (a->err == -ENOENT || a->err == -ENOSYS) {
		p->labels_never = true;
		notes__debug(&l->config->notes,
			     "process %u: labels are not available: R's options are not found",
			     p->pid);
	}
	if (a->err || (p->state != PROCESS_SAMPLED && p->state != PROCESS_FOUND))
		return;
	p->symbols_at = a->at;
	p->target.symbols = a->target.symbols;
	if (a->target.row.labels_at)
		p->labels_looks = 0;
	if (row->labels_at == a->target.row.labels_at &&
	    row->labels_tag == a->target.row.labels_tag)
		return;
	if (!row->labels_at)
		notes__debug(&l->config->notes, "process %u: its labels are found", p->pid);
	row->labels_at = a->target.row.labels_at;
	row->labels_tag = a->target.row.labels_tag;
	if (p->state == PROCESS_SAMPLED)
		l->ops->update(l->engine, row);
}

int admission__look(struct lifecycle *l, struct process *p, uint64_t now)
{
	struct ask q = {.kind = ASK_HIDDEN};

	if (verify_hidden__advance(&l->verify, &p->hidden, &p->target, LOOKS, now, &q) &&
	    p->state == PROCESS_SAMPLED)
		l->ops->update(l->engine, &p->target.row);
	return q.looks ? admission__put(l, p, &q, now) : 0;
}

/*
 * An R that is not in the table of layouts is sampled only after its layout was seen to fit.  That
 * needs a function being called, which may take any time to come.
 */
static int admission__checked(struct lifecycle *l, struct process *p, const struct ask *a)
{
	const struct notes *notes = &l->config->notes;
	const struct layout_found *found = &a->found;
	struct target *t = &p->target;

	p->undecided = a->err == -EAGAIN;
	if (p->undecided && !l->began)
		l->began = os__now(); /* a duration counts, whether R does anything or not */
	if (a->err)
		return a->err;
	t->row = a->target.row;
	advice__unlisted(&l->advice, p, found, l->config->capture & XR_ROW_LINES);
	notes__debug(notes,
		     "process %u: %u contexts matched R's rules, in %u attempts; sysparent at %u, "
		     "call at %u, cloenv at %u",
		     p->pid, found->contexts, found->looks, t->row.layout.sysparent,
		     t->row.layout.call, t->row.layout.cloenv);
	return 0;
}

/*
 * PROCESS_FOUND: have it sampled, if it need not wait.  Before the engine is open nothing has to be
 * done.
 */
static int admission__try(struct lifecycle *l, struct process *p, uint64_t now)
{
	/* the first samples have labels, too; others may be over before the answer */
	const bool labels = l->config->labels_first && l->config->capture & XR_ROW_LABELS &&
			    p->origin == PROCESS_NAMED && p->target.row.start_time &&
			    now - p->hidden.opened_at < LABELS_FIRST_MS * NS_PER_MS;
	int err = 0;

	if (!l->engine)
		return 0;
	if (labels && !p->labels_at && !verify_hidden__worth_waiting(&p->hidden, &p->target, now))
		err = admission__labels(l, p, now);
	if (!err && !p->asked)
		err = admission__look(l, p, now);
	if (err || verify_hidden__worth_waiting(&p->hidden, &p->target, now))
		return err;
	/* asked now, or when the process with the same R that is asked first has answered */
	if (labels && !p->labels_never && (p->labels_asked || !p->labels_at))
		return 0;
	return admission__sample(l, p);
}

/* All that must be known of a process' R is. */
static int admission__found(struct lifecycle *l, struct process *p, uint64_t now)
{
	if (verify_hidden__begin(&l->verify, &p->hidden, &p->target, now))
		return lifecycle__no_memory(l);
	p->state = PROCESS_FOUND;
	return admission__try(l, p, now);
}

/* R is in @p: `target` says where. */
static int admission__identified(struct lifecycle *l, struct process *p, uint64_t now)
{
	struct target *t = &p->target;
	struct proc proc;

	p->mine = true;
	if (!proc__read((pid_t)p->pid, &proc))
		p->parent_pid = (uint32_t)proc.ppid;
	snprintf(p->comm, sizeof(p->comm), "%s", t->comm);
	t->row.serial = p->serial;
	t->row.flags |= admission__flags(l);
	process__hold(p);
	return t->version_known ? admission__found(l, p, now)
				: admission__ask(l, p, ASK_LAYOUT, now);
}

/*
 * R was not found in @p, or the engine refused it: @p may be freed afterwards.  @quiet: the reason
 * was printed already.
 */
static void admission__failed(struct lifecycle *l, struct process *p, int err, bool quiet,
			      uint64_t now)
{
	const struct notes *notes = &l->config->notes;
	enum outcome outcome = admission__outcome(l, p, err, now);
	bool say;

	if (l->err || (p->state == PROCESS_WAITING && outcome == OUTCOME_NOT_YET))
		return;
	if (p->state == PROCESS_WAITING && outcome__is_full(err)) /* the engine was not asked */
		lifecycle__no_room(l, WAITING_ENGINE, (pid_t)p->pid,
				   proc__start_time((pid_t)p->pid));
	l->failed = err;
	/* if it was the only one, this ends the session, and the caller prints the reason */
	if (process__named(p))
		say = l->live > 1 && (outcome != OUTCOME_GONE || !p->looked) &&
		      !outcome__is_full(err);
	else
		l->refused |= say = outcome__matters(err);
	if (say && !quiet)
		notes__user(notes, "%s", l->reason.text);
	else
		notes__debug(notes, "process %u is not profiled: %s", p->pid, l->reason.text);
	lifecycle__end(l, p);
	if (!p->counted &&
	    !p->refused) /* no sample of it can come, and the sink does not know it */
		processes__remove(&l->processes, p);
}

void admission__go_on(struct lifecycle *l, struct process *p, uint64_t now)
{
	int err = admission__try(l, p, now);

	if (err)
		admission__failed(l, p, err, false, now);
}

/* What a process became by exec the user did not name. */
static bool admission__left_out(const struct lifecycle *l, const struct process *p)
{
	const struct filters *filters = l->config->filters;

	return p->origin == PROCESS_REPLACED && filters && !filters__pass(filters, (pid_t)p->pid);
}

/* R was looked for in @p. */
static void admission__looked(struct lifecycle *l, struct process *p, const struct ask *a,
			      uint64_t now)
{
	int err = a->err;

	p->target = a->target;
	if (!err && admission__left_out(l, p))
		err = errmsg__set(&l->reason, -ENOEXEC, "process %u is left out by a filter",
				  p->pid);
	if (!err)
		err = admission__identified(l, p, now);
	if (err && (p->state != PROCESS_WAITING ||
		    admission__outcome(l, p, err, now) != OUTCOME_NOT_YET)) {
		admission__failed(l, p, err, a->quiet, now);
		return;
	}
	if (err && !p->looked)
		process__hold(p);
	if (err == -EAGAIN)
		p->not_begun_at = p->asked_at;
	process__retry_later(p, now, a->yes ? RETRY_READ_PART : RETRY_PART,
			     l->told && err == -ENOEXEC && !p->hinted);
	p->hinted = false;
	if (outcome__is_full(err)) {
		p->retry_at = now + BUSY_MS * NS_PER_MS;
	} else if (err == -EBUSY || err == -ETIMEDOUT) {
		p->retry_at = now + BUSY_MS * NS_PER_MS;
		if (!a->quiet)
			notes__user(&l->config->notes, "%s", l->reason.text);
	} else if (err && !p->looked) {
		notes__debug(&l->config->notes, "waiting: %s", l->reason.text);
	}
	p->looked = true;
}

/* The hidden variables of @p were looked at. */
static int admission__proven(struct lifecycle *l, struct process *p, const struct ask *a,
			     uint64_t now)
{
	bool changed = verify_hidden__answered(&l->verify, &p->hidden, &p->target, a, now);

	if (a->err == -ETIMEDOUT && !a->quiet)
		notes__user(&l->config->notes, "%s", a->why.text);
	if (p->state == PROCESS_FOUND)
		return admission__try(l, p, now);
	if (p->state != PROCESS_SAMPLED)
		return 0;
	if (changed)
		l->ops->update(l->engine, &p->target.row);
	lifecycle__report(l, p);
	return 0;
}

void admission__presume(const struct lifecycle *l, struct process *p)
{
	char cgroup[4096] = "", text[DESCRIBE_TEXT];
	const struct describe_from from = {.cgroup = cgroup, .comm = p->comm};
	size_t size;

	proc__cgroup((pid_t)p->pid, cgroup, sizeof(cgroup));
	size = describe__make(l->config->labels, &from, text);
	p->described = description__new(text, size);
}

/* Is @a of @p, and of the program that it was found with? */
static bool admission__describes(const struct process *p, const struct ask *a)
{
	const struct target *t = &p->target, *of = &a->target;

	return (!p->mine || of->start_time == t->start_time) &&
	       (!t->stack || !of->stack || of->stack == t->stack);
}

/*
 * The description of @p is known, unless another process has its pid by now, or it has executed
 * another program.
 */
static void admission__described(struct lifecycle *l, struct process *p, const struct ask *a)
{
	struct profile_process profile;

	p->asked = false;
	if (p->described || p->refused)
		return;
	if (a->err)
		notes__debug(&l->config->notes, "process %u: its description is unknown: %s",
			     p->pid, a->why.text[0] ? a->why.text : os__reason(a->err));
	else if (!a->yes)
		notes__debug(&l->config->notes, "process %u: its environment cannot be read",
			     p->pid);
	if (!a->err && admission__describes(p, a))
		p->described = description__new(a->text, sizeof(a->text));
	if (!p->described)
		admission__presume(l, p);
	if (!p->described) {
		lifecycle__no_memory(l);
		return;
	}
	profile = process__profile(p);
	lifecycle__sunk(l, sink__process(&l->sink, &profile, PROFILE_KNOWN));
}

void admission__answered(struct lifecycle *l, const struct ask *a)
{
	struct process *p = processes__find(&l->processes, (uint32_t)a->tag);
	uint64_t now = os__now();
	int err = 0;

	if (a->kind == ASK_MAPS || a->kind == ASK_MODULE) {
		native__answered(l, a, now);
		return;
	}
	if (a->kind == ASK_SOURCE) {
		sources__answered(l, a);
		return;
	}
	if (!p || l->err)
		return;
	if (a->kind == ASK_REQUEST) {
		if (a->err)
			call_track__unanswered(p->calls, a->tag >> 32);
		else if (call_track__read(p->calls, a->tag >> 32, a->text, now))
			lifecycle__no_memory(l);
		notes__debug(&l->config->notes, "process %u (%s): call %u: its request was %s",
			     p->pid, p->comm, (unsigned int)(a->tag >> 32),
			     a->err ? "not found" : "read");
		return;
	}
	if (a->kind == ASK_DESCRIBE) {
		admission__described(l, p, a);
		if (p->state == PROCESS_SAMPLED && !l->err)
			admission__labels(l, p, now);
		return;
	}
	if (p->state == PROCESS_ENDED)
		return;
	p->asked = false;
	if (a->kind == ASK_LABELS) {
		admission__labelled(l, p, a);
		if (p->state == PROCESS_FOUND)
			admission__go_on(l, p, now);
		return;
	}
	if (a->err && a->kind != ASK_HIDDEN)
		l->reason = a->why;
	switch (a->kind) {
	case ASK_FIND:
		admission__looked(l, p, a, now);
		return;
	case ASK_LAYOUT:
		err = admission__checked(l, p, a);
		if (!err)
			err = admission__found(l, p, now);
		/* a named R may take any time to call a function */
		if (p->undecided) {
			process__retry_later(p, now, RETRY_PART, false);
			return;
		}
		break;
	case ASK_HIDDEN:
		err = admission__proven(l, p, a, now);
		break;
	default:
		return;
	}
	if (err)
		admission__failed(l, p, err, a->quiet, now);
}
