/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "profile/decode.h"
#include "profile/known.h"
#include "profile/native_rules.h"

#define DECODE_CPUS_MAX	  65536u
#define DECODE_MEMORY_MAX (1ULL << 48) /* bytes: more than a process can have */
#define DECODE_WEIGHT_MAX (1ULL << 24) /* ticks in one sample: hours of them at 999 Hz */
#define PENDING_KEEP	  1024u	       /* frames for which room is kept */
#define NATIVE_FRAMES_MAX 1024u	       /* of a sample: more than a sampler sends */
#define DECODE_FLAGS                                                                               \
	(XR_F_MORE | XR_F_TRUNCATED | XR_F_GC | XR_F_LINES | XR_F_OTHER_THREAD | XR_F_KERNEL |     \
	 XR_F_DISCARD | XR_F_UNPROVEN | XR_F_PACKAGES | XR_F_NATIVE | XR_F_NATIVE_CUT |            \
	 XR_F_ELSEWHERE | XR_F_WAIT | XR_F_MEMORY | XR_F_CALLS | XR_F_NONE | XR_F_LABELS)

/* The sample being put together from what one cpu sends at one level. */
struct pending {
	bool active;
	bool no_room; /* for its frames */
	uint32_t next_part;
	uint32_t cap, nframes;
	struct native_item *items;   /* `frame` of each is known */
	const struct frame **frames; /* room for all, and the marks */
	struct sample_call *calls;   /* of R's frames, if they are wanted: nframes - natives */
	uint32_t natives;	     /* of the items */
	uint32_t last_native;	     /* behind the outermost of them */
	uint64_t file;		     /* the place being executed in the frame to come */
	uint32_t line;
	uint64_t labels; /* id of their text; 0: none */
	struct known *known;
	struct sample sample; /* stack is set when it is handed on */
};

struct decoder {
	struct decoder_ops ops;
	void *arg;
	struct decoder_stats stats;
	struct knowledge all;
	struct pending **pending; /* by cpu and level: cpu * XR_LEVELS + level */
	size_t npending;
};

int decoder__new(struct decoder **out, const struct decoder_ops *ops, void *arg, size_t memory)
{
	struct decoder *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	d->ops = *ops;
	d->arg = arg;
	known__init(&d->all, &d->stats, memory ? memory : LIMIT_MEMORY);
	d->all.teller = ops->native;
	d->all.teller_arg = arg;
	d->all.raw = ops->raw;
	return 0;
}

#define PENDING_EACH                                                                               \
	(sizeof(struct frame *) + sizeof(struct native_item) + sizeof(struct sample_call))

/* Room for @more frames, and for the marks: one inside of them and two among them. */
static int pending__room(struct decoder *d, struct pending *p, uint32_t more)
{
	uint32_t need = p->nframes + more, cap = p->cap ? p->cap : 64;
	struct native_item *items = NULL;
	struct sample_call *calls;
	const struct frame **frames;

	need += 3;
	while (cap < need)
		cap *= 2;
	if (cap == p->cap)
		return 0;
	if (!budget__take(&d->all.made, (cap - p->cap) * PENDING_EACH))
		return -ENOSPC;
	frames = realloc(p->frames, (size_t)cap * sizeof(*frames));
	if (frames)
		p->frames = frames;
	calls = frames ? realloc(p->calls, (size_t)cap * sizeof(*calls)) : NULL;
	if (calls) {
		p->calls = calls;
		items = realloc(p->items, (size_t)cap * sizeof(*items));
	}
	if (!items) {
		budget__give(&d->all.made, (cap - p->cap) * PENDING_EACH);
		return -ENOMEM;
	}
	p->items = items;
	p->cap = cap;
	return 0;
}

/* How many slots of @r are a frame of R. */
static uint32_t sample__step(const struct xr_sample *r)
{
	return 1 + !!(r->flags & XR_F_LINES) + !!(r->flags & XR_F_PACKAGES) +
	       !!(r->flags & XR_F_CALLS);
}

/* How many slots of @r come before its frames. */
static uint32_t sample__first(const struct xr_sample *r)
{
	return r->part ? 0 : XR_FIRST_SLOTS(r->flags);
}

static bool slot__is_native(const struct xr_slot *slot)
{
	return XR_FORM_IS_NATIVE(slot->word >> XR_FORM_SHIFT);
}

/* How many frames the slots of @r are, to *@n: whether these are whole. */
static bool sample__frames(const struct xr_sample *r, uint32_t *n)
{
	const uint32_t step = sample__step(r);
	uint32_t at = sample__first(r);

	for (*n = 0; at < r->nslots; ++*n)
		at += slot__is_native(&r->slots[at]) ? 1 : step;
	return at == r->nslots;
}

static void pending__add(struct pending *p, const struct frame *frame, uint32_t what)
{
	p->items[p->nframes++] = (struct native_item){frame, what};
	if (!(what & NATIVE_ITEM))
		return;
	p->natives++;
	p->last_native = p->nframes;
}

static int decoder__native(struct decoder *d, struct pending *p, const struct xr_slot *slot)
{
	const uint32_t flags = XR_NATIVE_FLAGS(slot->more);
	const bool kernel = slot->word >> XR_FORM_SHIFT == XR_FORM_KERNEL;
	const struct frame *frame;
	uint32_t what = NATIVE_ITEM;
	bool named;
	int err;

	if (p->natives == NATIVE_FRAMES_MAX)
		return -EBADMSG;
	err = known__native(&d->all, p->known, slot, &frame, &named);
	if (err)
		return err;
	if (kernel)
		what |= NATIVE_ITEM_KERNEL;
	else if (flags & XR_NATIVE_OWNS)
		what |= NATIVE_ITEM_OWNS;
	if (!kernel && flags & XR_NATIVE_R)
		what |= NATIVE_ITEM_OF_R;
	pending__add(p, frame, what | (named ? NATIVE_ITEM_NAMED : 0));
	return 0;
}

static struct sample_call call__of(const struct frame *frame, const struct xr_slot *slot)
{
	return (struct sample_call){
		.frame = frame,
		.env = slot->word,
		.context = slot->more & XR_CALL_CONTEXT,
		.old = slot->more & XR_CALL_OLD,
	};
}

/* Add the frames of @r to @p. */
static int decoder__frames(struct decoder *d, struct pending *p, const struct xr_sample *r)
{
	bool lines = r->flags & XR_F_LINES, packages = r->flags & XR_F_PACKAGES;
	bool calls = r->flags & XR_F_CALLS;
	uint32_t step, n;
	int err;

	sample__frames(r, &n);
	err = pending__room(d, p, n + !!(r->flags & XR_F_OTHER_THREAD));
	if (err)
		return err;
	/* what is known of R's thread says nothing about another */
	if (r->flags & XR_F_OTHER_THREAD) {
		p->sample.flags &= ~(XR_F_GC | XR_F_UNPROVEN);
	} else if (!r->part && lines) {
		p->file = r->file;
		p->line = r->line;
	}
	for (uint32_t i = sample__first(r); i < r->nslots; i += step) {
		const struct frame *frame;
		struct known_frame told = {
			.name = r->slots[i],
			.file = p->file,
			.line = p->line,
		};

		step = 1;
		if (slot__is_native(&r->slots[i])) {
			err = decoder__native(d, p, &r->slots[i]);
			if (err)
				return err;
			continue;
		}
		if (p->nframes - p->natives == XR_CONTEXTS_MAX)
			return -EBADMSG;
		step = sample__step(r);
		if (packages)
			told.function = r->slots[i + step - 1 - calls];
		err = known__frame(&d->all, p->known, &told, &frame);
		if (err)
			return err;
		if (calls)
			p->calls[p->nframes - p->natives] =
				call__of(frame, &r->slots[i + step - 1]);
		pending__add(p, frame, 0);
		if (lines) {
			p->file = r->slots[i + 1].word;
			p->line = (uint32_t)r->slots[i + 1].more;
		}
	}
	if (r->flags & XR_F_OTHER_THREAD)
		pending__add(p, &mark_other_thread, 0);
	return 0;
}

/* Native frames further out than the last are not available: put a mark there. */
static void pending__mark_cut(struct pending *p)
{
	uint32_t at = p->last_native;

	memmove(&p->items[at + 1], &p->items[at], (p->nframes - at) * sizeof(*p->items));
	p->items[at] = (struct native_item){&mark_no_native, 0};
	p->nframes++;
}

/* The frames that are shown, to p->frames behind the first: how many. */
static uint32_t pending__shown(const struct decoder *d, struct pending *p)
{
	const bool gc = p->sample.flags & XR_F_GC;
	uint32_t n;

	if (p->sample.flags & XR_F_NATIVE_CUT)
		pending__mark_cut(p);
	n = p->nframes;
	if (p->natives && !d->all.raw && p->sample.flags & (XR_F_ELSEWHERE | XR_F_OTHER_THREAD))
		n = native_rules__elsewhere(p->items, n);
	if (p->natives && !d->all.raw)
		n = native_rules__apply(p->items, n, gc ? NULL : known__leaf(p->known));
	for (uint32_t i = 0; i < n; i++)
		p->frames[1 + i] = p->items[i].frame;
	return n;
}

/* R's counts of its memory, which come first; what no process can have is as if it had not come. */
static void pending__memory(struct pending *p, const struct xr_sample *r)
{
	struct xr_memory *m = &p->sample.memory;

	if (r->part || !(r->flags & XR_F_MEMORY))
		return;
	memcpy(m, r->slots, sizeof(*m));
	if (m->small > DECODE_MEMORY_MAX || m->large > DECODE_MEMORY_MAX ||
	    m->nodes > DECODE_MEMORY_MAX)
		*m = (struct xr_memory){0};
	else
		p->sample.flags |= XR_F_MEMORY;
}

/* How often R began to collect comes behind that. */
static void pending__collections(struct pending *p, const struct xr_sample *r)
{
	const struct xr_slot *slot = &r->slots[XR_FIRST_SLOTS(r->flags & XR_F_MEMORY)];

	if (r->flags & XR_F_NONE)
		p->sample.lag = r->file;
	if (r->part || !(r->flags & XR_F_CALLS))
		return;
	p->sample.lag = slot->more >> XR_LAG_SHIFT;
	p->sample.collections = (uint32_t)slot->word;
	p->sample.counted = slot->more & XR_COUNTED;
}

/* The labels come last of what comes before the frames. */
static void pending__labels(struct pending *p, const struct xr_sample *r)
{
	if (!r->part && r->flags & XR_F_LABELS)
		p->labels = r->slots[sample__first(r) - 1].word;
}

/* All parts of @p came: the stack they make, with its marks. */
static const struct stack *decoder__stack(struct decoder *d, struct pending *p)
{
	struct place top = known__place(&d->all, p->known, p->file, p->line);
	const struct stack *stack = NULL;
	const struct frame **first;
	uint32_t n;

	if (p->no_room)
		goto no_room;
	n = pending__shown(d, p);
	first = &p->frames[1];
	if (p->sample.flags & XR_F_TRUNCATED) {
		struct frame mark = mark_truncated;

		mark.place = top;
		top = (struct place){0};
		first[n] = stacks__frame(&p->known->stacks, &mark);
		if (!first[n++])
			goto no_room;
	}
	if (p->sample.flags & XR_F_GC) {
		*--first = &mark_gc;
		n++;
	}
	stack = stacks__stack(&p->known->stacks, first, n, top);
no_room:
	if (stack)
		return stack;
	d->stats.stacks_dropped++;
	return stacks__none();
}

/* Another thread than R's has native frames alone. */
static bool sample__all_native(const struct xr_sample *r)
{
	for (uint32_t i = sample__first(r); i < r->nslots; i++)
		if (!slot__is_native(&r->slots[i]))
			return false;
	return !r->part && !(r->flags & XR_F_MORE);
}

/* The place for what @cpu sends at @level, made if need be; NULL: no memory. */
static struct pending *decoder__pending(struct decoder *d, uint32_t cpu, uint32_t level)
{
	uint32_t at = cpu * XR_LEVELS + level;
	size_t before = d->npending;

	if (array__room(&d->pending, at, &d->npending, sizeof(*d->pending)))
		return NULL;
	for (; before < d->npending; before++)
		d->pending[before] = NULL;
	if (!d->pending[at])
		d->pending[at] = calloc(1, sizeof(*d->pending[at]));
	return d->pending[at];
}

/* Can this be a sample record at all? */
static bool sample__valid(const struct xr_sample *r, size_t size)
{
	uint32_t frames;

	if (size < sizeof(*r) || r->nslots > XR_CHUNK_SLOTS ||
	    r->nslots * sizeof(r->slots[0]) > size - sizeof(*r))
		return false;
	if (r->flags & ~DECODE_FLAGS || r->unit >= XR_UNITS || r->cpu >= DECODE_CPUS_MAX ||
	    r->level >= XR_LEVELS || r->event >= XR_EVENTS)
		return false;
	if (r->flags & XR_F_DISCARD)
		return true; /* nothing else of it is used */
	if (r->flags & XR_F_NONE && (r->nslots || r->part || r->flags & XR_F_MORE))
		return false;
	if (!r->weight || (r->unit == XR_UNIT_TICKS && r->weight > DECODE_WEIGHT_MAX))
		return false;
	if (!sample__frames(r, &frames) || (!r->part && r->nslots < XR_FIRST_SLOTS(r->flags)))
		return false;
	return !(r->flags & XR_F_OTHER_THREAD) || sample__all_native(r);
}

/* Is @r the next part of @p? */
static bool pending__goes_on(const struct pending *p, const struct xr_sample *r)
{
	const struct sample *s = &p->sample;

	return p->active && r->part == p->next_part && r->serial == s->serial && r->pid == s->pid &&
	       r->tid == s->tid && r->time == s->time &&
	       !((r->flags ^ s->flags) & (XR_F_LINES | XR_F_PACKAGES | XR_F_CALLS));
}

/* What was put together so far is of no use any more, or was handed on. */
static void pending__end(struct decoder *d, struct pending *p)
{
	if (p->active)
		p->known->pending--;
	p->active = false;
	if (p->cap <= PENDING_KEEP)
		return;
	budget__give(&d->all.made, p->cap * PENDING_EACH);
	free(p->frames);
	free(p->items);
	free(p->calls);
	p->frames = NULL;
	p->items = NULL;
	p->calls = NULL;
	p->cap = 0;
}

static int decoder__start(struct decoder *d, struct pending *p, const struct xr_sample *r)
{
	struct known *k = known__of(&d->all, r->serial);

	if (!k)
		return -ENOMEM;
	known__make_room(&d->all, k);
	k->pending++;
	p->active = true;
	p->known = k;
	p->no_room = false;
	p->next_part = 0;
	p->nframes = 0;
	p->natives = 0;
	p->last_native = 0;
	p->file = 0;
	p->line = 0;
	p->labels = 0;
	p->sample = (struct sample){
		.time = r->time,
		.weight = r->weight,
		.event = r->event,
		.detail = r->detail,
		.serial = r->serial,
		.pid = r->pid,
		.tid = r->tid,
		.cpu = r->cpu,
	};
	return 0;
}

static int decoder__sample(struct decoder *d, const struct xr_sample *r, size_t size)
{
	struct pending *p;
	int err = 0;

	if (!sample__valid(r, size))
		return -EBADMSG;
	p = decoder__pending(d, r->cpu, r->level);
	if (!p)
		return -ENOMEM;
	if (r->flags & XR_F_DISCARD) {
		pending__end(d, p);
		return 0;
	}
	if (!r->part || !pending__goes_on(p, r)) {
		d->stats.partial += p->active;
		pending__end(d, p);
		err = r->part ? -EBADMSG : decoder__start(d, p, r);
	}
	if (err)
		return err;
	p->next_part++;
	p->sample.flags |= r->flags & ~(XR_F_MORE | XR_F_MEMORY | XR_F_LABELS);
	pending__memory(p, r);
	pending__collections(p, r);
	pending__labels(p, r);
	err = p->no_room ? 0 : decoder__frames(d, p, r);
	if (err == -ENOSPC) { /* the sample counts, without its stack */
		p->no_room = true;
		err = 0;
	}
	if (!err && r->flags & XR_F_MORE)
		return 0;
	if (!err) {
		if (p->no_room) { /* its calls are not known: none of them is over */
			p->sample.flags &= ~XR_F_CALLS;
		} else if (p->sample.flags & XR_F_CALLS) {
			p->sample.calls = p->calls;
			p->sample.ncalls = p->nframes - p->natives;
		}
		p->sample.stack = decoder__stack(d, p);
		d->stats.samples += !(p->sample.flags & XR_F_NONE);
		if (p->labels)
			p->sample.labels =
				known__labels(&d->all, p->known, p->labels, &p->sample.nlabels);
		d->ops.sample(d->arg, &p->sample);
	}
	pending__end(d, p);
	return err;
}

static int decoder__text(struct decoder *d, const struct xr_text *r, size_t size)
{
	if (size < sizeof(*r) || r->len > size - sizeof(*r))
		return -EBADMSG;
	return known__text(&d->all, r);
}

static int decoder__place(struct decoder *d, const struct xr_place *r, size_t size)
{
	const struct name *file;
	int err = size < sizeof(*r) ? -EBADMSG : known__told_place(&d->all, r);

	if (err < 1 || r->id & 1 || !d->ops.source)
		return err < 0 ? err : 0;
	file = known__source(&d->all, r->serial, r->id);
	if (file)
		d->ops.source(d->arg, r->serial, r->id, file->text);
	return 0;
}

static int decoder__process(struct decoder *d, const struct xr_process *r, size_t size)
{
	if (size < sizeof(*r) || r->event < XR_PROCESS_FORK || r->event >= XR_PROCESS_EVENTS ||
	    !memchr(r->comm, '\0', sizeof(r->comm)))
		return -EBADMSG;
	/* a child's row starts without texts: the sampler sends them again */
	if (d->ops.process)
		d->ops.process(d->arg, r);
	return 0;
}

void decoder__record(void *decoder, const void *record, size_t size)
{
	struct decoder *d = decoder;
	const struct xr_head *head = record;
	int err = -EBADMSG;

	/* the ring may hand over more than the record, never less */
	if (size >= sizeof(*head) && head->size >= sizeof(*head) && head->size <= size) {
		size = head->size;
		if (head->type == XR_REC_SAMPLE)
			err = decoder__sample(d, record, size);
		else if (head->type == XR_REC_TEXT)
			err = decoder__text(d, record, size);
		else if (head->type == XR_REC_PLACE)
			err = decoder__place(d, record, size);
		else if (head->type == XR_REC_PROCESS)
			err = decoder__process(d, record, size);
	}
	d->stats.malformed += err != 0;
}

void decoder__forget(struct decoder *d, uint32_t serial)
{
	for (uint32_t i = 0; i < d->npending; i++) {
		struct pending *p = d->pending[i];

		if (p && p->active && p->sample.serial == serial) {
			pending__end(d, p);
			d->stats.partial++;
		}
	}
	known__forget(&d->all, serial);
}

const struct decoder_stats *decoder__stats(const struct decoder *d)
{
	return &d->stats;
}

size_t decoder__memory(const struct decoder *d, size_t *max)
{
	const struct knowledge *k = &d->all;

	*max = k->room.max + k->reserves.max + k->made.max;
	return k->room.used + k->reserves.used + k->made.used;
}

void decoder__free(struct decoder *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->npending; i++) {
		if (d->pending[i]) {
			free(d->pending[i]->frames);
			free(d->pending[i]->items);
			free(d->pending[i]->calls);
		}
		free(d->pending[i]);
	}
	free(d->pending);
	known__free_all(&d->all);
	free(d);
}
