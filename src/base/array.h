/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arrays that grow.
 */
#ifndef XR_BASE_ARRAY_H
#define XR_BASE_ARRAY_H

#include <stddef.h>

/*
 * array__room - see to it that *@array, with @n things of @size bytes in it and room for *@cap of
 * them, has room for one more: *@array may have moved.  -ENOMEM: all is as it was.
 */
int array__room(void **array, size_t n, size_t *cap, size_t size);

#endif
