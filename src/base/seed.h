/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What makes hashes that a target cannot foretell: with names and addresses of its choice it could
 * else have all of them in one place of a table.
 */
#ifndef XR_BASE_SEED_H
#define XR_BASE_SEED_H

#include <stdint.h>

/* seed__get - a random number, the same for as long as this program runs. */
uint64_t seed__get(void);

#endif
