/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/pprof_parts.h"

#include <string.h>

/* Where protobuf-c puts the bytes of a message. */
struct pprof_buffer {
	ProtobufCBuffer base;
	struct gzip *gzip;
};

static void pprof__append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	gzip__add(((struct pprof_buffer *)buffer)->gzip, data, len);
}

int pprof__put(struct pprof *p, const Pprof__Profile *part)
{
	struct pprof_buffer buffer = {{.append = pprof__append}, &p->gzip};

	protobuf_c_message_pack_to_buffer(&part->base, &buffer.base);
	return p->gzip.err;
}

int pprof__element(struct pprof *p, unsigned int field, const ProtobufCMessage *element)
{
	struct pprof_buffer buffer = {{.append = pprof__append}, &p->gzip};

	message__element(&buffer.base, field, element);
	return p->gzip.err;
}

int pprof__string(struct pprof *p, const char *text, size_t len, int64_t *string)
{
	struct pprof_buffer buffer = {{.append = pprof__append}, &p->gzip};

	*string = p->nstrings++;
	message__bytes(&buffer.base, PPROF_STRING, text, len);
	return p->gzip.err;
}

int pprof__text(struct pprof *p, const char *text, int64_t *string)
{
	return pprof__string(p, text, strlen(text), string);
}

int pprof__name(struct pprof *p, const struct name *name, int64_t *string)
{
	int64_t known;
	int err;

	*string = 0;
	if (!name)
		return 0;
	known = (int64_t)map__number(&p->names, (uintptr_t)name, 0);
	if (known) {
		*string = known - 1;
		return 0;
	}
	err = pprof__string(p, name->safe, name->safe_len, string);
	if (!err)
		err = map__put_number(&p->names, (uintptr_t)name, 0, *string + 1);
	return err;
}
