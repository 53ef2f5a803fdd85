/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/read_wire.h"

#include <stdlib.h>

bool wire__varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

bool wire__field(const uint8_t **at, const uint8_t *end, struct wire_field *f)
{
	uint64_t tag, len;

	*f = (struct wire_field){0};
	if (!wire__varint(at, end, &tag))
		return false;
	f->number = tag >> 3;
	if (!f->number)
		return false;
	switch (tag & 7) {
	case WIRE_VARINT:
		return wire__varint(at, end, &f->value);
	case WIRE_FIXED:
		len = 8;
		break;
	case WIRE_SHORT:
		len = 4;
		break;
	case WIRE_BYTES:
		if (!wire__varint(at, end, &len))
			return false;
		break;
	default:
		return false;
	}
	if (len > (uint64_t)(end - *at))
		return false;
	f->data = *at;
	f->len = (size_t)len;
	*at += len;
	return true;
}

/* What comes before a block that protobuf-c was given. */
struct block {
	size_t size;
	size_t pad; /* aligned to 16 */
};

static void *wire__alloc(void *arg, size_t size)
{
	struct budget *budget = arg;
	struct block *b;

	if (size > SIZE_MAX / 2 || !budget__take(budget, sizeof(*b) + size))
		return NULL;
	b = malloc(sizeof(*b) + size);
	if (!b) {
		budget__give(budget, sizeof(*b) + size);
		return NULL;
	}
	b->size = size;
	return b + 1;
}

static void wire__release(void *arg, void *data)
{
	struct budget *budget = arg;
	struct block *b = data;

	if (!b)
		return;
	b--;
	budget__give(budget, sizeof(*b) + b->size);
	free(b);
}

ProtobufCAllocator wire__allocator(struct budget *budget)
{
	return (ProtobufCAllocator){
		.alloc = wire__alloc, .free = wire__release, .allocator_data = budget};
}
