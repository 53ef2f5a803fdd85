/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SHA-256 (FIPS 180-4).  No library that this program is linked with has it.
 */
#ifndef XR_BASE_SHA256_H
#define XR_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32u /* bytes of a digest */

/* Starts by sha256__begin(). */
struct sha256 {
	uint32_t state[8];
	uint64_t len;	   /* bytes that were added */
	uint8_t block[64]; /* those that are not hashed yet */
};

void sha256__begin(struct sha256 *s);
void sha256__add(struct sha256 *s, const void *data, size_t len);

/* sha256__end - the digest of all that was added.  @s is used up. */
void sha256__end(struct sha256 *s, uint8_t digest[SHA256_SIZE]);

#endif
