/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "os/os.h"
#include "os/proc.h"
#include "profile/idle.h"
#include "profile/names.h"
#include "session/lifecycle.h"

#define SERIAL_OF_ENGINE 0x80000000u /* struct xr_row */

void records__take(void *lifecycle, const void *record, size_t size)
{
	const struct lifecycle *l = lifecycle;

	decoder__record(l->decoder, record, size);
}

void records__count(struct records *r, struct process *p)
{
	r->processes += !p->counted;
	r->programs += !p->counted && p->origin != PROCESS_FORKED;
	p->counted = true;
}

/*
 * Return the process of a record.  If the engine made its row and the record of that was lost, the
 * process is made up from this record.  NULL: the session has forgotten the process, as one that
 * the engine could not sample; or out of memory, which l->err tells.
 */
static struct process *records__find(struct lifecycle *l, uint32_t serial, uint32_t pid)
{
	struct process *p = processes__find(&l->processes, serial);

	if (p || !(serial & SERIAL_OF_ENGINE))
		return p;
	p = lifecycle__new(l, serial, pid, PROCESS_FORKED);
	if (!p)
		return NULL;
	lifecycle__sampled(l, p);
	process__hold(p);
	return p;
}

/*
 * Wall time is in ticks: a wait is a number of them, and the rest counts with the next wait. False:
 * it is less than a tick so far.
 */
static bool records__in_ticks(struct lifecycle *l, struct process *p, struct sample *sample)
{
	const uint64_t period = NS_PER_S / lifecycle__freq(l);

	p->wait_owed += sample->weight;
	sample->weight = p->wait_owed / period;
	p->wait_owed %= period;
	return sample->weight;
}

/* A sample of time not on a CPU.  False: it is not in the profile. */
static bool records__waited(struct lifecycle *l, struct process *p, struct sample *sample)
{
	if (!(l->config->capture & XR_ROW_IDLE || sample->flags & XR_F_PREEMPTED) &&
	    idle__stack(sample->stack)) {
		l->records.idle_ns += sample->weight;
		return false;
	}
	if (lifecycle__one_type(l))
		return records__in_ticks(l, p, sample);
	sample->type = PROFILE_TYPE_OFF_CPU;
	return true;
}

/*
 * A line of Rprof.out is one of many that are alike.  Where a sample stands for more events or
 * fewer than another, so do lines: each for the mean of the samples so far, and what is left over
 * counts with the next sample of the process.  With --period each sample is a line.  False: it does
 * not make a line yet.
 */
static bool records__in_lines(const struct event_stats *e, struct process *p, struct sample *sample)
{
	const uint64_t mean = e->weight > e->samples ? e->weight / e->samples : 1;

	p->wait_owed += sample->weight;
	sample->weight = p->wait_owed / mean;
	p->wait_owed %= mean;
	return sample->weight;
}

/* A sample of an event of the user's, @n.  False: it is not in the profile. */
static bool records__event(struct lifecycle *l, struct process *p, struct sample *sample,
			   uint32_t n)
{
	struct event_stats *e = &l->records.events[n];

	e->samples++;
	e->weight += sample->weight;
	if (!lifecycle__one_type(l)) {
		sample->type = PROFILE_TYPE_EVENTS + n;
		return true;
	}
	return !l->config->lines || records__in_lines(e, p, sample);
}

/* Give @sample its type, and the weight that it has in the profile.  False: it is not in that. */
static bool records__weigh(struct lifecycle *l, struct process *p, struct sample *sample)
{
	if (sample->flags & XR_F_NONE)
		return false;
	if (sample->event == XR_EVENT_SWITCH)
		return records__waited(l, p, sample);
	return sample->event < XR_EVENT_OTHER ||
	       records__event(l, p, sample, sample->event - XR_EVENT_OTHER);
}

/* Are counts of @p's memory still to come?  Where not, that there are none is all that is known. */
static bool records__may_have_memory(const struct process *p)
{
	return p->target.row.small_at ||
	       (p->hidden.open && p->hidden.memory.small && p->hidden.check.memory == HIDDEN_OPEN);
}

/* Have the request that the process serves read from outside. */
static void records__ask_request(struct lifecycle *l, struct process *p)
{
	struct ask q = {.kind = ASK_REQUEST, .pid = (pid_t)p->pid};
	uint64_t id = call_track__unread(p->calls, &q.at);

	if (!id)
		return;
	q.tag = id << 32 | p->serial;
	q.target = p->target;
	if (asker__ask(l->asker, &q))
		lifecycle__no_memory(l);
}

/* The call that @sample is in, by which those before it may have ended. */
static void records__call(struct lifecycle *l, struct process *p,
			  const struct profile_process *profile, struct sample *sample)
{
	int err;

	if (!l->config->calls)
		return;
	l->records.calls.wanted = l->config->calls;
	l->records.calls.period = NS_PER_S / lifecycle__freq(l);
	sample->call =
		call_finder__sample(&l->records.calls, &p->calls, profile, sample, &l->sink, &err);
	if (err == -ENOMEM)
		lifecycle__no_memory(l);
	else
		lifecycle__sunk(l, err);
	if (sample->call && (p->mine || p->inherited))
		records__ask_request(l, p);
}

void records__sample(void *lifecycle, const struct sample *taken)
{
	struct lifecycle *l = lifecycle;
	struct sample one = *taken, *sample = &one;
	struct profile_process profile;
	struct process *p;
	uint64_t bytes;

	p = records__find(l, sample->serial, sample->pid);
	if (!p || p->refused)
		return;
	profile = process__profile(p);
	if (!l->err)
		records__call(l, p, &profile, sample);
	if (!records__weigh(l, p, sample))
		return;
	if (l->err) {
		l->records.unsunk += sample__stands(sample);
		return;
	}
	records__count(&l->records, p);
	verify_hidden__runs(&p->hidden);
	p->labels_ran = true;
	if (sample->flags & XR_F_UNPROVEN)
		advice__unproven(&l->advice, p);
	if (l->config->capture & XR_ROW_LINES)
		advice__lines(&l->advice, p, sample->stack);
	if (!l->records.first_sample && sample->time > l->opened)
		l->records.first_sample = (double)(sample->time - l->opened) / 1e9;
	bytes = allocated__sample(&p->allocated, sample);
	if (l->config->capture & XR_ROW_MEMORY && !records__may_have_memory(p))
		sample->flags |= XR_F_MEMORY;
	lifecycle__sunk(l, sink__sample(&l->sink, &profile, sample));
	if (!bytes || l->config->one_type || !(l->config->capture & XR_ROW_MEMORY) || l->err)
		return;
	sample->type = PROFILE_TYPE_ALLOC;
	sample->weight = bytes;
	sample->detail = 0;
	lifecycle__sunk(l, sink__sample(&l->sink, &profile, sample));
}

/*
 * @p's row is a copy of @parent's, from the moment of the fork: what is not proven yet may be in
 * the child as well, and what was proven since is not in its row.
 */
static void records__inherit(struct lifecycle *l, struct process *p, const struct process *parent)
{
	struct target *t = &p->target;

	if (p->mine || (!parent->mine && !parent->inherited))
		return;
	p->inherited = true;
	*t = parent->target;
	memcpy(p->container, parent->container, sizeof(p->container));
	p->labels_at = parent->labels_at;
	p->labels_never = parent->labels_never;
	p->symbols_at = parent->symbols_at;
	t->pid = (pid_t)p->pid;
	t->row.serial = p->serial;
	t->row.pid = p->pid;
	verify_hidden__inherit(&p->hidden, &parent->hidden, os__now());
	/* will the row change? */
	if (!p->hidden.open && !p->hidden.completed &&
	    !(l->config->capture & (XR_ROW_LABELS | XR_ROW_NATIVE)))
		return;
	t->start_time = t->row.start_time = proc__start_time(t->pid);
	if (!t->start_time) /* it has ended */
		p->hidden.open = false;
	else
		l->ops->update(l->engine, &t->row);
}

/* Its arguments and its environment are a copy of @parent's, if that is known; else it is asked. */
static void records__describe(struct process *p, const struct process *parent)
{
	uint64_t start_time = proc__start_time((pid_t)p->pid);

	if (start_time) /* it has not ended yet */
		p->started = proc__began(start_time);
	if (parent && !p->described)
		p->described = description__hold(parent->described);
}

static void records__forked(struct lifecycle *l, struct process *p, const struct xr_process *record)
{
	const struct process *parent = processes__find(&l->processes, record->parent_serial);

	p->parent_serial = record->parent_serial;
	p->parent_pid = record->parent_pid;
	if (parent && parent->refused) { /* between its row and the look at its rights */
		p->refused = true;
		lifecycle__end(l, p);
		return;
	}
	if (parent) {
		records__inherit(l, p, parent);
		native__inherit(p, parent);
	}
	if (l->config->labels)
		records__describe(p, parent);
	notes__debug(&l->config->notes, "process %u (%s): forked by %u%s", p->pid, p->comm,
		     p->parent_pid, parent ? "" : ", which has ended");
}

/* Printed once for each process: it can come and go many times. */
static void records__reduced(struct lifecycle *l, struct process *p)
{
	uint32_t us = l->config->max_sample_us;

	if (p->reduced)
		return;
	p->reduced = true;
	notes__user(
		&l->config->notes,
		"process %u (%s): reading its stack took longer than %u microseconds, more than "
		"once: some of its samples have only the innermost frames, below <truncated> "
		"(--max-sample-time allows more)",
		p->pid, p->comm, us ? us : XR_SAMPLE_US);
}

void records__process(void *lifecycle, const struct xr_process *record)
{
	struct lifecycle *l = lifecycle;
	struct process *p;

	if (record->event == XR_PROCESS_FORK)
		p = records__find(l, record->serial, record->pid);
	else
		p = processes__find(&l->processes, record->serial);
	if (!p)
		return;
	/* after an exec it is the name of the other program */
	if (record->comm[0] && record->event != XR_PROCESS_EXEC)
		snprintf(p->comm, sizeof(p->comm), "%.*s", (int)sizeof(record->comm), record->comm);
	switch (record->event) {
	case XR_PROCESS_FORK:
		records__forked(l, p, record);
		break;
	case XR_PROCESS_EXEC:
		p->execed = true;
		p->ended_at = record->time;
		break;
	case XR_PROCESS_EXIT:
		p->exited = true;
		p->ended_at = record->time;
		break;
	case XR_PROCESS_UNMAPPED:
		native__unmapped(p);
		break;
	case XR_PROCESS_REDUCED:
		records__reduced(l, p);
		break;
	}
}

/* Kernel addresses and names are given only to users who may see them. */
static void records__kernel(struct lifecycle *l, const struct xr_slot *slot,
			    struct native_told *told)
{
	const uint64_t address = slot->word | ~XR_WORD_MASK;
	int err;

	told->module = KERNEL_MODULE;
	if (!l->records.kernel_read) {
		l->records.kernel_read = true;
		err = kernel_names__read(&l->records.kernel);
		if (err)
			notes__user(&l->config->notes, "kernel functions are not named: %s",
				    err == -EACCES ? "the kernel hides their addresses "
						     "(CAP_SYSLOG, /proc/sys/kernel/kptr_restrict)"
						   : os__reason(err));
	}
	told->name = kernel_names__find(&l->records.kernel, address, &told->address);
	if (!told->name)
		told->name = "[kernel]";
}

void records__native(void *lifecycle, const struct xr_slot *slot, struct native_told *told)
{
	struct lifecycle *l = lifecycle;
	const uint64_t form = slot->word >> XR_FORM_SHIFT;
	const struct module *m;

	if (form == XR_FORM_KERNEL) {
		records__kernel(l, slot, told);
		return;
	}
	m = modules__number(&l->natives.modules, XR_NATIVE_MODULE(slot->more));
	if (!m)
		return;
	told->module = m->path;
	told->build_id = m->build_id[0] ? m->build_id : NULL;
	told->hash = m->hash[0] ? m->hash : NULL;
	told->address = m->base + XR_NATIVE_PC(slot->word);
	if (form == XR_FORM_BUILTIN)
		told->name = module__builtin(m, XR_NATIVE_OFFSET(slot->word));
	/* glibc begins its unwind entry one byte before (sysdeps/unix/.../libc_sigaction.c) */
	if (!told->name && XR_NATIVE_FLAGS(slot->more) & XR_NATIVE_SIGNAL)
		told->name = module__name(m, XR_NATIVE_BEGIN(slot->more) + 1);
	if (!told->name)
		told->name = module__name(m, XR_NATIVE_FLAGS(slot->more) & XR_NATIVE_BEGINS
						     ? XR_NATIVE_BEGIN(slot->more)
						     : XR_NATIVE_PC(slot->word));
}
