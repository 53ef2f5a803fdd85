/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For the tests of the decoder: records to send, and what came of them as text. */
#ifndef XR_TEST_DECODE_SCENE_H
#define XR_TEST_DECODE_SCENE_H

#include <inttypes.h>
#include "base/buf.h"
#include "profile/decode.h"
#include "tap.h"

/* Samples as text: "package!name{definition}(file:line) ... @file:line" and how often each came. */
struct seen {
	struct buf last;
	unsigned int samples, processes, sources;
	char source[64];  /* the last: serial, address, file */
	const char *name; /* of the innermost frame */
	uint32_t nframes;
	enum frame_kind kind;
	struct sample sample;
	size_t touched; /* bytes of names: makes the sanitizers look at all of them */
};

static inline void on_sample(void *arg, const struct sample *s)
{
	const struct stack *stack = s->stack;
	struct seen *seen = arg;

	seen->samples++;
	seen->sample = *s;
	seen->nframes = stack->nframes;
	seen->name = stack->nframes ? stack->frames[0]->function->text : NULL;
	seen->kind = stack->nframes ? stack->frames[0]->kind : FRAME_R;
	seen->last.len = 0;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		const struct frame *f = stack->frames[i];

		seen->touched += strlen(f->function->text) + strlen(f->function->safe) +
				 (f->place.file ? strlen(f->place.file->text) : 0);
		buf__str(&seen->last, i ? " " : "");
		if (f->package)
			buf__printf(&seen->last, "%s!", f->package->text);
		buf__str(&seen->last, f->function->text);
		if (f->defined.file)
			buf__printf(&seen->last, "{%s:%d}", f->defined.file->text,
				    (int)f->defined.line);
		if (f->place.file)
			buf__printf(&seen->last, "(%s:%u)", f->place.file->text, f->place.line);
	}
	if (stack->top.file)
		buf__printf(&seen->last, " @%s:%u", stack->top.file->text, stack->top.line);
	buf__add(&seen->last, "", 1);
}

static inline void on_source(void *arg, uint32_t serial, uint64_t at, const char *file)
{
	struct seen *seen = arg;

	snprintf(seen->source, sizeof(seen->source), "%u %" PRIx64 " %s", serial, at, file);
	seen->sources++;
}

static inline void on_process(void *arg, const struct xr_process *p)
{
	struct seen *seen = arg;

	seen->processes++;
	seen->touched += strlen(p->comm);
}

static const struct decoder_ops ops = {
	.sample = on_sample, .process = on_process, .source = on_source};

static union {
	struct xr_head head;
	struct xr_sample sample;
	struct xr_text text;
	struct xr_place place;
	struct xr_process process;
	uint64_t words[2048];
} r;

static struct decoder *d;
static struct seen seen;

static inline void start(void)
{
	memset(&seen, 0, sizeof(seen));
	tap__bail_if(decoder__new(&d, &ops, &seen, 0), "no memory");
}

static inline void finish(void)
{
	decoder__free(d);
	buf__free(&seen.last);
}

static inline uint64_t malformed(void)
{
	return decoder__stats(d)->malformed;
}

static inline void send(void)
{
	decoder__record(d, &r, r.head.size);
}

/* The record of a text, not sent. */
static inline void make_text(uint32_t serial, uint64_t id, uint32_t kind, const char *s)
{
	memset(&r, 0, sizeof(r.text));
	r.text.head.type = XR_REC_TEXT;
	r.text.id = id;
	r.text.serial = serial;
	r.text.kind = kind;
	r.text.len = (uint32_t)strlen(s);
	r.text.head.size = (uint32_t)sizeof(r.text) + r.text.len;
	memcpy(r.text.text, s, r.text.len);
}

static inline void send_text(uint32_t serial, uint64_t id, uint32_t kind, const char *s)
{
	make_text(serial, id, kind, s);
	send();
}

/* The record of a place, not sent. */
static inline void make_place(uint32_t serial, uint64_t id, uint64_t file, uint32_t line)
{
	memset(&r, 0, sizeof(r));
	r.place.head.type = XR_REC_PLACE;
	r.place.head.size = sizeof(r.place);
	r.place.id = id;
	r.place.file = file;
	r.place.serial = serial;
	r.place.line = line;
}

static inline void send_place(uint32_t serial, uint64_t id, uint64_t file, uint32_t line)
{
	make_place(serial, id, file, line);
	send();
}

/* What of a sample's head is not as usual; a serial of 0 is 1. */
struct shape {
	uint32_t flags, serial, cpu, part, line;
	uint16_t level;
	uint64_t file;
};

#define FRAME(form, word, more)                                                                    \
	((struct xr_slot){(uint64_t)(form) << XR_FORM_SHIFT | (word), (uint64_t)(more)})
#define SYMBOL(id)	 FRAME(XR_FORM_SYMBOL, id, 0)
#define ANON		 FRAME(XR_FORM_ANON, 0, 0)
#define PAIR(word, more) FRAME(0, word, more) /* a place, a package, counts of memory */
#define NO_SLOTS	 NULL, 0
#define SLOTS(...)                                                                                 \
	(const struct xr_slot[]){__VA_ARGS__},                                                     \
		sizeof((const struct xr_slot[]){__VA_ARGS__}) / sizeof(struct xr_slot)

/* The record of a sample, not sent. */
static inline void make_sample(struct shape shape, const struct xr_slot *slots, size_t n)
{
	memset(&r, 0, sizeof(r));
	r.sample = (struct xr_sample){
		.head = {.type = XR_REC_SAMPLE,
			 .size = (uint32_t)(sizeof(r.sample) + n * sizeof(*slots))},
		.time = 1000 + shape.level,
		.weight = 1,
		.serial = shape.serial ? shape.serial : 1,
		.pid = 10,
		.tid = 11,
		.cpu = shape.cpu,
		.part = shape.part,
		.level = shape.level,
		.flags = shape.flags,
		.file = shape.file,
		.line = shape.line,
		.nslots = (uint32_t)n,
	};
	if (n)
		memcpy(r.sample.slots, slots, n * sizeof(*slots));
}

static inline void send_sample(struct shape shape, const struct xr_slot *slots, size_t n)
{
	make_sample(shape, slots, n);
	send();
}

static inline void check_last(const char *want)
{
	tap__is(seen.last.data, want, "sample is: %s", want);
}

static inline void becomes(const char *want, struct shape shape, const struct xr_slot *slots,
			   size_t n)
{
	send_sample(shape, slots, n);
	check_last(want);
}

#endif
