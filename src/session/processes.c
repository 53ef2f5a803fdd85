/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "os/rights.h"

#define SAME_MS 1000

/* Between two looks at the CPU time of a process. */
#define LOOK_NS	 NS_PER_S
#define LOOKS	 64u		 /* a second, of all processes */
#define AGE_PART 8u		 /* of its age a process may rest for this part, */
#define REST_NS	 (10 * NS_PER_S) /* at most */

#define EXEC_NS	  (200 * NS_PER_MS)   /* for an exec to change who may look */
#define SETTLE_NS (2000 * NS_PER_MS)  /* for a program, and its libraries, to be mapped */
#define INIT_NS	  (5000 * NS_PER_MS)  /* for an R that was named while it starts */
#define APPEAR_NS (10000 * NS_PER_MS) /* for R to be mapped, if the kernel does not report that */

/* --- CPU time --- */

void cpu_use__look(struct cpu_use *u, pid_t pid, uint64_t now)
{
	uint64_t cpu;
	char state;

	if (proc__use(pid, &cpu, &state))
		return;
	if (!u->since) {
		u->since = now;
		u->before = cpu;
	}
	/* a pid that is used again has used less */
	if (cpu < u->cpu)
		return;
	u->at = now;
	u->cpu = cpu;
	u->stopped = state == 'T' || state == 't';
}

bool cpu_use__due(const struct cpu_use *u, uint64_t now, size_t processes)
{
	uint64_t rest = LOOK_NS * (1 + processes / LOOKS), age = cpu_use__elapsed(u) / AGE_PART;

	if (age > rest && rest < REST_NS)
		rest = age < REST_NS ? age : REST_NS;
	return now - u->at >= rest;
}

/* --- who may read its sources --- */

void source_rights__look(struct source_rights *r, pid_t pid, bool forked)
{
	char directory[4096];
	struct proc p;

	if ((r->looked && !r->directory) || proc__read(pid, &p))
		return;
	if (r->looked) {
		if (p.uid != r->uid)
			source_rights__end(r);
		return;
	}
	r->looked = true;
	r->uid = p.uid;
	if ((!forked || p.uid) && !proc__directory(pid, directory, sizeof(directory)))
		r->directory = strdup(directory);
}

void source_rights__end(struct source_rights *r)
{
	free(r->directory);
	r->directory = NULL;
}

/* --- its description --- */

/* The bytes of @text up to the empty one that ends it. */
static size_t text__size(const char *text, size_t size)
{
	const char *at = describe__next(text, text + size);

	while (at && *at)
		at = describe__next(at, text + size);
	return at ? (size_t)(at - text) + 1 : size;
}

struct description *description__new(const char *text, size_t size)
{
	struct description *d;
	const char *key, *value, *end;

	size = size ? text__size(text, size) : 0;
	d = malloc(sizeof(*d) + size + 1);
	if (!d)
		return NULL;
	*d = (struct description){.holders = 1};
	memcpy(d->text, text, size);
	d->text[size] = '\0';
	end = d->text + size + 1;
	d->command = d->text;
	key = describe__next(d->text, end);
	while (key && *key && d->nlabels <= DESCRIBE_LABELS) {
		value = describe__next(key, end);
		if (!value)
			break;
		d->labels[d->nlabels++] = (struct profile_label){.key = key, .value = value};
		key = describe__next(value, end);
	}
	return d;
}

struct description *description__hold(struct description *d)
{
	if (d)
		d->holders++;
	return d;
}

void description__drop(struct description *d)
{
	if (d && !--d->holders)
		free(d);
}

/* --- the table --- */

struct process *processes__add(struct processes *ps, uint32_t serial, uint32_t pid)
{
	struct process *p, **bucket;

	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	/* of those looked at: 31 bits go round only after years; 0 means none */
	if (!serial) {
		ps->last_serial = (ps->last_serial + 1) & 0x7fffffff;
		if (!ps->last_serial)
			ps->last_serial = 1;
		serial = ps->last_serial;
	}
	p->serial = serial;
	p->pid = pid;
	p->handle = PROC_HANDLE_NONE;
	bucket = &ps->bucket[serial % PROCESS_BUCKETS];
	p->next = *bucket;
	*bucket = p;
	ps->count++;
	return p;
}

struct process *processes__find(const struct processes *ps, uint32_t serial)
{
	struct process *p;

	for (p = ps->bucket[serial % PROCESS_BUCKETS]; p; p = p->next)
		if (p->serial == serial)
			return p;
	return NULL;
}

struct process *processes__find_pid(const struct processes *ps, uint32_t pid)
{
	struct process *p = NULL;

	while ((p = processes__next(ps, p)))
		if (p->pid == pid && p->state != PROCESS_ENDED)
			return p;
	return NULL;
}

void processes__remove(struct processes *ps, struct process *p)
{
	struct process **link = &ps->bucket[p->serial % PROCESS_BUCKETS];

	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	ps->count--;
	process__release(p);
	verify_hidden__end(&p->hidden);
	source_rights__end(&p->sources);
	description__drop(p->described);
	call_track__free(p->calls);
	free(p);
}

bool processes__symbols(const struct processes *all, struct process *p)
{
	const struct process *other = NULL;
	bool wait = false;

	while (!p->symbols_at && (other = processes__next(all, other))) {
		if (other == p || !p->target.file.ino ||
		    memcmp(&other->target.file, &p->target.file, sizeof(p->target.file)))
			continue;
		p->symbols_at = other->symbols_at;
		wait |= other->labels_asked && other->state != PROCESS_ENDED;
	}
	return p->symbols_at || !wait;
}

/* Looks a second, of all processes; looks after which it is a second longer, and seconds at most */
#define LABELS_LOOKS 128u
#define LABELS_TRIES 10u
#define LABELS_MOST  10u

uint64_t processes__labels_rest(const struct processes *all, const struct process *p)
{
	const uint32_t more = p->labels_looks / LABELS_TRIES;

	return NS_PER_S *
	       (1 + all->count / LABELS_LOOKS + (more < LABELS_MOST ? more : LABELS_MOST - 1));
}

struct process *processes__next(const struct processes *ps, const struct process *p)
{
	uint32_t i = 0;

	if (p && p->next)
		return p->next;
	if (p)
		i = p->serial % PROCESS_BUCKETS + 1;
	while (i < PROCESS_BUCKETS && !ps->bucket[i])
		i++;
	return i < PROCESS_BUCKETS ? ps->bucket[i] : NULL;
}

void process__look(struct process *p, uint64_t now)
{
	cpu_use__look(&p->use, (pid_t)p->pid, now);
	source_rights__look(&p->sources, (pid_t)p->pid, p->parent_serial);
}

struct profile_process process__profile(const struct process *p)
{
	const struct description *d = p->described;

	return (struct profile_process){
		.serial = p->serial,
		.pid = p->pid,
		.parent_pid = p->parent_pid,
		.comm = p->comm,
		.r_version = p->target.version,
		.container = p->container,
		.command = d ? d->command : NULL,
		.started = p->started,
		.labels = d ? d->labels : NULL,
		.nlabels = d ? d->nlabels : 0,
		.directory = p->sources.directory,
		.uid = p->sources.uid,
		.cpu_ns = cpu_use__used(&p->use),
		.elapsed_ns = cpu_use__elapsed(&p->use),
	};
}

void process__hold(struct process *p)
{
	if (!proc_handle__is_open(&p->handle))
		proc_handle__open(&p->handle, (pid_t)p->pid);
	/* between finding R and opening this, the pid may have gone to another process */
	if (proc_handle__is_open(&p->handle) && p->mine && !target__same(&p->target))
		process__release(p);
}

void process__release(struct process *p)
{
	proc_handle__close(&p->handle);
}

bool process__gone(struct process *p, uint64_t now)
{
	if (proc_handle__is_open(&p->handle))
		return proc_handle__ended(&p->handle);
	if (proc_handle__unused((pid_t)p->pid))
		return true;
	/* this reads a file */
	if (!p->mine || now - p->same_at < SAME_MS * NS_PER_MS)
		return false;
	p->same_at = now;
	return !target__same(&p->target);
}

/* --- why R was not found in it --- */

/* It is about to become R by its name: the shell script, and the program that runs it. */
static bool comm__becomes_r(const char *comm)
{
	return !strcmp(comm, "R") || !strcmp(comm, "Rscript");
}

/* There is no R in it yet. */
static bool process__may_become_r(const struct process *p, uint64_t waited, bool told, bool follow)
{
	bool long_one = follow || comm__becomes_r(p->target.comm);

	switch (p->origin) {
	case PROCESS_NAMED:
		return follow || (long_one && waited < INIT_NS);
	case PROCESS_WORKLOAD:
		return true;
	case PROCESS_SEEN:
		return waited < (told ? SETTLE_NS : APPEAR_NS);
	case PROCESS_REPLACED:
		return !told && waited < (long_one ? APPEAR_NS : SETTLE_NS);
	case PROCESS_FORKED:
		break;
	}
	return false;
}

enum outcome process__outcome(struct process *p, int err, bool told, bool follow, uint64_t now)
{
	const uint64_t waited = now - p->since;
	const bool settles = err == -EBADMSG || shortage__is(err);
	bool again = false;

	if (!settles)
		p->failing = 0;
	else if (!p->failing)
		p->failing = now;
	switch (err) {
	case -ESRCH:
		return OUTCOME_GONE;
	case -EAGAIN:
		again = p->origin != PROCESS_NAMED || waited < INIT_NS;
		break;
	case -ENOEXEC:
		again = p->hinted || process__may_become_r(p, waited, told, follow);
		break;
	case -EBADMSG:
	case -EMFILE: /* this program is short of something */
	case -ENFILE:
	case -ENOMEM:
		again = now - p->failing < SETTLE_NS;
		break;
	case -EACCES:
	case -EPERM:
		again = p->origin != PROCESS_NAMED && waited < EXEC_NS;
		break;
	case -EBUSY: /* no worker looked at it */
		again = true;
		break;
	case -ETIMEDOUT:
		again = p->origin == PROCESS_SEEN || p->origin == PROCESS_WORKLOAD;
		break;
	}
	return again ? OUTCOME_NOT_YET : OUTCOME_NEVER;
}

bool outcome__matters(int err)
{
	switch (err) {
	case -ESRCH:
	case -ENOEXEC:
	case -EEXIST: /* the engine has it already */
		return false;
	case -EACCES: /* --all means the caller's processes, if this program has more rights */
		return !rights__exceed();
	default:
		return !outcome__is_full(err); /* printed once, and counted */
	}
}

bool outcome__is_full(int err)
{
	return err == -E2BIG || err == -EMFILE || err == -ENFILE;
}
