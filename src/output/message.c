/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/message.h"

#define WIRE_BYTES 2u /* how the value of a field stands there: its length, and its bytes */

static void message__append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	struct message_buffer *b = (struct message_buffer *)buffer;

	if (!b->err)
		b->err = buf__add(b->out, data, len);
}

struct message_buffer message__buffer(struct buf *out)
{
	return (struct message_buffer){{.append = message__append}, out, 0};
}

void message__begin(ProtobufCBuffer *to, unsigned int number, uint64_t len)
{
	uint8_t head[12];
	size_t n = 0;

	head[n++] = (uint8_t)(number << 3 | WIRE_BYTES);
	for (; len >= 0x80; len >>= 7)
		head[n++] = (uint8_t)(len | 0x80);
	head[n++] = (uint8_t)len;
	to->append(to, n, head);
}

void message__bytes(ProtobufCBuffer *to, unsigned int number, const void *data, size_t len)
{
	message__begin(to, number, len);
	if (len)
		to->append(to, len, data);
}

void message__element(ProtobufCBuffer *to, unsigned int number, const ProtobufCMessage *message)
{
	message__begin(to, number, protobuf_c_message_get_packed_size(message));
	protobuf_c_message_pack_to_buffer(message, to);
}
