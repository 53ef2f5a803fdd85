/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Containers in tables.
 */
#ifndef XR_CMD_CONTAINER_H
#define XR_CMD_CONTAINER_H

#include <string.h>

#define CONTAINER_SHORT 12u /* characters of an id, as others show it */

/*
 * container__shown - how many bytes of @id are shown: of an id its beginning, of a namespace
 * ("ns:4026532233") all.
 */
static inline size_t container__shown(const char *id)
{
	size_t len = strlen(id);

	return len > CONTAINER_SHORT && strncmp(id, "ns:", 3) != 0 ? CONTAINER_SHORT : len;
}

#endif
