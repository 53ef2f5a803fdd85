/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "os/os.h"
#include "session/lifecycle.h"
#include "session/processes.h"

/*
 * A process may execute code that is in no file for ever: after a look that brought nothing new it
 * is asked again later, each time twice as much.
 */
#define QUIET_FIRST_NS (20 * NS_PER_MS)
#define QUIET_MOST_NS  (60 * NS_PER_S)

#define RETRY_FIRST_NS NS_PER_S /* after a look that failed, each time twice as much */

#define FAILURES_MAX 3u /* looks at a module that bring nothing: then there is nothing */

/* Questions about modules have their number where others have nothing. */
#define MODULE_TAG(number, serial) ((uint64_t)(number) << 32 | (serial))

void natives__open(struct natives *n, const struct engine_ops *ops, struct engine *engine,
		   uint32_t capture, size_t memory, const struct notes *notes)
{
	const size_t share = LIMIT_NATIVE(memory ? memory : LIMIT_MEMORY);
	const uint32_t slabs = (uint32_t)(share / 2 / (8 * XR_SLAB_WORDS));

	*n = (struct natives){.on = capture & XR_ROW_NATIVE && ops->slab};
	if (capture & XR_ROW_KERNEL && !ops->kernel)
		notes__user(notes, "engine %s has no kernel frames: use engine bpf", ops->name);
	if (capture & XR_ROW_NATIVE && !n->on)
		notes__user(notes, "engine %s has no native frames: use engine bpf or ptrace",
			    ops->name);
	slabs__init(&n->slabs, ops, engine, slabs > 4 ? slabs : 4);
	n->modules.names_max = share / 2;
}

static void space__release(struct natives *n, struct space *s, uint64_t now)
{
	uint64_t *words;

	if (!s || --s->refs)
		return;
	if (s->stamp) {
		words = slabs__words(&n->slabs, s->extent);
		if (words) /* a sampler that comes here finds that it is gone */
			__atomic_store_n(words, 0, __ATOMIC_RELEASE);
		slabs__give(&n->slabs, s->extent, now);
	}
	for (uint32_t i = 0; i < s->nmaps; i++)
		modules__release(&n->modules, s->maps[i].module, &n->slabs, now);
	free(s);
}

/*
 * A row leads to another space than @s now.  A sample that began before has a copy of that row, and
 * looks @s up again for each frame: its stamp is cleared only after no such sample can be left.
 */
static void space__leave(struct natives *n, struct space *s, uint64_t now)
{
	if (!s)
		return;
	if (s->refs > 1) {
		s->refs--;
		return;
	}
	s->left_at = now;
	s->next = n->left;
	n->left = s;
}

static bool space__known(const struct space *s)
{
	for (uint32_t i = 0; i < s->nmaps; i++)
		if (s->maps[i].module->state != MODULE_KNOWN)
			return false;
	return true;
}

static bool space__same(const struct space *a, const struct space *b)
{
	if (!a || a->nmaps != b->nmaps)
		return false;
	return !memcmp(a->maps, b->maps, a->nmaps * sizeof(a->maps[0]));
}

/* The mappings of @map, one for each part of its module's table, to @to: how many. */
static uint32_t space__mapping(const struct space_map *map, struct xr_mapping *to, uint32_t room)
{
	const struct module *m = map->module;
	const uint64_t base = module__base(m, map->start, map->offset);
	struct xr_mapping one = {
		.start = map->start,
		.end = map->end,
		.base = base,
		.module = m->number,
		.flags = m->is_r ? XR_MAPPING_R : 0,
	};
	uint32_t n = 0;

	if (!m->nparts && room)
		to[n++] = one;
	for (uint32_t i = 0; i < m->nparts && n < room; i++) {
		const uint64_t from = base + m->parts[i].pc;
		const uint64_t until = i + 1 < m->nparts ? base + m->parts[i + 1].pc : map->end;

		one.start = i && from > map->start ? from : map->start;
		one.end = until < map->end ? until : map->end;
		one.slab = m->parts[i].extent.slab;
		one.rows = m->parts[i].rows;
		one.nrows = m->parts[i].nrows;
		one.rules = m->parts[i].rules;
		if (one.start < one.end)
			to[n++] = one;
	}
	return n;
}

/* Write @s where the sampler finds it. */
static int space__write(struct natives *n, struct space *s, uint64_t quiet)
{
	struct xr_mapping *mappings = calloc(XR_MAPPINGS_MAX, sizeof(*mappings));
	struct xr_space head = {.quiet = quiet};
	uint64_t *words;
	int err;

	if (!mappings)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nmaps; i++)
		head.n += space__mapping(&s->maps[i], mappings + head.n, XR_MAPPINGS_MAX - head.n);
	err = slabs__take(&n->slabs, XR_SPACE_WORDS + head.n * XR_MAPPING_WORDS, &s->extent,
			  &words);
	if (!err) {
		if (!++n->stamp)
			n->stamp = 1;
		s->stamp = head.stamp = n->stamp;
		memcpy(words + XR_SPACE_WORDS, mappings, head.n * sizeof(*mappings));
		memcpy(words, &head, sizeof(head));
	}
	free(mappings);
	return err;
}

/* All modules of the space that was coming are known: from now on it is the one of @p. */
static void native__apply(struct lifecycle *l, struct process *p, uint64_t now)
{
	struct native_process *np = &p->native;
	struct xr_row *row = &p->target.row;
	struct space *old = np->space, *new = np->coming;
	uint64_t *words;

	np->coming = NULL;
	if (!space__same(old, new))
		np->quiet = QUIET_FIRST_NS;
	else if (np->quiet < QUIET_MOST_NS)
		np->quiet *= 2;
	if (space__same(old, new) && old->stamp) { /* not to be asked again soon */
		words = slabs__words(&l->natives.slabs, old->extent);
		if (words)
			__atomic_store_n(words + 1, now + np->quiet, __ATOMIC_RELAXED);
		space__release(&l->natives, new, now);
		/* its row is its parent's at the fork, and may lead to the space before this one */
		if (p->inherited)
			l->ops->update(l->engine, row);
		return;
	}
	if (space__write(&l->natives, new, now + np->quiet)) {
		space__release(&l->natives, new, now);
		return;
	}
	row->space_slab = new->extent.slab;
	row->space_first = new->extent.first;
	row->space_stamp = new->stamp;
	np->space = new;
	l->ops->update(l->engine, row);
	space__leave(&l->natives, old, now);
}

/* Is it too early to ask again what was not answered? */
static bool native__waits(const struct native_process *np, uint64_t now)
{
	return np->retry && now < np->looked_at + np->retry;
}

static void native__retry_later(struct native_process *np, uint64_t now)
{
	np->looked_at = now;
	np->retry = np->retry ? 2 * np->retry : RETRY_FIRST_NS;
	if (np->retry > QUIET_MOST_NS)
		np->retry = QUIET_MOST_NS;
}

static int native__ask_module(struct lifecycle *l, const struct process *p,
			      const struct space_map *map)
{
	struct ask q = {
		.kind = ASK_MODULE,
		.pid = (pid_t)p->pid,
		.tag = MODULE_TAG(map->module->number, p->serial),
		.at = map->start,
		.file = map->module->file,
	};

	if (asker__ask(l->asker, &q))
		return lifecycle__no_memory(l);
	map->module->state = MODULE_ASKED;
	return 0;
}

/* Ask for what is not known of the modules of @p, or go on. */
static int native__advance(struct lifecycle *l, struct process *p, uint64_t now)
{
	struct space *s = p->state == PROCESS_SAMPLED ? p->native.coming : NULL;
	int err = 0;

	for (uint32_t i = 0; s && i < s->nmaps && !err && !native__waits(&p->native, now); i++)
		if (s->maps[i].module->state == MODULE_NEW)
			err = native__ask_module(l, p, &s->maps[i]);
	if (!err && s && space__known(s))
		native__apply(l, p, now);
	return err;
}

int native__look(struct lifecycle *l, struct process *p, uint64_t now)
{
	struct ask q = {.kind = ASK_MAPS, .pid = (pid_t)p->pid, .tag = p->serial};
	int err;

	if (p->native.asked)
		return 0;
	if (p->native.coming) {
		err = native__advance(l, p, now);
		native__retry_later(&p->native, now);
		return err;
	}
	if (asker__ask(l->asker, &q))
		return lifecycle__no_memory(l);
	p->native.wanted = false;
	p->native.asked = true;
	p->native.looked_at = now;
	p->native.looks++;
	return 0;
}

void native__unmapped(struct process *p)
{
	p->native.wanted = true;
}

void native__inherit(struct process *p, const struct process *parent)
{
	if (p->native.space || !parent->native.space)
		return;
	p->native = (struct native_process){.space = parent->native.space};
	p->native.space->refs++;
}

/* What @p has mapped was found. */
static int native__mapped(struct lifecycle *l, struct process *p, const struct native_maps *maps,
			  uint64_t now)
{
	struct space *s = calloc(1, sizeof(*s) + maps->n * sizeof(s->maps[0]));

	if (!s)
		return lifecycle__no_memory(l);
	s->refs = 1;
	for (uint32_t i = 0; i < maps->n; i++) {
		const struct native_mapped *from = &maps->maps[i];
		struct module *m =
			modules__get(&l->natives.modules, &from->file, (enum native_kind)from->kind,
				     maps->texts + from->path);

		if (!m)
			continue;
		modules__hold(m);
		s->maps[s->nmaps++] = (struct space_map){from->start, from->end, from->offset, m};
	}
	p->native.coming = s;
	return native__advance(l, p, now);
}

static int native__maps_answered(struct lifecycle *l, struct process *p, const struct ask *a,
				 uint64_t now)
{
	struct native_maps maps;
	int err = a->err;

	p->native.asked = false;
	if (!err && p->state != PROCESS_SAMPLED)
		err = -ESRCH;
	if (!err && a->fd < 0)
		err = -EBADMSG;
	if (!err)
		err = native_maps__open(&maps, a->fd);
	else if (a->fd >= 0)
		close(a->fd);
	if (err) {
		/* or it changed while it was read */
		p->native.wanted = true;
		native__retry_later(&p->native, now);
		notes__debug(&l->config->notes, "process %u: its mappings are unknown: %s", p->pid,
			     a->why.text[0] ? a->why.text : os__reason(err));
		return 0;
	}
	p->native.retry = 0;
	err = native__mapped(l, p, &maps, now);
	native_maps__close(&maps);
	return err;
}

/* Something of what @p, which may be NULL, had mapped is gone: it is to be looked at again. */
static void native__changed(struct lifecycle *l, struct process *p, uint64_t now)
{
	if (!p || !p->native.coming)
		return;
	space__release(&l->natives, p->native.coming, now);
	p->native.coming = NULL;
	p->native.wanted = true;
}

/*
 * An answer about module @m, which may be of use to many processes, that was asked of @p; NULL: it
 * has ended.
 */
static int native__module_answered(struct lifecycle *l, struct module *m, struct process *p,
				   const struct ask *a, uint64_t now)
{
	struct native_module answer;
	int err = a->err;

	if (!err && a->fd < 0)
		err = -EBADMSG;
	if (!err)
		err = native_module__open(&answer, a->fd);
	else if (a->fd >= 0)
		close(a->fd);
	if (err) {
		notes__debug(&l->config->notes, "%s: cannot build its unwind table: %s", m->path,
			     a->why.text[0] ? a->why.text : os__reason(err));
		/* it may be readable in another process, or when this one answers again */
		m->state = MODULE_NEW;
		if (err == -ETIMEDOUT || err == -EBUSY) {
			if (p && !native__waits(&p->native, now)) /* one of several counts */
				native__retry_later(&p->native, now);
		} else if (err == -ESRCH) { /* which says nothing of the file */
			native__changed(l, p, now);
		} else if (++m->failures == FAILURES_MAX || err == -EBADMSG) {
			m->state = MODULE_KNOWN;
		}
		return err == -ENOMEM && !a->err ? lifecycle__no_memory(l) : 0;
	}
	err = modules__know(&l->natives.modules, m, &answer, &l->natives.slabs);
	notes__debug(&l->config->notes, "%s: %u rows, %u rules, %u names, %u builtins%s", m->path,
		     answer.head->nrows, answer.head->nrules, answer.head->nsymbols,
		     answer.head->nbuiltins, m->no_room ? "; it does not fit completely" : "");
	if (m->no_room)
		notes__user(&l->config->notes,
			    "%s: its unwind table and names do not fit: its functions, or their "
			    "callers, are not named; raise --max-memory",
			    m->path);
	native_module__close(&answer);
	return err ? lifecycle__no_memory(l) : 0;
}

int native__answered(struct lifecycle *l, const struct ask *a, uint64_t now)
{
	struct process *p = processes__find(&l->processes, (uint32_t)a->tag), *other = NULL;
	struct module *m = modules__number(&l->natives.modules, (uint32_t)(a->tag >> 32));
	int err;

	if (a->kind == ASK_MAPS && p)
		return native__maps_answered(l, p, a, now);
	if (a->kind == ASK_MAPS || !m) {
		if (a->fd >= 0)
			close(a->fd);
		return 0;
	}
	err = native__module_answered(l, m, p, a, now);
	while (!err && (other = processes__next(&l->processes, other)))
		err = native__advance(l, other, now);
	return err;
}

uint64_t native__due(const struct natives *n, const struct process *p)
{
	const struct native_process *np = &p->native;
	uint64_t wait = np->quiet;

	if (!n->on || np->asked)
		return 0;
	if (np->coming)
		return np->retry ? np->looked_at + np->retry : 0;
	if (!np->looks && !np->space)
		return 1;
	if (!np->wanted)
		return 0;
	if (np->retry > wait)
		wait = np->retry;
	return np->looked_at + (wait > QUIET_FIRST_NS ? wait : QUIET_FIRST_NS);
}

void native__forget(struct natives *n, struct process *p, uint64_t now)
{
	space__release(n, p->native.space, now);
	space__release(n, p->native.coming, now);
	p->native = (struct native_process){0};
}

void natives__tend(struct natives *n, uint64_t now)
{
	struct space **at = &n->left, *s;

	if (!n->on)
		return;
	while ((s = *at)) {
		if (now - s->left_at < SLABS_REST_NS) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		space__release(n, s, now);
	}
	slabs__tend(&n->slabs, now);
}

void natives__close(struct natives *n)
{
	struct space *s;

	while ((s = n->left)) {
		n->left = s->next;
		space__release(n, s, 0);
	}
	modules__free(&n->modules);
	slabs__free(&n->slabs);
}
