/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/names.h"

#define RSERVE_LOOP   "Rserve::run.Rserve"
#define PARALLEL_TASK "base::do.call"

/* A call that runs. */
struct running {
	struct profile_call call;
	char name[PROFILE_CALL_NAME];
	uint64_t env, context;
	uint64_t outside; /* hash of all calls outside of it; 0: they were cut */
	uint64_t last;	  /* when the last sample that shows it was taken, ns */
	bool http;	  /* it serves a request, */
	bool asked;	  /* which was asked for, */
	uint32_t ask_at;  /* or is to be, once it was met so often */
	uint32_t met;	  /* samples it is in */
	char *request;	  /* as it was read, */
	uint64_t read_at; /* at the latest; ns */
};

struct call_track {
	uint64_t last;	    /* when the last sample was taken, ns; 0: there was none */
	uint64_t whole;	    /* the last that was not cut, or the first; 0: there was none */
	uint32_t completed; /* collections until then */
	bool counted;	    /* and they are known */
	/* the outermost call of the first stack, if it was cut, until one is whole; env 0: none */
	struct running first;
	uint32_t n;
	struct running *running; /* CALLS_DEPTH_MAX of them, outermost first; NULL: none yet */
};

/* Does the pattern @p, up to @p_end, match all of @text, up to @end? */
static bool glob(const char *p, const char *p_end, const char *text, const char *end)
{
	const char *star = NULL, *again = NULL;

	while (text < end) {
		if (p < p_end && *p == '*') {
			star = p++;
			again = text;
		} else if (p < p_end && (*p == '?' || *p == *text)) {
			p++;
			text++;
		} else if (star) {
			p = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (p < p_end && *p == '*')
		p++;
	return p == p_end;
}

/* Where the function begins in `pkg::f`; *@package: bytes of `pkg`, 0: there is none. */
static const char *name__function(const char *name, size_t *package)
{
	const char *colons = strstr(name, "::");

	*package = colons ? (size_t)(colons - name) : 0;
	return *package ? name__bare(name) : name;
}

bool call_name__ok(const char *name)
{
	size_t package;
	const char *function = name__function(name, &package);

	return *function && (package || !strstr(name, "::"));
}

static bool name__matches(const char *name, const struct frame *frame)
{
	const char *text = frame->function->text, *of = NULL;
	size_t package, has;
	const char *function = name__function(name, &package);
	const char *is = name__function(text, &has);

	/* shiny's `<observer:pkg::f(x)>` is a name as a whole */
	if (!package && glob(name, name + strlen(name), text, text + strlen(text)))
		return true;
	if (!glob(function, function + strlen(function), is, is + strlen(is)))
		return false;
	if (!package)
		return true;
	of = has ? text : frame->package ? frame->package->text : NULL;
	return of && glob(name, name + package, of, of + (has ? has : strlen(of)));
}

/* What is outside of a call, for the names that depend on it. */
struct outside {
	bool none;   /* no call: it is the outermost, or that in run.Rserve(), a client's child */
	bool worker; /* the loop of a worker of parallel, and not yet its task */
};

/* Is there such a name? */
static bool calls_wanted__depend(const struct calls_wanted *wanted)
{
	bool depend = false;

	for (size_t i = 0; i < wanted->n && !depend; i++)
		depend = !strcmp(wanted->names[i], CALLS_OUTERMOST) ||
			 !strcmp(wanted->names[i], CALLS_TASK);
	return depend;
}

static void outside__add(struct outside *o, const struct frame *frame)
{
	o->none = name__matches(RSERVE_LOOP, frame);
	o->worker = name__matches("parallel::workLoop", frame) ||
		    (o->worker && !name__matches(PARALLEL_TASK, frame));
}

static bool call_finder__wants(const struct call_finder *calls, const struct frame *frame,
			       const struct outside *o)
{
	bool wanted = false;

	for (size_t i = 0; i < calls->wanted->n && !wanted; i++) {
		const char *name = calls->wanted->names[i];

		if (!strcmp(name, CALLS_OUTERMOST))
			wanted = o->none && !name__matches(RSERVE_LOOP, frame);
		else if (!strcmp(name, CALLS_TASK))
			wanted = o->worker && name__matches(PARALLEL_TASK, frame);
		else
			wanted = name__matches(name, frame);
	}
	return wanted;
}

/* From when on the stack of @s was as it is, ns. */
static uint64_t sample__from(const struct call_finder *calls, const struct call_track *t,
			     const struct sample *s)
{
	uint64_t from = s->time;

	if (s->event == XR_EVENT_SWITCH && s->weight > calls->period)
		from -= s->weight < from ? s->weight : from;
	return from > t->last ? from : t->last;
}

/* Until when its stack was as it is for sure, ns. */
static uint64_t sample__until(const struct call_track *t, const struct sample *s)
{
	const uint64_t until = s->time - (s->lag < s->time ? s->lag : s->time);

	return until > t->last ? until : t->last;
}

/* How many collections were over at @s. */
static uint32_t sample__completed(const struct sample *s)
{
	return s->collections - (s->flags & XR_F_GC ? 1 : 0);
}

/* Is that call in @s the same as @r, of the sample before? */
static bool running__is(const struct running *r, const struct call_track *t, const struct sample *s,
			const struct sample_call *call, uint64_t outside)
{
	bool collected = s->counted && t->counted && sample__completed(s) != t->completed;

	if (r->env != call->env || r->context != call->context)
		return false;
	if (r->outside && outside && r->outside != outside)
		return false;
	return call->old || !collected || s->flags & XR_F_GC;
}

/* The calls from @n on are over, somewhere between the last sample that shows them and @by. */
static int track__end(struct call_track *t, uint32_t n, uint64_t by,
		      const struct profile_process *p, const struct sink *sink)
{
	int err = 0;

	while (t->n > n) {
		const uint64_t last = t->running[--t->n].last;
		struct profile_call *call = &t->running[t->n].call;

		call->ended = last + (by - last) / 2;
		call->error += (by - last) / 2;
		if (call->ended <= call->began)
			call->ended = call->began + 1;
		err = err ? err : sink__call(sink, p, call);
		free(t->running[t->n].request);
	}
	return err;
}

/* Did the @i-th call of @s run at the first sample?  Its stack was cut and showed t->first. */
static bool track__ran(const struct call_track *t, const struct sample *s, uint32_t i)
{
	while (i-- > 0 && t->first.env)
		if (running__is(&t->first, t, s, &s->calls[i], 0))
			return true;
	return !t->last;
}

/*
 * The @i-th call of @s begins, the @at-th that runs.  If others run inside of it, they were met
 * first, in a stack that lacked it: it began with them at the latest.
 */
static int track__begin(struct call_finder *calls, struct call_track *t, uint32_t at,
			const struct sample *s, uint32_t i, uint64_t outside)
{
	const struct sample_call *c = &s->calls[i];
	const uint64_t from = sample__from(calls, t, s);
	const uint64_t whole = t->last ? t->whole : from;
	const bool ran = track__ran(t, s, i);
	struct profile_call call = {
		.began = ran ? whole : whole + (from - whole) / 2,
		.error = ran ? 0 : (from - whole) / 2,
		.cut = ran,
	};
	struct running *r;

	if (!t->running)
		t->running = calloc(CALLS_DEPTH_MAX, sizeof(*t->running));
	if (!t->running)
		return -ENOMEM;
	r = &t->running[at];
	if (at < t->n) {
		call.began = r->call.began;
		call.error = r->call.error;
		call.cut = r->call.cut;
		memmove(r + 1, r, (t->n - at) * sizeof(*r));
	}
	*r = (struct running){
		.call = call,
		.env = c->env,
		.context = c->context,
		.outside = outside,
		.last = sample__until(t, s),
		.http = name__matches(CALLS_HTTP, c->frame),
	};
	strncpy(r->name, c->frame->function->text, sizeof(r->name) - 1);
	r->call.id = ++calls->last_id;
	t->n++;
	for (; at < t->n; at++) {
		t->running[at].call.name = t->running[at].name;
		t->running[at].call.outer = at ? &t->running[at - 1].call : NULL;
	}
	return 0;
}

/*
 * Of the calls that run from the @at-th on, the first that is inside of the @i-th of @s: it was met
 * in stacks alone that lacked their outermost calls.  t->n: none is.
 */
static uint32_t track__inside(const struct call_track *t, uint32_t at, const struct sample *s,
			      uint32_t i)
{
	/* which of them are outside of those of a stack that was cut is not known */
	const bool all = !at && s->flags & XR_F_TRUNCATED;

	for (uint32_t k = at; k < t->n && (all || k == at); k++)
		for (uint32_t j = i; j-- > 0 && !t->running[k].outside;)
			if (running__is(&t->running[k], t, s, &s->calls[j], 0))
				return k;
	return t->n;
}

/* The first of the calls that ran in whose place is @c now, which is another; t->n: none. */
static uint32_t track__replaced(const struct call_track *t, const struct sample *s,
				const struct sample_call *c)
{
	uint32_t i = 0;

	while (i < t->n && (!c->context || t->running[i].context != c->context ||
			    running__is(&t->running[i], t, s, c, 0)))
		i++;
	return i;
}

/*
 * The calls of @s, from the outermost on, beside those that ran.  A stack that was cut lacks its
 * outermost ones: those that ran and were met in no sample since are assumed to run, except if
 * another call has their context's place.
 */
static int track__compare(struct call_finder *calls, struct call_track *t,
			  const struct profile_process *p, const struct sample *s,
			  const struct sink *sink)
{
	const bool cut = s->flags & XR_F_TRUNCATED;
	const bool depend = calls_wanted__depend(calls->wanted);
	const uint64_t from = sample__from(calls, t, s);
	struct outside above = {.none = !cut};
	uint64_t outside = 1;
	uint32_t at = 0;
	int err = 0;

	for (uint32_t i = s->ncalls; i-- > 0 && !err;) {
		const struct sample_call *c = &s->calls[i];
		const uint64_t hash = cut ? 0 : outside;
		uint32_t found = at, inside;
		bool wanted;

		outside = map__hash(outside ^ c->env, c->context);
		if (cut && !at)
			err = track__end(t, track__replaced(t, s, c), from, p, sink);
		wanted = c->env && call_finder__wants(calls, c->frame, &above);
		if (c->env && depend)
			outside__add(&above, c->frame);
		if (!wanted)
			continue;
		while (cut && found < t->n && !running__is(&t->running[found], t, s, c, hash))
			found++;
		if (found < t->n && running__is(&t->running[found], t, s, c, hash)) {
			if (!s->counted || !t->counted) {
				t->running[found].call.ambiguous = true;
				calls->uncounted++;
			}
			at = found + 1;
			t->running[found].last = sample__until(t, s);
			if (!t->running[found].outside)
				t->running[found].outside = hash;
			continue;
		}
		/* if none of those before is inside of this one, they are over */
		inside = track__inside(t, at, s, i);
		if (!err && inside == t->n && (!cut || at))
			err = track__end(t, at, from, p, sink);
		at = inside < t->n ? inside : t->n;
		if (t->n == CALLS_DEPTH_MAX)
			calls->too_deep++;
		else if (!err)
			err = track__begin(calls, t, at++, s, i, hash);
	}
	return err || (cut && !at) ? err : track__end(t, at, from, p, sink);
}

static void running__met(struct running *r, uint64_t at)
{
	r->met++;
	if (at > r->call.seen)
		r->call.seen = at;
	if (r->request && r->last > r->read_at)
		r->call.request = r->request;
}

const struct profile_call *call_finder__sample(struct call_finder *calls, struct call_track **track,
					       const struct profile_process *p,
					       const struct sample *s, const struct sink *sink,
					       int *err)
{
	struct call_track *t = *track;
	bool shown = false;

	*err = 0;
	if (s->flags & XR_F_OTHER_THREAD || !(s->flags & (XR_F_CALLS | XR_F_NONE)))
		return NULL;
	if (!t)
		t = *track = calloc(1, sizeof(*t));
	if (!t) {
		*err = -ENOMEM;
		return NULL;
	}
	if (s->flags & XR_F_NONE)
		*err = track__end(t, 0, sample__from(calls, t, s), p, sink);
	else
		*err = track__compare(calls, t, p, s, sink);
	/* after a collection, R may have used the memory of a call that the stack does not show */
	for (uint32_t i = 0; i < s->ncalls && t->first.env && !shown; i++)
		shown = running__is(&t->first, t, s, &s->calls[i], 0);
	if (!(s->flags & XR_F_TRUNCATED) ||
	    (!shown && s->counted && t->counted && sample__completed(s) != t->completed))
		t->first.env = 0;
	for (uint32_t i = 0; i < s->ncalls && s->flags & XR_F_TRUNCATED && !t->last; i++)
		if (s->calls[i].env)
			t->first = (struct running){.env = s->calls[i].env,
						    .context = s->calls[i].context};
	t->last = sample__until(t, s);
	if (!(s->flags & XR_F_TRUNCATED) || !t->whole)
		t->whole = t->last;
	if (s->flags & XR_F_CALLS) {
		t->counted = s->counted;
		t->completed = sample__completed(s);
	}
	for (uint32_t i = 0; i < t->n; i++)
		running__met(&t->running[i], s->time);
	return t->n && s->flags & XR_F_CALLS ? &t->running[t->n - 1].call : NULL;
}

int call_track__stop(struct call_track *track, const struct profile_process *p, uint64_t ended,
		     const struct sink *sink)
{
	int err = 0;

	if (!track)
		return 0;
	if (ended)
		return track__end(track, 0, ended > track->last ? ended : track->last, p, sink);
	for (uint32_t i = track->n; i-- > 0 && !err;)
		err = sink__call(sink, p, &track->running[i].call);
	return err;
}

uint64_t call_track__unread(struct call_track *t, uint64_t *env)
{
	for (uint32_t i = 0; t && i < t->n; i++) {
		struct running *r = &t->running[i];

		if (!r->http || r->asked || r->met < 2 || r->met < r->ask_at)
			continue;
		r->asked = true;
		*env = r->env;
		return r->call.id;
	}
	return 0;
}

int call_track__read(struct call_track *t, uint64_t id, const char *request, uint64_t now)
{
	for (uint32_t i = 0; t && i < t->n; i++) {
		struct running *r = &t->running[i];

		if (r->call.id != id || r->request)
			continue;
		r->request = strdup(request);
		r->read_at = now;
		return r->request ? 0 : -ENOMEM;
	}
	return 0;
}

void call_track__unanswered(struct call_track *t, uint64_t id)
{
	for (uint32_t i = 0; t && i < t->n; i++) {
		struct running *r = &t->running[i];

		if (r->call.id == id) {
			r->asked = false;
			r->ask_at = 2 * r->met;
		}
	}
}

void call_track__free(struct call_track *track)
{
	for (uint32_t i = 0; track && i < track->n; i++)
		free(track->running[i].request);
	if (track)
		free(track->running);
	free(track);
}
