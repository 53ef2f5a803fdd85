/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/seed.h"

#include "base/map.h"

/* Windows loads the program at a random address (mk/windows.mk). */
uint64_t seed__get(void)
{
	return map__hash((uintptr_t)seed__get, 0);
}
