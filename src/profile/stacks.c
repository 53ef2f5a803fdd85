/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/stacks.h"

#define MARK(mark, string)                                                                         \
	static const struct name mark##_name = {                                                   \
		.safe = mark##_name.text,                                                          \
		.field = mark##_name.text,                                                         \
		.len = sizeof(string) - 1,                                                         \
		.safe_len = sizeof(string) - 1,                                                    \
		.field_len = sizeof(string) - 1,                                                   \
		.text = string,                                                                    \
	};                                                                                         \
	const struct frame mark = {.kind = FRAME_MARK, .function = &mark##_name}

MARK(mark_toplevel, "<toplevel>");
MARK(mark_gc, "<GC>");
MARK(mark_truncated, "<truncated>");
MARK(mark_other_thread, "<other-thread>");
MARK(mark_no_native, "<no-native>");
MARK(mark_no_room, "<no-room>");

const struct frame *mark__find(const char *text, size_t len)
{
	static const struct frame *const marks[] = {&mark_toplevel,  &mark_gc,
						    &mark_truncated, &mark_other_thread,
						    &mark_no_native, &mark_no_room};

	if (!len || *text != '<')
		return NULL;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (marks[i]->function->len == len && !memcmp(marks[i]->function->text, text, len))
			return marks[i];
	return NULL;
}

bool name__is_reserved(const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	if (len > 4 && len <= 4 + 16 && !memcmp(text, "<0x", 3) && text[len - 1] == '>')
		return strspn(text + 3, digits) == len - 4;
	return mark__find(text, len);
}

static const struct stack none = {.nframes = 1, .frames = {&mark_no_room}};

struct frame_record {
	uint64_t hash;
	struct frame frame;
};

struct stack_key {
	const struct frame *const *frames;
	uint32_t n;
	struct place top;
};

void stacks__init(struct stacks *s, struct budget *budget, uint64_t *last_id)
{
	intern__init(&s->names, budget);
	s->frames = s->stacks = (struct table){.budget = budget};
	s->arena = (struct arena){.budget = budget};
	s->last_id = last_id;
}

const struct name *stacks__name(struct stacks *s, const char *text, size_t len)
{
	return intern__get(&s->names, text, len);
}

const struct name *stacks__word(struct stacks *s, const char *text)
{
	return text ? intern__get(&s->names, text, strlen(text)) : NULL;
}

const char *stacks__text(struct stacks *s, const char *text)
{
	const struct name *name = stacks__word(s, text);

	return name ? name->text : NULL;
}

bool stacks__labels(struct stacks *s, struct profile_label *to, const struct profile_label *from,
		    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to[i].key = stacks__text(s, from[i].key);
		to[i].value = stacks__text(s, from[i].value);
		if (!to[i].key || !to[i].value)
			return false;
	}
	return true;
}

void stacks__learn(struct stacks *s, struct profile_call *ours, const struct profile_call *call)
{
	if (!ours->request)
		ours->request = stacks__text(s, call->request);
	ours->began = call->began;
	ours->ended = call->ended;
	ours->seen = call->seen;
	ours->error = call->error;
	ours->ambiguous = call->ambiguous;
}

static bool frame__equal(const struct frame *a, const struct frame *b)
{
	return a->function == b->function && a->place.file == b->place.file &&
	       a->place.line == b->place.line && a->kind == b->kind && a->package == b->package &&
	       a->defined.file == b->defined.file && a->defined.line == b->defined.line &&
	       a->module == b->module && a->build_id == b->build_id && a->hash == b->hash &&
	       a->address == b->address;
}

static bool frame__same(const void *record, const void *key)
{
	return frame__equal(&((const struct frame_record *)record)->frame, key);
}

const struct frame *stacks__frame(struct stacks *s, const struct frame *frame)
{
	uint64_t hash = map__hash((uintptr_t)frame->function, (uintptr_t)frame->place.file);
	struct frame_record *r;

	hash = map__hash(hash ^ frame->address, (uint64_t)frame->kind << 32 | frame->place.line);
	hash = map__hash(hash ^ (uintptr_t)frame->package,
			 (uintptr_t)frame->defined.file ^ (uint64_t)frame->defined.line << 32);
	r = table__find(&s->frames, hash, frame__same, frame);
	if (r)
		return &r->frame;
	r = arena__alloc(&s->arena, sizeof(*r));
	if (!r)
		return NULL;
	r->hash = hash;
	r->frame = *frame;
	return table__add(&s->frames, r) ? NULL : &r->frame;
}

static bool stack__same(const void *record, const void *arg)
{
	const struct stack *stack = record;
	const struct stack_key *key = arg;

	return stack->nframes == key->n && stack->top.file == key->top.file &&
	       stack->top.line == key->top.line &&
	       (!key->n || !memcmp(stack->frames, key->frames, key->n * sizeof(*key->frames)));
}

/* Frames are equal when their addresses are. */
static uint64_t stack__hash(const struct stack_key *key)
{
	uint64_t h = map__hash((uintptr_t)key->top.file, key->top.line);

	for (uint32_t i = 0; i < key->n; i++) {
		h = (h ^ (uintptr_t)key->frames[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return map__hash(h, key->n);
}

const struct stack *stacks__stack(struct stacks *s, const struct frame *const *frames, uint32_t n,
				  struct place top)
{
	const struct stack_key key = {frames, n, top};
	uint64_t hash = stack__hash(&key);
	struct stack *stack = table__find(&s->stacks, hash, stack__same, &key);

	if (stack)
		return stack;
	stack = arena__alloc(&s->arena, sizeof(*stack) + n * sizeof(*frames));
	if (!stack)
		return NULL;
	*stack = (struct stack){.hash = hash, .id = ++*s->last_id, .nframes = n, .top = top};
	if (n)
		memcpy(stack->frames, frames, n * sizeof(*frames));
	return table__add(&s->stacks, stack) ? NULL : stack;
}

/* The name of @s that is equal to *@name, which may be NULL, in its place.  False: no room. */
static bool stacks__own(struct stacks *s, const struct name **name)
{
	if (*name)
		*name = intern__get(&s->names, (*name)->text, (*name)->len);
	return *name;
}

static bool stacks__own_place(struct stacks *s, struct place *place)
{
	return !place->file || stacks__own(s, &place->file);
}

const struct stack *stacks__copy(struct stacks *s, const struct stack *stack)
{
	const struct stack *copy = NULL;
	const struct frame **frames = NULL;
	struct place top = stack->top;

	if (stack == &none)
		return stack;
	if (!stacks__own_place(s, &top))
		return NULL;
	if (stack->nframes) {
		frames = malloc(stack->nframes * sizeof(*frames));
		if (!frames)
			return NULL;
	}
	for (uint32_t i = 0; i < stack->nframes; i++) {
		struct frame frame = *stack->frames[i];

		/* a mark's name is the same everywhere: it is known by it */
		if ((frame.kind != FRAME_MARK && !stacks__own(s, &frame.function)) ||
		    !stacks__own_place(s, &frame.place) || !stacks__own_place(s, &frame.defined) ||
		    (frame.package && !stacks__own(s, &frame.package)) ||
		    (frame.module && !stacks__own(s, &frame.module)) ||
		    (frame.build_id && !stacks__own(s, &frame.build_id)) ||
		    (frame.hash && !stacks__own(s, &frame.hash)))
			goto cleanup;
		frames[i] = stacks__frame(s, &frame);
		if (!frames[i])
			goto cleanup;
	}
	copy = stacks__stack(s, frames, stack->nframes, top);
cleanup:
	free(frames);
	return copy;
}

const struct stack *stacks__none(void)
{
	return &none;
}

void stacks__free(struct stacks *s)
{
	table__free(&s->stacks);
	table__free(&s->frames);
	arena__free(&s->arena);
	intern__free(&s->names);
}
