/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/description.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of @text up to the empty one that ends it. */
static size_t text__size(const char *text, size_t size)
{
	const char *at = describe__next(text, text + size);

	while (at && *at)
		at = describe__next(at, text + size);
	return at ? (size_t)(at - text) + 1 : size;
}

struct description *description__new(const char *text, size_t size)
{
	struct description *d;
	const char *key, *value, *end;

	size = size ? text__size(text, size) : 0;
	d = malloc(sizeof(*d) + size + 1);
	if (!d)
		return NULL;
	*d = (struct description){.holders = 1};
	memcpy(d->text, text, size);
	d->text[size] = '\0';
	end = d->text + size + 1;
	d->command = d->text;
	key = describe__next(d->text, end);
	while (key && *key && d->nlabels <= DESCRIBE_LABELS) {
		value = describe__next(key, end);
		if (!value)
			break;
		d->labels[d->nlabels++] = (struct profile_label){.key = key, .value = value};
		key = describe__next(value, end);
	}
	return d;
}

struct description *description__hold(struct description *d)
{
	if (d)
		d->holders++;
	return d;
}

void description__drop(struct description *d)
{
	if (d && !--d->holders)
		free(d);
}
