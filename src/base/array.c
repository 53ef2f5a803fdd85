/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST 64

int array__room(void **array, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : FIRST;
	void *grown;

	if (n < *cap)
		return 0;
	grown = realloc(*array, more * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*cap = more;
	return 0;
}
