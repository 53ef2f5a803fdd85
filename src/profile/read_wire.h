/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Protobuf's wire format, as far as a message must be taken apart before its elements are unpacked
 * one by one; and memory with a limit for that.
 */
#ifndef XR_PROFILE_READ_WIRE_H
#define XR_PROFILE_READ_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include "base/budget.h"

/* How a field's value stands there. */
enum wire_type { WIRE_VARINT = 0, WIRE_FIXED = 1, WIRE_BYTES = 2, WIRE_SHORT = 5 };

/* One field of a message: bytes or a number. */
struct wire_field {
	uint64_t number, value;
	const uint8_t *data; /* NULL: `value` */
	size_t len;
};

/* wire__varint - the number at *@at, which goes behind it.  False: there is none before @end. */
bool wire__varint(const uint8_t **at, const uint8_t *end, uint64_t *value);

/* wire__field - the field at *@at, which goes behind it.  False: it cannot be one. */
bool wire__field(const uint8_t **at, const uint8_t *end, struct wire_field *f);

/* wire__allocator - for protobuf-c: what it takes is taken from @budget, which is borrowed. */
ProtobufCAllocator wire__allocator(struct budget *budget);

#endif
