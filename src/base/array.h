/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arrays that grow.
 */
#ifndef XR_BASE_ARRAY_H
#define XR_BASE_ARRAY_H

#include <stddef.h>

/*
 * array__room - @array is the address of a pointer to room for *@cap items of @size bytes.  Make
 * room for item @n, counted from 0: the array may move, and *@cap is a power of two.  -ENOMEM: all
 * is as it was.
 */
int array__room(void *array, size_t n, size_t *cap, size_t size);

#endif
