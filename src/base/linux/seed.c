/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/seed.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/map.h"

uint64_t seed__get(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes of the kernel's */
	uint64_t words[2] = {0};

	if (random)
		memcpy(words, random, sizeof(words));
	return map__hash(words[0], words[1]); /* libc uses these words, too: mix them */
}
