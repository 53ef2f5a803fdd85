/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Seeds for the fuzz targets, of what the tree has recorded:
 *
 *	seeds streams DIR FILE.stream.gz...	for `decode`: the begin of each stream, for each
 *format seeds images DIR FILE.gz...		for `walk`, `remote` and `checks`: what a walk read
 *of real R
 *	seeds elf DIR				for `elf`, `hidden` and `find`: the small file of
 *the unit tests
 */
#include <zlib.h>

#include "../streams/stream.h"
#include "elf_fixture.h"
#include "replay/recorded_memory.h"
#include "replay/recorded_walk.h"
#include "walk_input.h"

#define STREAM_BYTES 6000u /* of each stream */
#define MOMENTS	     2u	   /* of each image */

static void seed__write(const char *dir, const char *path, unsigned int number, const struct buf *b)
{
	const char *name = strrchr(path, '/');
	char to[512];
	FILE *out;

	snprintf(to, sizeof(to), "%s/%s.%u", dir, name ? name + 1 : path, number);
	out = fopen(to, "wb");
	if (!out || fwrite(b->data, 1, b->len, out) != b->len || fclose(out))
		fuzz__fail("cannot write %s", to);
}

/* The first whole items of a stream. */
static void seed__stream(const char *dir, const char *path)
{
	static uint8_t bytes[1u << 20];
	gzFile f = gzopen(path, "rb");
	int n = f ? gzread(f, bytes, sizeof(bytes)) : -1;
	struct stream_head head;
	struct buf b = {0};

	if (n < (int)sizeof(head))
		fuzz__fail("cannot read %s", path);
	gzclose(f);
	for (uint32_t format = 0; format < 2; format++) {
		memcpy(&head, bytes, sizeof(head));
		head.pad = format;
		b.len = 0;
		buf__add(&b, (const char *)&head, sizeof(head));
		for (size_t at = sizeof(head); at + sizeof(struct stream_item) <= (size_t)n;) {
			struct stream_item item;

			memcpy(&item, bytes + at, sizeof(item));
			if (item.size > (size_t)n - at - sizeof(item) || b.len > STREAM_BYTES)
				break;
			buf__add(&b, (const char *)bytes + at, sizeof(item) + item.size);
			at += sizeof(item) + item.size;
		}
		seed__write(dir, path, format, &b);
	}
	buf__free(&b);
}

/* What the walk reads of a moment, in that order. */
struct listener {
	const struct recorded_memory *memory;
	struct buf bytes;
};

static int listener__read(void *arg, char kind, uint64_t addr, void *to, uint32_t len)
{
	struct listener *l = arg;
	const uint8_t *from = recorded_memory__at(l->memory, addr, len);

	if (!from)
		return -1;
	memcpy(to, from, len);
	return buf__add(&l->bytes, to, len);
}

static uint16_t layout__number(const struct xr_layout *layout)
{
	const struct layouts_row *table;
	size_t count;

	table = layouts__table(&count);
	for (size_t i = 0; i < count; i++)
		if (!memcmp(&table[i].layout, layout, sizeof(*layout)))
			return (uint16_t)i;
	return 0;
}

static void seed__image(const char *dir, const char *path)
{
	struct recorded image;

	if (recorded__read(&image, path))
		fuzz__fail("cannot read %s", path);
	for (uint32_t i = 0; i < image.nmoments && i < MOMENTS; i++) {
		struct walk_input w = {.how = FUZZ_STREAM,
				       .looks = (uint8_t)(1 + 4 * i),
				       .layout = layout__number(&image.row.layout),
				       .flags = image.row.flags,
				       .row = image.row};
		struct recorded_memory memory;
		struct recorded_walk walk = {0};
		struct listener l = {.memory = &memory};
		struct buf b = {0};

		if (recorded_memory__new(&memory, &image, i))
			fuzz__fail("out of memory");
		walk.read = listener__read;
		walk.arg = &l;
		recorded_walk__run(&walk, &image.row);
		buf__add(&b, (const char *)&w, sizeof(w));
		buf__add(&b, l.bytes.data, l.bytes.len);
		if (b.len < 16384)
			seed__write(dir, path, i, &b);
		buf__free(&b);
		buf__free(&l.bytes);
		recorded_walk__free(&walk);
		recorded_memory__free(&memory);
	}
	recorded__free(&image);
}

/* A process with that file mapped, for `find`. */
static void seed__process(const char *dir, const uint8_t *file)
{
	static const char *const texts[] = {
		"4711 (R) S 1 2 3 0 -1 0 1 0 0 0 1 0 0 0 20 0 1 0 5555 1 1 1 1 1 140737488347136",
		"Name:\tR\nTgid:\t4711\nUid:\t0\t0\t0\t0\n",
		"0::/system.slice/r.service\n",
		"7f0000011000-7f0000012000 r-xp 00001000 00:01 77 /usr/lib/R/lib/libR.so\n",
		"/usr/lib/R/bin/exec/R",
	};
	uint16_t len = FIXTURE_SIZE;
	struct buf b = {0};

	buf__add(&b, "\1", 1);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		len = (uint16_t)strlen(texts[i]);
		buf__add(&b, (const char *)&len, sizeof(len));
		buf__str(&b, texts[i]);
	}
	len = FIXTURE_SIZE;
	buf__add(&b, (const char *)&len, sizeof(len));
	buf__add(&b, (const char *)file, FIXTURE_SIZE);
	for (uint64_t value = 0x7f0000022000u; b.len < 12000; value += 8)
		buf__add(&b, (const char *)&value, sizeof(value));
	seed__write(dir, "process", 0, &b);
	buf__free(&b);
}

static void seed__elf(const char *dir)
{
	static uint8_t file[FIXTURE_SIZE];
	struct buf b = {0};

	fixture__make(file, "2.2", "2022");
	buf__add(&b, (const char *)file, sizeof(file));
	seed__write(dir, "fixture", 0, &b);
	seed__process(dir, file);
	buf__free(&b);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "elf")) {
		seed__elf(argv[2]);
		return 0;
	}
	if (argc < 4)
		return 2;
	for (int i = 3; i < argc; i++) {
		if (!strcmp(argv[1], "streams"))
			seed__stream(argv[2], argv[i]);
		else
			seed__image(argv[2], argv[i]);
	}
	return 0;
}
