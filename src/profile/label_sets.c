/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/label_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/attributes.h"

struct label_set {
	uint64_t id;
	size_t size; /* bytes */
	size_t n;
	struct profile_label labels[XR_LABELS_MAX];
	char text[]; /* terminated */
};

/* The text after the one at @at, before @end; NULL: there is none. */
static const char *text__next(const char *at, const char *end)
{
	const char *next = at ? memchr(at, '\0', (size_t)(end - at)) : NULL;

	return next && next + 1 < end ? next + 1 : NULL;
}

static void label_set__add(struct label_set *set, const char *key, const char *value)
{
	size_t i = set->n;

	if (!*key || set->n == XR_LABELS_MAX || attribute__by_pprof(key, strlen(key)) ||
	    labels__value(set->labels, set->n, key))
		return;
	for (; i && strcmp(set->labels[i - 1].key, key) > 0; i--)
		set->labels[i] = set->labels[i - 1];
	set->labels[i] = (struct profile_label){.key = key, .value = value};
	set->n++;
}

static void label_sets__drop(struct label_sets *s, struct label_set **at)
{
	if (*at)
		budget__give(s->budget, (*at)->size);
	free(*at);
	*at = NULL;
}

static struct label_set *label_sets__get(const struct label_sets *s, uint64_t id)
{
	for (uint32_t i = 1; i <= LABEL_SETS; i++) {
		struct label_set *set = s->sets[(s->next - i) % LABEL_SETS];

		if (set && set->id == id)
			return set;
	}
	return NULL;
}

/* Take @size bytes for a new set; those sent first make room.  False: it does not fit alone. */
static bool label_sets__room(struct label_sets *s, size_t size)
{
	for (uint32_t i = 0; i < LABEL_SETS; i++) {
		label_sets__drop(s, &s->sets[(s->next + i) % LABEL_SETS]);
		if (budget__take(s->budget, size))
			return true;
	}
	return false;
}

int label_sets__put(struct label_sets *s, uint64_t id, const char *text, size_t len)
{
	struct label_set **at = &s->sets[s->next % LABEL_SETS], *set;
	const size_t size = sizeof(*set) + len + 1;
	const char *key, *value, *end;

	if (label_sets__get(s, id))
		return 0;
	if (!label_sets__room(s, size))
		return -ENOSPC;
	set = malloc(size);
	if (!set) {
		budget__give(s->budget, size);
		return -ENOSPC;
	}
	*set = (struct label_set){.id = id, .size = size};
	memcpy(set->text, text, len);
	set->text[len] = '\0';
	end = set->text + len + 1;
	for (key = set->text; (value = text__next(key, end)); key = text__next(value, end))
		label_set__add(set, key, value);
	*at = set;
	s->next++;
	return 0;
}

const struct profile_label *label_sets__find(const struct label_sets *s, uint64_t id, size_t *n)
{
	const struct label_set *set = label_sets__get(s, id);

	*n = set ? set->n : 0;
	return set ? set->labels : NULL;
}

void label_sets__free(struct label_sets *s)
{
	for (uint32_t i = 0; i < LABEL_SETS; i++)
		label_sets__drop(s, &s->sets[i]);
}
