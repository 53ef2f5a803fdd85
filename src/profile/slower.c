/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/slower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "profile/stacks.h"

/* Ids of our stacks are other ones than those of stacks that are passed on as they come. */
#define FIRST_ID (UINT64_C(1) << 62)

/* A call whose samples wait. */
struct waiting_call {
	struct profile_call call;
	bool over; /* no more will be known of it */
};

/* The outermost call of a process. */
struct waiting {
	struct waiting *next, **place;
	uint32_t serial, pid;
	uint64_t root, began; /* its id; 0: it is in none */
	bool slow;	      /* it has lasted long enough: nothing waits any more */
	struct stacks stacks;
	struct arena arena;
	struct map calls; /* (id, 0) to struct waiting_call */
	struct waiting_call **in_order;
	size_t ncalls, calls_cap;
	struct sample *samples;
	size_t n, cap;
	size_t cost; /* taken from the budget, besides stacks and arena */
};

struct slower {
	struct sink to;
	uint64_t ns;
	struct budget budget;
	uint64_t last_id;
	struct map processes; /* (serial, pid) to struct waiting */
	struct waiting *all;
	struct call_stats counts;
};

int slower__new(struct slower **out, uint64_t ns, size_t memory, struct sink to)
{
	struct slower *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	s->to = to;
	s->ns = ns;
	s->budget.max = memory;
	s->last_id = FIRST_ID;
	return 0;
}

/* Forget what waits: how many samples these were. */
static size_t waiting__clear(struct slower *s, struct waiting *w)
{
	size_t n = w->n;

	stacks__free(&w->stacks);
	arena__free(&w->arena);
	map__free(&w->calls);
	free(w->in_order);
	free(w->samples);
	budget__give(&s->budget, w->cost);
	w->in_order = NULL;
	w->samples = NULL;
	w->ncalls = w->calls_cap = w->n = w->cap = w->cost = 0;
	stacks__init(&w->stacks, &s->budget, &s->last_id);
	w->arena = (struct arena){.budget = &s->budget};
	return n;
}

static void waiting__free(struct slower *s, struct waiting *w)
{
	s->counts.fast += waiting__clear(s, w);
	*w->place = w->next;
	if (w->next)
		w->next->place = w->place;
	map__remove(&s->processes, w->serial, w->pid);
	free(w);
}

static struct waiting *slower__waiting(struct slower *s, const struct profile_process *p)
{
	return map__get(&s->processes, p->serial, p->pid);
}

static struct waiting *slower__add(struct slower *s, const struct profile_process *p)
{
	struct waiting *w = calloc(1, sizeof(*w));

	if (!w || map__put(&s->processes, p->serial, p->pid, w)) {
		free(w);
		return NULL;
	}
	w->serial = p->serial;
	w->pid = p->pid;
	w->next = s->all;
	w->place = &s->all;
	if (w->next)
		w->next->place = &w->next;
	s->all = w;
	waiting__clear(s, w);
	return w;
}

/* Room for one more of @n items of @size bytes. */
static bool waiting__room(struct slower *s, struct waiting *w, void *array, size_t n, size_t *cap,
			  size_t size)
{
	const size_t before = *cap, after = before ? 2 * before : 16;

	if (n < before)
		return true;
	if (!budget__take(&s->budget, (after - before) * size))
		return false;
	w->cost += (after - before) * size;
	return !array__room(array, n, cap, size);
}

/* Our copy of @call, and of those outside of it; NULL: it does not fit. */
static struct waiting_call *waiting__call(struct slower *s, struct waiting *w,
					  const struct profile_call *call)
{
	struct waiting_call *ours = map__get(&w->calls, call->id, 0), *outer = NULL;
	const char *name, *request;

	if (ours)
		return ours;
	if (call->outer)
		outer = waiting__call(s, w, call->outer);
	if ((call->outer && !outer) || !budget__take(&s->budget, 3 * sizeof(struct map_entry)))
		return NULL;
	w->cost += 3 * sizeof(struct map_entry);
	name = stacks__text(&w->stacks, call->name);
	request = stacks__text(&w->stacks, call->request);
	ours = arena__alloc(&w->arena, sizeof(*ours));
	if (!ours || !name || (call->request && !request) ||
	    !waiting__room(s, w, &w->in_order, w->ncalls, &w->calls_cap,
			   sizeof(struct waiting_call *)) ||
	    map__put(&w->calls, call->id, 0, ours))
		return NULL;
	*ours = (struct waiting_call){.call = *call};
	ours->call.outer = outer ? &outer->call : NULL;
	ours->call.name = name;
	ours->call.request = request;
	w->in_order[w->ncalls++] = ours;
	return ours;
}

/* Our copy of the labels of @sample, if it has any.  False: they do not fit. */
static bool waiting__labels(struct waiting *w, const struct sample *sample,
			    const struct profile_label **labels)
{
	struct profile_label *ours;

	*labels = NULL;
	if (!sample->nlabels)
		return true;
	ours = arena__alloc(&w->arena, sample->nlabels * sizeof(*ours));
	*labels = ours;
	return ours && stacks__labels(&w->stacks, ours, sample->labels, sample->nlabels);
}

/* False: it does not fit. */
static bool waiting__add(struct slower *s, struct waiting *w, const struct sample *sample)
{
	const struct stack *stack = stacks__copy(&w->stacks, sample->stack);
	struct waiting_call *call = stack ? waiting__call(s, w, sample->call) : NULL;
	const struct profile_label *labels;
	struct sample *ours;

	if (!call || !waiting__labels(w, sample, &labels) ||
	    !waiting__room(s, w, &w->samples, w->n, &w->cap, sizeof(*w->samples)))
		return false;
	ours = &w->samples[w->n++];
	*ours = *sample;
	ours->stack = stack;
	ours->call = &call->call;
	ours->labels = labels;
	ours->calls = NULL;
	ours->ncalls = 0;
	ours->flags &= ~XR_F_CALLS;
	return true;
}

/* The call that waits longest, except for those of which nothing waits; NULL: there is none. */
static struct waiting *slower__oldest(const struct slower *s)
{
	struct waiting *oldest = NULL;

	for (struct waiting *w = s->all; w; w = w->next)
		if (w->n && (!oldest || w->began < oldest->began))
			oldest = w;
	return oldest;
}

static void slower__keep(struct slower *s, struct waiting *w, const struct sample *sample)
{
	struct waiting *oldest;

	while (!waiting__add(s, w, sample)) {
		oldest = slower__oldest(s);
		if (oldest)
			s->counts.dropped += waiting__clear(s, oldest);
		/* what is left of a sample that did not fit */
		if (oldest != w && !w->n)
			waiting__clear(s, w);
		if (!oldest) {
			s->counts.dropped++;
			return;
		}
	}
}

/* It has lasted long enough: what waits goes on. */
static int waiting__pass(struct slower *s, struct waiting *w, const struct profile_process *p)
{
	int err = 0;

	for (size_t i = 0; i < w->n && !err; i++)
		err = sink__sample(&s->to, p, &w->samples[i]);
	for (size_t i = 0; i < w->ncalls && !err; i++)
		if (w->in_order[i]->over)
			err = sink__call(&s->to, p, &w->in_order[i]->call);
	s->counts.kept += waiting__clear(s, w);
	w->slow = true;
	return err;
}

static bool call__has(const struct profile_call *call, uint64_t id)
{
	while (call && call->id != id)
		call = call->outer;
	return call;
}

static int slower__sample(void *arg, const struct profile_process *p, const struct sample *sample)
{
	struct slower *s = arg;
	const struct profile_call *root = sample->call;
	struct waiting *w = slower__waiting(s, p);
	int err = 0;

	if (!root) {
		s->counts.outside++;
		return 0;
	}
	while (root->outer)
		root = root->outer;
	if (!w)
		w = slower__add(s, p);
	if (!w) {
		s->counts.dropped++;
		return 0;
	}
	/* stacks that were cut may have lacked the outermost call so far */
	if (w->root != root->id && !call__has(sample->call, w->root)) {
		s->counts.fast += waiting__clear(s, w);
		w->slow = false;
	}
	w->root = root->id;
	w->began = root->began;
	if (!w->slow && call__ns(root) >= s->ns)
		err = waiting__pass(s, w, p);
	if (err)
		return err;
	if (!w->slow) {
		slower__keep(s, w, sample);
		return 0;
	}
	s->counts.kept++;
	return sink__sample(&s->to, p, sample);
}

static int slower__call(void *arg, const struct profile_process *p, const struct profile_call *call)
{
	struct slower *s = arg;
	struct waiting *w = slower__waiting(s, p);
	struct waiting_call *ours;
	int err = 0;

	if (!w)
		return 0;
	ours = map__get(&w->calls, call->id, 0);
	if (ours) {
		stacks__learn(&w->stacks, &ours->call, call);
		ours->over = true;
	}
	if (!w->slow && call->id == w->root && call__ns(call) >= s->ns) {
		err = waiting__pass(s, w, p);
		if (!err && !ours) /* its samples were dropped */
			err = sink__call(&s->to, p, call);
	} else if (w->slow) {
		err = sink__call(&s->to, p, call);
	}
	if (call->id != w->root)
		return err;
	s->counts.slow += w->slow;
	s->counts.fast += waiting__clear(s, w);
	w->root = 0;
	w->slow = false;
	return err;
}

static int slower__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct slower *s = arg;
	struct waiting *w = slower__waiting(s, p);

	if (w && (event == PROFILE_ENDED || event == PROFILE_STOPPED))
		waiting__free(s, w);
	return sink__process(&s->to, p, event);
}

static int slower__finish(void *arg, struct stats *stats)
{
	struct slower *s = arg;

	while (s->all)
		waiting__free(s, s->all);
	stats->calls.slow = s->counts.slow;
	stats->calls.kept = s->counts.kept;
	stats->calls.fast = s->counts.fast;
	stats->calls.outside = s->counts.outside;
	stats->calls.dropped = s->counts.dropped;
	return sink__finish(&s->to, stats);
}

struct sink slower__sink(struct slower *s)
{
	static const struct sink_ops ops = {
		.process = slower__process,
		.sample = slower__sample,
		.call = slower__call,
		.finish = slower__finish,
	};

	return (struct sink){.ops = &ops, .arg = s, .to = &s->to};
}

void slower__free(struct slower *s)
{
	if (!s)
		return;
	while (s->all)
		waiting__free(s, s->all);
	map__free(&s->processes);
	free(s);
}
