/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/decode.h"
#include "base/intern.h"
#include "base/map.h"
#include "profile/names.h"

#define DECODE_CPUS_MAX	  65536u
#define DECODE_WEIGHT_MAX (1ULL << 24) /* ticks in one sample: hours of them at 999 Hz */
#define DECODE_TEXTS_MAX  (1u << 22)   /* symbols of one process */
#define DECODE_NAMES_MAX  (1u << 18)   /* rendered names of one process kept at hand */
#define DECODE_FLAGS                                                                               \
	(XR_F_MORE | XR_F_TRUNCATED | XR_F_GC | XR_F_LINES | XR_F_OTHER_THREAD | XR_F_KERNEL |     \
	 XR_F_DISCARD)

/* What is known of the texts of one process row.  Values are interned strings. */
struct texts {
	struct map ids;	  /* (id, enum xr_text_kind) to the text */
	struct map names; /* (slot.word, slot.more) to the name rendered from texts in `ids` */
};

/* The sample being put together from what one cpu sends at one level. */
struct pending {
	bool active;
	uint32_t next_part;
	uint32_t cap; /* of frames */
	struct frame *frames;
	struct sample sample; /* frames is set when it is handed on */
};

struct decoder {
	struct decoder_ops ops;
	void *arg;
	struct decoder_stats stats;
	struct intern *strings;
	const char *lost;	  /* stands for a string there was no room for */
	struct map texts;	  /* (serial, 0) to struct texts */
	struct pending **pending; /* by cpu and level: cpu * XR_LEVELS + level */
	uint32_t npending;
	struct buf name; /* the name being rendered */
};

int decoder__new(struct decoder **out, const struct decoder_ops *ops, void *arg)
{
	struct decoder *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d || intern__new(&d->strings))
		goto cleanup;
	d->lost = intern__get(d->strings, "<no room>", 9);
	if (!d->lost)
		goto cleanup;
	d->ops = *ops;
	d->arg = arg;
	*out = d;
	return 0;

cleanup:
	decoder__free(d);
	return -ENOMEM;
}

/* The interned copy of @len bytes at @text; never NULL. */
static const char *decoder__intern(struct decoder *d, const char *text, size_t len)
{
	const char *copy = intern__get(d->strings, text, len);

	return copy ? copy : d->lost;
}

static void texts__free(struct texts *t)
{
	if (!t)
		return;
	map__free(&t->ids);
	map__free(&t->names);
	free(t);
}

/* The texts of row @serial, made if there are none yet; NULL: no memory. */
static struct texts *decoder__texts(struct decoder *d, uint32_t serial)
{
	struct texts *t = map__get(&d->texts, serial, 0);

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (t && map__put(&d->texts, serial, 0, t)) {
		free(t);
		t = NULL;
	}
	return t;
}

/* Map values are not const; nobody writes through these. */
static int texts__put(struct map *m, uint64_t a, uint64_t b, const char *text)
{
	return map__put(m, a, b, (void *)(uintptr_t)text);
}

/* The most bytes that a sampler sends of a text of @kind. */
static uint32_t text__max(uint32_t kind)
{
	return kind == XR_TEXT_SYMBOL ? XR_NAME_MAX : XR_TEXT_MAX;
}

/* The text of @r, which the sampler cut: without the part of a character at its end, marked. */
static const char *decoder__cut(struct decoder *d, const struct xr_text *r)
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
		return d->lost;
	return decoder__intern(d, d->name.data, d->name.len);
}

static int decoder__text(struct decoder *d, const struct xr_text *r, size_t size)
{
	struct texts *t;
	const char *text, *old;

	if (size < sizeof(*r) || r->len > size - sizeof(*r) || r->kind > XR_TEXT_HASHED ||
	    r->len > text__max(r->kind))
		return -EBADMSG;
	t = decoder__texts(d, r->serial);
	if (!t)
		return -ENOMEM;
	text = r->len < text__max(r->kind) ? decoder__intern(d, r->text, r->len)
					   : decoder__cut(d, r);
	old = map__get(&t->ids, r->id, r->kind);
	if (old == text)
		return 0;
	if (old)
		map__free(&t->names); /* some may be made of the old text */
	else if (t->ids.count >= DECODE_TEXTS_MAX)
		return -ENOSPC;
	return texts__put(&t->ids, r->id, r->kind, text);
}

#define ADDRESS_TEXT 24 /* bytes that hold <0x%llx> */

/* The text of @id, or one that says its address; @known turns false then. */
static const char *decoder__word(struct decoder *d, struct texts *t, uint64_t id, uint32_t kind,
				 bool *known)
{
	const char *text = map__get(&t->ids, id, kind);
	char address[ADDRESS_TEXT];

	if (text)
		return text;
	*known = false;
	snprintf(address, sizeof(address), "<0x%" PRIx64 ">", id);
	return decoder__intern(d, address, strlen(address));
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

/* Fill @frame's kind and name from @slot. */
static int decoder__name(struct decoder *d, struct texts *t, const struct xr_slot *slot,
			 struct frame *frame)
{
	uint64_t form = slot->word >> XR_FORM_SHIFT, id = slot->word & XR_WORD_MASK;
	const char *word = NULL, *more = NULL;
	char address[ADDRESS_TEXT];
	bool known = true;
	int err;

	if (form == XR_FORM_NONE || form >= XR_FORMS)
		return -EBADMSG;
	frame->kind = forms[form].kind;
	frame->name = map__get(&t->names, slot->word, slot->more);
	if (frame->name)
		return 0;

	if (forms[form].word)
		word = decoder__word(d, t, id, XR_TEXT_SYMBOL, &known);
	if (forms[form].more)
		more = decoder__word(d, t, slot->more, XR_TEXT_SYMBOL, &known);
	if (forms[form].hashed)
		more = decoder__word(d, t, slot->more, XR_TEXT_HASHED, &known);
	if (forms[form].address) {
		snprintf(address, sizeof(address), "<0x%" PRIx64 ">", id);
		word = address;
	}
	d->name.len = 0;
	err = name__render(&d->name, (enum xr_form)form, word, more, slot->more);
	if (err)
		return err;
	frame->name = decoder__intern(d, d->name.data ? d->name.data : "", d->name.len);
	if (!known || frame->name == d->lost) {
		d->stats.unnamed++;
		return 0; /* the text may still come: not cached */
	}
	if (t->names.count >= DECODE_NAMES_MAX)
		map__free(&t->names);
	return texts__put(&t->names, slot->word, slot->more, frame->name);
}

/* The name of file @hash, NULL for none; one whose text never came is named by its hash. */
static const char *decoder__file(struct decoder *d, struct texts *t, uint64_t hash)
{
	bool known = true;
	const char *file = hash ? decoder__word(d, t, hash, XR_TEXT_HASHED, &known) : NULL;

	d->stats.unnamed += !known;
	return file;
}

/* Room for @more frames. */
static int pending__room(struct pending *p, uint32_t more)
{
	uint32_t need = p->sample.nframes + more, cap = p->cap ? p->cap : 64;
	struct frame *frames;

	if (need > XR_CONTEXTS_MAX)
		return -EBADMSG;
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
	struct texts *t = decoder__texts(d, r->serial);
	bool lines = r->flags & XR_F_LINES;
	uint32_t step = lines ? 2 : 1;
	int err;

	if (!t)
		return -ENOMEM;
	/* what is known of R's thread says nothing about another */
	if (r->flags & XR_F_OTHER_THREAD) {
		p->sample.flags &= ~XR_F_GC;
	} else if (!r->part && lines) {
		p->sample.line = r->line;
		p->sample.file = decoder__file(d, t, r->file);
	}
	err = pending__room(p, r->nslots / step + !!(r->flags & XR_F_OTHER_THREAD));
	if (err)
		return err;
	for (uint32_t i = 0; i < r->nslots; i += step) {
		struct frame *frame = &p->frames[p->sample.nframes];

		*frame = (struct frame){0};
		err = decoder__name(d, t, &r->slots[i], frame);
		if (err)
			return err;
		if (lines) {
			frame->line = (uint32_t)r->slots[i + 1].more;
			frame->file = decoder__file(d, t, r->slots[i + 1].word);
		}
		p->sample.nframes++;
	}
	if (r->flags & XR_F_OTHER_THREAD)
		p->frames[p->sample.nframes++] = (struct frame){
			.kind = FRAME_MARK,
			.name = decoder__intern(d, "<other thread>", 14),
		};
	return 0;
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

static void pending__start(struct pending *p, const struct xr_sample *r)
{
	p->active = true;
	p->next_part = 0;
	p->sample = (struct sample){
		.time = r->time,
		.weight = r->weight,
		.unit = r->unit,
		.serial = r->serial,
		.pid = r->pid,
		.tid = r->tid,
		.cpu = r->cpu,
	};
}

static int decoder__sample(struct decoder *d, const struct xr_sample *r, size_t size)
{
	struct pending *p;
	int err;

	if (!sample__valid(r, size))
		return -EBADMSG;
	p = decoder__pending(d, r->cpu, r->level);
	if (!p)
		return -ENOMEM;
	if (r->flags & XR_F_DISCARD) {
		p->active = false;
		return 0;
	}
	if (!r->part) {
		d->stats.partial += p->active;
		pending__start(p, r);
	} else if (!pending__goes_on(p, r)) {
		d->stats.partial += p->active;
		p->active = false;
		return -EBADMSG;
	}
	p->next_part++;
	p->sample.flags |= r->flags & ~XR_F_MORE;
	err = decoder__frames(d, p, r);
	if (err) {
		p->active = false;
		return err;
	}
	if (r->flags & XR_F_MORE)
		return 0;
	p->active = false;
	p->sample.frames = p->frames;
	d->stats.samples++;
	d->ops.sample(d->arg, &p->sample);
	return 0;
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
			p->active = false;
			d->stats.partial++;
		}
	}
	texts__free(map__remove(&d->texts, serial, 0));
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
	for (size_t i = 0; i < d->texts.cap; i++)
		texts__free(d->texts.entries[i].value);
	map__free(&d->texts);
	intern__free(d->strings);
	buf__free(&d->name);
	free(d);
}
