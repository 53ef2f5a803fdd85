/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Protobuf messages that are written one element after another: the fields of a message may stand
 * in any number of pieces.
 */
#ifndef XR_OUTPUT_MESSAGE_H
#define XR_OUTPUT_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "base/buf.h"

/* Where protobuf-c puts bytes: into a buffer. */
struct message_buffer {
	ProtobufCBuffer base;
	struct buf *out;
	int err; /* the first there was */
};

struct message_buffer message__buffer(struct buf *out);

/*
 * message__begin - the beginning of field @number, below 16, of the message around it, which holds
 * @len bytes.  message__bytes, message__element - all of one: bytes, or a message.
 */
void message__begin(ProtobufCBuffer *to, unsigned int number, uint64_t len);
void message__bytes(ProtobufCBuffer *to, unsigned int number, const void *data, size_t len);
void message__element(ProtobufCBuffer *to, unsigned int number, const ProtobufCMessage *message);

#endif
