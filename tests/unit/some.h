/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers that are the same in each run (xorshift64). */
#ifndef XR_TESTS_SOME_H
#define XR_TESTS_SOME_H

#include <stdint.h>

/* some - one below @n, at most 2^31. */
static inline uint32_t some(uint32_t n)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % n;
}

#endif
