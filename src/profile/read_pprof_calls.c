/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "base/clock.h"
#include "profile/names.h"
#include "profile/read_pprof.h"

#define CALLS_OF_SAMPLE 8u /* that a sample is in; further ones are left out */
#define ID_BITS		52 /* below the bit that numbers made here have: all is exact in JSON */
#define MS_MAX		(UINT64_MAX / NS_PER_MS / 4)

/* What the labels say of one call. */
struct says_call {
	int64_t name, request; /* strings */
	uint64_t id, ms, start_ms, error_ms;
	bool running, cut, ambiguous;
};

/* Is @word in the text of a label? */
static bool label__has(const struct pprof_file *p, const Pprof__Label *l, const char *word)
{
	size_t len;
	const char *text = read_pprof__string(p, l->str, &len);

	return text__find(text, len, word);
}

static uint64_t label__ms(const Pprof__Label *l)
{
	return l->num > 0 && (uint64_t)l->num < MS_MAX ? (uint64_t)l->num : 0;
}

static void says_call__label(const struct pprof_file *p, const Pprof__Label *l,
			     enum attribute_of of, struct says_call *says)
{
	switch (of) {
	case ATTRIBUTE_CALL_ID:
		says->id = l->num > 0 ? (uint64_t)l->num : 0;
		break;
	case ATTRIBUTE_CALL_MS:
		says->ms = label__ms(l);
		break;
	case ATTRIBUTE_CALL_START:
		says->start_ms = label__ms(l);
		break;
	case ATTRIBUTE_CALL_ERROR:
		says->error_ms = label__ms(l);
		break;
	case ATTRIBUTE_CALL_STATE:
		says->running = label__has(p, l, "running");
		says->cut = label__has(p, l, "cut");
		says->ambiguous = label__has(p, l, "ambiguous");
		break;
	case ATTRIBUTE_CALL_REQUEST:
		says->request = l->str;
		break;
	default:
		break;
	}
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

/*
 * The number of a call in all files: in another recording the same number has begun at another
 * time.  A number that was made here and written again stays as it is.
 */
static uint64_t says_call__id(const struct says_call *says)
{
	if (says->id >> ID_BITS == 1)
		return says->id;
	return map__hash(says->id, says->start_ms) >> (64 - ID_BITS) | 1ULL << ID_BITS;
}

/* The call that @says describes; NULL: no room. */
static struct profile_call *pprof__call(struct pprof_file *p, const struct says_call *says,
					const struct profile_call *outer)
{
	struct profile_call *call = map__get(&p->calls, says->id, says->start_ms);
	uint64_t began = says->start_ms * NS_PER_MS;

	if (call)
		return call;
	if (!budget__take(&p->budget, 3 * sizeof(struct map_entry)))
		return NULL;
	call = arena__alloc(&p->arena, sizeof(*call));
	if (!call)
		return NULL;
	*call = (struct profile_call){
		.id = says_call__id(says),
		.outer = outer,
		.name = pprof__keep(p, says->name),
		.request = says->request ? pprof__keep(p, says->request) : NULL,
		.began = began,
		.ended = says->running ? 0 : began + says->ms * NS_PER_MS,
		.seen = began + says->ms * NS_PER_MS,
		.error = says->error_ms * NS_PER_MS,
		.cut = says->cut,
		.ambiguous = says->ambiguous,
	};
	if (!call->name || map__put(&p->calls, says->id, says->start_ms, call))
		return NULL;
	return call;
}

const struct profile_call *read_pprof__call(struct pprof_file *p, const Pprof__Sample *s)
{
	struct says_call says[CALLS_OF_SAMPLE];
	const struct profile_call *call = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->n_label; i++) {
		const Pprof__Label *l = s->label[i];
		const enum attribute_of of = read_pprof__of(p, l);

		/* each begins with its name */
		if (of == ATTRIBUTE_CALL && n == CALLS_OF_SAMPLE)
			break;
		if (of == ATTRIBUTE_CALL)
			says[n++] = (struct says_call){.name = l->str};
		else if (n)
			says_call__label(p, l, of, &says[n - 1]);
	}
	for (size_t i = 0; i < n; i++) {
		const struct profile_call *inner =
			says[i].id ? pprof__call(p, &says[i], call) : NULL;

		call = inner ? inner : call;
	}
	return call;
}
