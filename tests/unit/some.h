/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers that are the same in each run (xorshift64). */
#ifndef XR_TESTS_SOME_H
#define XR_TESTS_SOME_H

#include <stdint.h>

static inline uint64_t some64(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* some - one below @n, at most 2^31. */
static inline uint32_t some(uint32_t n)
{
	return (uint32_t)(some64() >> 33) % n;
}

#endif
