/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file of the spool of `serve`, as it is and, with its sum and its lengths made right, beyond
 * those.  What is read lies within the file, and what is read of a file that was written is what
 * was in it.
 */
#include <zlib.h>

#include "fuzz.h"
#include "serve/linux/spool_file.h"

#define KIND 1u

static void spool__within(const uint8_t *all, size_t size, const struct spool_item *item)
{
	const uint8_t *data = item->data, *name = (const uint8_t *)item->name;

	if (item->size > SPOOL_BODY_MAX || data < all || data + item->size != all + size)
		fuzz__fail("a body of %zu bytes that is not the end", item->size);
	if (name < all || name + strlen(item->name) >= data || strlen(item->name) > SPOOL_NAME_MAX)
		fuzz__fail("a name that is not before it");
}

static int spool__parse(const uint8_t *bytes, size_t size, struct spool_item *item)
{
	uint8_t *all = malloc(size ? size : 1);
	int err;

	if (!all)
		fuzz__fail("out of memory");
	if (size)
		memcpy(all, bytes, size);
	err = spool_file__parse(all, size, KIND, item);
	if (!err)
		spool__within(all, size, item);
	free(all);
	return err;
}

/* @bytes as a file whose magic, kind, lengths and sum are right. */
static void spool__mended(const uint8_t *bytes, size_t size)
{
	struct spool_head head;
	struct spool_item item;
	uint8_t *all;
	bool nul;

	if (size < sizeof(head))
		return;
	all = malloc(size);
	if (!all)
		fuzz__fail("out of memory");
	memcpy(all, bytes, size);
	memcpy(&head, all, sizeof(head));
	memcpy(head.magic, "xrspool1", sizeof(head.magic));
	head.kind = KIND;
	head.sum = 0;
	head.name_len %= SPOOL_NAME_MAX + 1;
	if (head.name_len > size - sizeof(head))
		head.name_len = (uint32_t)(size - sizeof(head));
	head.size = (uint32_t)(size - sizeof(head) - head.name_len);
	memcpy(all, &head, sizeof(head));
	head.sum = (uint32_t)crc32(0, all, (uInt)size);
	memcpy(all, &head, sizeof(head));
	nul = memchr(all + sizeof(head), '\0', head.name_len);
	if (spool__parse(all, size, &item) != (nul ? -EBADMSG : 0))
		fuzz__fail("a good file is refused, or a name with a NUL is not");
	if (!nul &&
	    (item.began != head.began || item.samples != head.samples || item.size != head.size))
		fuzz__fail("it says something else");
	all[size - 1] ^= 1;
	if (!spool__parse(all, size, &item))
		fuzz__fail("a damaged file is taken");
	free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool_item item;

	spool__parse(data, size, &item);
	spool__mended(data, size);
	return 0;
}
