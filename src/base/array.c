/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 1024u
#define FIRST_ITEMS 4u

int array__room(void *array, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap;
	void *items, *grown;

	if (n < *cap)
		return 0;
	if (!more)
		more = FIRST_ITEMS;
	while (more <= n || more * size < FIRST_BYTES)
		more *= 2;
	memcpy(&items, array, sizeof(items)); /* a pointer of any type */
	grown = realloc(items, more * size);
	if (!grown)
		return -ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	*cap = more;
	return 0;
}
