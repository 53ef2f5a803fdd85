/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values of sample types and containers, as tables show them.
 */
#ifndef XR_CMD_VALUE_TEXT_H
#define XR_CMD_VALUE_TEXT_H

#include <stdint.h>
#include <string.h>

#include "profile/profile.h"

#define VALUE_TEXT  24u /* bytes, with the end */
#define VALUE_WIDTH 8	/* columns of a duration or a size, mostly */

/* value__text - "12.30 s", "4.5 ms", "1.5 MiB", or the number itself. */
void value__text(char text[VALUE_TEXT], enum profile_unit unit, uint64_t value);

/* value__called - what a sample type is called for people: "CPU time", "waiting", its own name. */
const char *value__called(struct profile_type type);

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
