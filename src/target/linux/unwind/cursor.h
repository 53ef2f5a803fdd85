/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading of DWARF's numbers, which stays within its bytes: beyond them all are 0, and `bad` is
 * set. */
#ifndef XR_TARGET_LINUX_UNWIND_CURSOR_H
#define XR_TARGET_LINUX_UNWIND_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t cursor__left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* cursor__skip - past @n bytes; where they began, or NULL. */
static inline const uint8_t *cursor__skip(struct cursor *c, uint64_t n)
{
	const uint8_t *at = c->at;

	if (c->bad || n > cursor__left(c)) {
		c->bad = true;
		return NULL;
	}
	c->at += n;
	return at;
}

/* cursor__fixed - a little-endian number of @n bytes, at most 8. */
static inline uint64_t cursor__fixed(struct cursor *c, unsigned int n)
{
	const uint8_t *at = cursor__skip(c, n);
	uint64_t value = 0;

	for (unsigned int i = 0; at && i < n; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

/* cursor__leb - a LEB128; bits beyond 64 are lost. */
static inline uint64_t cursor__leb(struct cursor *c, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cursor__fixed(c, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !c->bad);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~0ULL << shift;
	return value;
}

static inline uint64_t cursor__uleb(struct cursor *c)
{
	return cursor__leb(c, false);
}

static inline int64_t cursor__sleb(struct cursor *c)
{
	return (int64_t)cursor__leb(c, true);
}

#endif
