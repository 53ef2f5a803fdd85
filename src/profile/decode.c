/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/decode.h"
#include "profile/limits.h"
#include "profile/names.h"
#include "profile/stacks.h"

#define DECODE_CPUS_MAX	  65536u
#define DECODE_WEIGHT_MAX (1ULL << 24) /* ticks in one sample: hours of them at 999 Hz */
#define ID_COST		  (2 * sizeof(struct map_entry)) /* a name's place in a map */
#define DECODE_FLAGS                                                                               \
	(XR_F_MORE | XR_F_TRUNCATED | XR_F_GC | XR_F_LINES | XR_F_OTHER_THREAD | XR_F_KERNEL |     \
	 XR_F_DISCARD)

/* A frame as the sampler tells it: the slot, and the place being executed in it. */
struct slot_key {
	uint64_t word, more;
	uint64_t file; /* hash, 0: none */
	uint32_t line;
};

struct slot {
	uint64_t hash;
	struct slot_key key;
	const struct frame *frame;
};

/*
 * What is known of one process row.  Names stay as long as it does: each is sent only once.  All
 * the rest is made of them, and made again when it was let go.
 */
struct known {
	struct budget room, made; /* for the names; for what is made of them */
	struct intern names;
	struct map ids;	      /* (id, enum xr_text_kind) to the name */
	struct stacks stacks; /* frames, stacks, and names put together */
	struct table slots;   /* struct slot */
	struct arena arena;   /* of the slots */
	uint32_t pending;     /* samples of it that are being put together */
};

/* The sample being put together from what one cpu sends at one level. */
struct pending {
	bool active;
	uint32_t next_part;
	uint32_t cap, nframes;
	const struct frame **frames; /* the first is left free for <GC> */
	uint64_t file;		     /* the place being executed in the frame to come */
	uint32_t line;
	struct known *known;
	struct sample sample; /* stack is set when it is handed on */
};

struct decoder {
	struct decoder_ops ops;
	void *arg;
	struct decoder_stats stats;
	struct budget room, made; /* of all processes */
	uint64_t last_id;
	struct map known;	  /* (serial, 0) to struct known */
	struct pending **pending; /* by cpu and level: cpu * XR_LEVELS + level */
	uint32_t npending;
	struct buf name; /* the one being rendered */
};

int decoder__new(struct decoder **out, const struct decoder_ops *ops, void *arg)
{
	struct decoder *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	d->ops = *ops;
	d->arg = arg;
	d->room.max = LIMIT_NAMES_ALL;
	d->made.max = LIMIT_MADE_ALL;
	return 0;
}

static void known__forget_slots(struct known *k)
{
	table__free(&k->slots);
	arena__free(&k->arena);
}

/* Let go all that was made of the names. */
static void known__forget_made(struct known *k)
{
	known__forget_slots(k);
	stacks__free(&k->stacks);
}

static void known__free(struct known *k)
{
	if (!k)
		return;
	known__forget_made(k);
	intern__free(&k->names);
	budget__give(&k->room, k->ids.count * ID_COST);
	map__free(&k->ids);
	free(k);
}

/* What is known of row @serial, made if there is nothing yet; NULL: no memory. */
static struct known *decoder__known(struct decoder *d, uint32_t serial)
{
	struct known *k = map__get(&d->known, serial, 0);

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->room = (struct budget){.whole = &d->room, .max = LIMIT_NAMES, .reserve = LIMIT_RESERVE};
	k->made = (struct budget){.whole = &d->made, .max = LIMIT_MADE, .reserve = LIMIT_RESERVE};
	intern__init(&k->names, &k->room);
	stacks__init(&k->stacks, &k->made, &d->last_id);
	k->slots.budget = k->arena.budget = &k->made;
	if (!map__put(&d->known, serial, 0, k))
		return k;
	free(k);
	return NULL;
}

/* Map values are not const; nobody writes through these. */
static int known__put(struct known *k, uint64_t id, uint32_t kind, const struct name *name)
{
	return map__put(&k->ids, id, kind, (void *)(uintptr_t)name);
}

/* The most bytes that a sampler sends of a text of @kind. */
static uint32_t text__max(uint32_t kind)
{
	return kind == XR_TEXT_SYMBOL ? XR_NAME_MAX : XR_TEXT_MAX;
}

/*
 * The name of @r, of which the sampler sent no more than it may: without a cut character, marked.
 */
static const struct name *decoder__cut(struct decoder *d, struct known *k, const struct xr_text *r)
{
	uint32_t len = r->len;

	while (len && ((unsigned char)r->text[len - 1] & 0xc0) == 0x80 && r->len - len < 3)
		len--;
	/* keep a character of which nothing is missing */
	if (len && (unsigned char)r->text[len - 1] >= 0xc0) {
		unsigned char first = (unsigned char)r->text[len - 1];
		uint32_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;

		len = r->len - len + 1 < need ? len - 1 : r->len;
	} else {
		len = r->len;
	}
	d->name.len = 0;
	if (buf__add(&d->name, r->text, len) || buf__add(&d->name, "...", 3))
		return NULL;
	return intern__get(&k->names, d->name.data, d->name.len);
}

static int decoder__text(struct decoder *d, const struct xr_text *r, size_t size)
{
	const struct name *name, *old;
	struct known *k;
	int err;

	if (size < sizeof(*r) || r->len > size - sizeof(*r) || r->kind > XR_TEXT_HASHED ||
	    r->len > text__max(r->kind))
		return -EBADMSG;
	k = decoder__known(d, r->serial);
	if (!k)
		return -ENOMEM;
	name = r->len < text__max(r->kind) ? intern__get(&k->names, r->text, r->len)
					   : decoder__cut(d, k, r);
	old = map__get(&k->ids, r->id, r->kind);
	if (name && name == old)
		return 0;
	if (!old && (!name || !budget__take(&k->room, ID_COST))) {
		d->stats.names_dropped++;
		return 0;
	}
	if (!name) {
		/* the old name is wrong now */
		d->stats.names_dropped++;
		name = mark_no_room.function;
	}
	if (old)
		known__forget_slots(k); /* some may be made of the old text */
	err = known__put(k, r->id, r->kind, name);
	if (err && !old)
		budget__give(&k->room, ID_COST);
	return err;
}

#define ADDRESS_TEXT 24 /* bytes that hold <0x%llx> */

/*
 * The text of @id, or one that says its address, which is written to @address; @known turns false
 * then.
 */
static const char *known__word(const struct known *k, uint64_t id, uint32_t kind,
			       char address[ADDRESS_TEXT], bool *known)
{
	const struct name *name = map__get(&k->ids, id, kind);

	if (name)
		return name->text;
	*known = false;
	snprintf(address, ADDRESS_TEXT, "<0x%" PRIx64 ">", id);
	return address;
}

/* How a slot's words are to be read, by form. */
static const struct form {
	uint8_t word : 1;    /* a symbol */
	uint8_t more : 1;    /* likewise */
	uint8_t hashed : 1;  /* more is a text's hash */
	uint8_t address : 1; /* word is an address without a text */
	enum frame_kind kind;
} forms[XR_FORMS] = {
	[XR_FORM_SYMBOL] = {.word = 1},
	[XR_FORM_ANON] = {.kind = FRAME_ANON},
	[XR_FORM_COLON2] = {.word = 1, .more = 1},
	[XR_FORM_COLON3] = {.word = 1, .more = 1},
	[XR_FORM_DOLLAR] = {.word = 1, .more = 1},
	[XR_FORM_ITEM_SYM] = {.word = 1, .more = 1},
	[XR_FORM_ITEM_STR] = {.word = 1, .hashed = 1},
	[XR_FORM_ITEM_INT] = {.word = 1},
	[XR_FORM_ITEM_REAL] = {.word = 1},
	[XR_FORM_ITEM_ODD] = {.word = 1},
	[XR_FORM_BUILTIN] = {.address = 1, .kind = FRAME_BUILTIN},
	[XR_FORM_NATIVE] = {.address = 1, .kind = FRAME_NATIVE},
	[XR_FORM_KERNEL] = {.address = 1, .kind = FRAME_KERNEL},
};

/* Render the name of a slot.  @known turns false if a text never came. */
static int decoder__render(struct decoder *d, const struct known *k, const struct slot_key *key,
			   const struct name **name, bool *known)
{
	uint64_t form = key->word >> XR_FORM_SHIFT, id = key->word & XR_WORD_MASK;
	char address[ADDRESS_TEXT], second[ADDRESS_TEXT];
	const char *word = NULL, *more = NULL;
	bool ignored;
	int err;

	if (form == XR_FORM_SYMBOL) { /* its text is its name */
		*name = map__get(&k->ids, id, XR_TEXT_SYMBOL);
		if (*name)
			return 0;
	}
	if (forms[form].word)
		word = known__word(k, id, XR_TEXT_SYMBOL, address, known);
	if (forms[form].more)
		more = known__word(k, key->more, XR_TEXT_SYMBOL, second, known);
	if (forms[form].hashed)
		more = known__word(k, key->more, XR_TEXT_HASHED, second, known);
	if (forms[form].address)
		word = known__word(k, id, UINT32_MAX, address, &ignored);
	d->name.len = 0;
	err = name__render(&d->name, (enum xr_form)form, word, more, key->more);
	*name = NULL;
	return err;
}

/* The name of file @hash, NULL for none; one whose text never came is named by its hash. */
static const struct name *decoder__file(struct decoder *d, struct known *k, uint64_t hash)
{
	const struct name *file = hash ? map__get(&k->ids, hash, XR_TEXT_HASHED) : NULL;
	char address[ADDRESS_TEXT];

	if (file || !hash)
		return file;
	d->stats.unnamed++;
	snprintf(address, sizeof(address), "<0x%" PRIx64 ">", hash);
	file = stacks__name(&k->stacks, address, strlen(address));
	return file ? file : mark_no_room.function;
}

static struct place decoder__place(struct decoder *d, struct known *k, uint64_t file, uint32_t line)
{
	return (struct place){.file = decoder__file(d, k, file), .line = file ? line : 0};
}

/* The frame of @key, made and remembered; one with a text that may still come is not. */
static int decoder__make(struct decoder *d, struct known *k, const struct slot_key *key,
			 uint64_t hash, const struct frame **out)
{
	uint64_t form = key->word >> XR_FORM_SHIFT, unnamed = d->stats.unnamed;
	struct frame frame = {0};
	bool known = true;
	struct slot *slot;
	int err;

	if (form == XR_FORM_NONE || form >= XR_FORMS)
		return -EBADMSG;
	frame.kind = forms[form].kind;
	if (frame.kind == FRAME_NATIVE || frame.kind == FRAME_KERNEL)
		frame.address = key->word & XR_WORD_MASK;
	err = decoder__render(d, k, key, &frame.function, &known);
	if (err)
		return err;
	if (!frame.function)
		frame.function =
			stacks__name(&k->stacks, d->name.data ? d->name.data : "", d->name.len);
	frame.place = decoder__place(d, k, key->file, key->line);
	*out = frame.function ? stacks__frame(&k->stacks, &frame) : NULL;
	if (!*out) {
		d->stats.names_dropped++;
		*out = &mark_no_room;
		return 0;
	}
	d->stats.unnamed += !known;
	if (d->stats.unnamed != unnamed)
		return 0;
	slot = arena__alloc(&k->arena, sizeof(*slot));
	if (!slot)
		return 0;
	*slot = (struct slot){.hash = hash, .key = *key, .frame = *out};
	table__add(&k->slots, slot); /* if that fails it is made again each time */
	return 0;
}

static bool slot__same(const void *record, const void *arg)
{
	const struct slot_key *a = &((const struct slot *)record)->key, *b = arg;

	return a->word == b->word && a->more == b->more && a->file == b->file && a->line == b->line;
}

/* The frame that @slot tells of, in which @p's place is being executed. */
static int decoder__frame(struct decoder *d, struct pending *p, const struct xr_slot *slot,
			  const struct frame **out)
{
	const struct slot_key key = {slot->word, slot->more, p->file, p->line};
	uint64_t hash = map__hash(key.word + key.line * 0x9e3779b97f4a7c15ULL,
				  key.more ^ key.file * 0xc2b2ae3d27d4eb4fULL);
	const struct slot *made = table__find(&p->known->slots, hash, slot__same, &key);

	if (!made)
		return decoder__make(d, p->known, &key, hash, out);
	*out = made->frame;
	return 0;
}

/* Room for @more frames, and for the marks: one inside of them and one outside. */
static int pending__room(struct pending *p, uint32_t more)
{
	uint32_t need = p->nframes + more, cap = p->cap ? p->cap : 64;
	const struct frame **frames;

	if (need > XR_CONTEXTS_MAX)
		return -EBADMSG;
	need += 2;
	while (cap < need)
		cap *= 2;
	if (cap == p->cap)
		return 0;
	frames = realloc(p->frames, (size_t)cap * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	p->frames = frames;
	p->cap = cap;
	return 0;
}

/* Add the frames of @r to @p. */
static int decoder__frames(struct decoder *d, struct pending *p, const struct xr_sample *r)
{
	bool lines = r->flags & XR_F_LINES;
	uint32_t step = lines ? 2 : 1;
	int err;

	err = pending__room(p, r->nslots / step + !!(r->flags & XR_F_OTHER_THREAD));
	if (err)
		return err;
	/* what is known of R's thread says nothing about another */
	if (r->flags & XR_F_OTHER_THREAD) {
		p->sample.flags &= ~XR_F_GC;
		p->frames[++p->nframes] = &mark_other_thread;
	} else if (!r->part && lines) {
		p->file = r->file;
		p->line = r->line;
	}
	for (uint32_t i = 0; i < r->nslots; i += step) {
		err = decoder__frame(d, p, &r->slots[i], &p->frames[p->nframes + 1]);
		if (err)
			return err;
		p->nframes++;
		if (lines) {
			p->file = r->slots[i + 1].word;
			p->line = (uint32_t)r->slots[i + 1].more;
		}
	}
	return 0;
}

/* All parts of @p came: the stack they make, with its marks. */
static const struct stack *decoder__stack(struct decoder *d, struct pending *p)
{
	struct place top = decoder__place(d, p->known, p->file, p->line);
	const struct frame **first = &p->frames[1];
	uint32_t n = p->nframes;
	const struct stack *stack = NULL;

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

/* The place for what @cpu sends at @level, made if need be; NULL: no memory. */
static struct pending *decoder__pending(struct decoder *d, uint32_t cpu, uint32_t level)
{
	uint32_t at = cpu * XR_LEVELS + level;

	if (at >= d->npending) {
		uint32_t n = (at | 63) + 1;
		struct pending **pending = realloc(d->pending, (size_t)n * sizeof(*pending));

		if (!pending)
			return NULL;
		memset(pending + d->npending, 0, (n - d->npending) * sizeof(*pending));
		d->pending = pending;
		d->npending = n;
	}
	if (!d->pending[at])
		d->pending[at] = calloc(1, sizeof(*d->pending[at]));
	return d->pending[at];
}

/* Can this be a sample record at all? */
static bool sample__valid(const struct xr_sample *r, size_t size)
{
	if (size < sizeof(*r) || r->nslots > XR_CHUNK_SLOTS ||
	    r->nslots * sizeof(r->slots[0]) > size - sizeof(*r))
		return false;
	if (r->flags & ~DECODE_FLAGS || r->unit > XR_UNIT_BYTES || r->cpu >= DECODE_CPUS_MAX ||
	    r->level >= XR_LEVELS || r->event >= XR_EVENTS)
		return false;
	if (r->flags & XR_F_DISCARD)
		return true; /* nothing else of it is used */
	if (!r->weight || (r->unit == XR_UNIT_TICKS && r->weight > DECODE_WEIGHT_MAX))
		return false;
	if (r->flags & XR_F_LINES && r->nslots % 2)
		return false;
	if (r->flags & XR_F_OTHER_THREAD && (r->nslots || r->part || r->flags & XR_F_MORE))
		return false;
	return true;
}

/* Is @r the next part of @p? */
static bool pending__goes_on(const struct pending *p, const struct xr_sample *r)
{
	const struct sample *s = &p->sample;

	return p->active && r->part == p->next_part && r->serial == s->serial && r->pid == s->pid &&
	       r->tid == s->tid && r->time == s->time &&
	       (r->flags & XR_F_LINES) == (s->flags & XR_F_LINES);
}

/* What was put together so far is of no use any more, or was handed on. */
static void pending__end(struct pending *p)
{
	if (p->active)
		p->known->pending--;
	p->active = false;
}

/*
 * Before a sample of @k: let go what can be made again, if there is half as much of it as there may
 * be.  Frames of samples that are being put together stay.
 */
static void decoder__make_room(struct decoder *d, struct known *k)
{
	if (k->made.used > LIMIT_MADE / 2 && !k->pending)
		known__forget_made(k);
	if (d->made.used <= LIMIT_MADE_ALL / 2)
		return;
	for (size_t i = 0; i < d->known.cap; i++) {
		k = d->known.entries[i].value;
		if (k && !k->pending)
			known__forget_made(k);
	}
}

static int decoder__start(struct decoder *d, struct pending *p, const struct xr_sample *r)
{
	struct known *k = decoder__known(d, r->serial);

	if (!k)
		return -ENOMEM;
	decoder__make_room(d, k);
	k->pending++;
	p->active = true;
	p->known = k;
	p->next_part = 0;
	p->nframes = 0;
	p->file = 0;
	p->line = 0;
	p->sample = (struct sample){
		.time = r->time,
		.weight = r->weight,
		.unit = r->unit,
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
		pending__end(p);
		return 0;
	}
	if (!r->part || !pending__goes_on(p, r)) {
		d->stats.partial += p->active;
		pending__end(p);
		err = r->part ? -EBADMSG : decoder__start(d, p, r);
	}
	if (err)
		return err;
	p->next_part++;
	p->sample.flags |= r->flags & ~XR_F_MORE;
	err = decoder__frames(d, p, r);
	if (!err && r->flags & XR_F_MORE)
		return 0;
	if (!err) {
		p->sample.stack = decoder__stack(d, p);
		d->stats.samples++;
		d->ops.sample(d->arg, &p->sample);
	}
	pending__end(p);
	return err;
}

static int decoder__process(struct decoder *d, const struct xr_process *r, size_t size)
{
	if (size < sizeof(*r) || r->event < XR_PROCESS_FORK || r->event > XR_PROCESS_EXIT ||
	    !memchr(r->comm, '\0', sizeof(r->comm)))
		return -EBADMSG;
	/* a child's row starts without texts: the sampler sends them anew */
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
			pending__end(p);
			d->stats.partial++;
		}
	}
	known__free(map__remove(&d->known, serial, 0));
}

const struct decoder_stats *decoder__stats(const struct decoder *d)
{
	return &d->stats;
}

void decoder__free(struct decoder *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->npending; i++) {
		if (d->pending[i])
			free(d->pending[i]->frames);
		free(d->pending[i]);
	}
	free(d->pending);
	for (size_t i = 0; i < d->known.cap; i++)
		known__free(d->known.entries[i].value);
	map__free(&d->known);
	buf__free(&d->name);
	free(d);
}
