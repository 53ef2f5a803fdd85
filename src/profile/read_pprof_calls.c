/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "profile/names.h"
#include "profile/read_pprof.h"

#define CALLS_OF_SAMPLE 8u /* that a sample is in; further ones are left out */
#define ID_BITS		52 /* below the bit that numbers made here have: all is exact in JSON */

/* Where the labels of a call begin, with its name, from label @at on; s->n_label: nowhere. */
static size_t pprof__next_call(const struct pprof_file *p, const Pprof__Sample *s, size_t at)
{
	for (; at < s->n_label; at++) {
		const struct attribute *a = read_pprof__attribute(p, s->label[at]);

		if (a && a->of == ATTRIBUTE_CALL && a->field == offsetof(struct profile_call, name))
			break;
	}
	return at;
}

/* A text of the file for good; NULL: no room. */
static const char *pprof__keep(struct pprof_file *p, int64_t string)
{
	size_t len;
	const char *text = read_pprof__string(p, string, &len);
	const struct name *name = reading__name(p->r, text, len);
	char *copy = name ? arena__alloc(&p->arena, name->len + 1) : NULL;

	if (copy)
		memcpy(copy, name->text, name->len + 1);
	return copy;
}

/* Into @call what the labels from @from to before @to say; texts only if @texts. */
static void pprof__set(struct pprof_file *p, const Pprof__Sample *s, size_t from, size_t to,
		       struct profile_call *call, bool texts)
{
	*call = (struct profile_call){.ended = 1};
	for (size_t i = from; i < to; i++) {
		const Pprof__Label *l = s->label[i];
		const struct attribute *a = read_pprof__attribute(p, l);
		const struct attribute_value value = {
			texts && l->str ? pprof__keep(p, l->str) : NULL,
			l->num > 0 ? (uint64_t)l->num : 0,
		};

		if (a)
			call__set(a, call, &value);
	}
	call__set_all(call);
}

/*
 * The number of a call in all files: in another recording the same number has begun at another
 * time.  A number that was made here and written again stays as it is.
 */
static uint64_t call__id_in_files(const struct profile_call *call)
{
	if (call->id >> ID_BITS == 1)
		return call->id;
	return map__hash(call->id, call->began / NS_PER_MS) >> (64 - ID_BITS) | 1ULL << ID_BITS;
}

/* The call that the labels of @s from @from to before @to describe; NULL: none, or no room. */
static const struct profile_call *pprof__call(struct pprof_file *p, const Pprof__Sample *s,
					      size_t from, size_t to,
					      const struct profile_call *outer)
{
	struct profile_call says, *call;
	uint64_t id;

	pprof__set(p, s, from, to, &says, false);
	id = says.id;
	call = map__get(&p->calls, id, says.began);
	if (call || !id)
		return call;
	if (!budget__take(&p->budget, 3 * sizeof(struct map_entry)))
		return NULL;
	call = arena__alloc(&p->arena, sizeof(*call));
	if (!call)
		return NULL;
	pprof__set(p, s, from, to, call, true);
	call->id = call__id_in_files(call);
	call->outer = outer;
	if (!call->name || map__put(&p->calls, id, call->began, call))
		return NULL;
	return call;
}

const struct profile_call *read_pprof__call(struct pprof_file *p, const Pprof__Sample *s)
{
	const struct profile_call *call = NULL, *inner;
	size_t from = pprof__next_call(p, s, 0), to;

	for (size_t n = 0; from < s->n_label && n < CALLS_OF_SAMPLE; n++, from = to) {
		to = pprof__next_call(p, s, from + 1);
		inner = pprof__call(p, s, from, to, call);
		call = inner ? inner : call;
	}
	return call;
}
