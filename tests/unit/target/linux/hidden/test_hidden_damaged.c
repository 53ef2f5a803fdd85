/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* src/target/linux/hidden/hidden.c on damaged files: cut short, and with bits and bytes turned. */
#define _GNU_SOURCE
#include "target/linux/hidden/hidden_image.h"

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A result that a caller could not have used safely. */
static bool nonsense(int err, const struct hidden *d)
{
	if (err)
		return err > 0 || d->bc_body || d->bc_pc || d->gc_running || d->gc_begin ||
		       d->small || d->dups;
	if (!d->small != !d->large || !d->small != !d->nodes || !d->small != !d->how_memory ||
	    !d->small != !d->node_size || (d->dups && !d->small))
		return true;
	return !d->bc_body != !d->bc_pc || !d->bc_body != !d->how_lines ||
	       (d->gc_running && d->gc_size != 1 && d->gc_size != 4) || d->gc_begin > d->gc_end;
}

static void test_damaged(const char *path, size_t step, unsigned int flips)
{
	uint64_t random = 20240229;
	unsigned int bad = 0, cuts = 0;
	struct image whole, part;
	struct hidden d;
	GElf_Ehdr header;
	uint64_t table;
	Elf *elf;
	int err;

	if (!image__read(&whole, path)) {
		tap__ok(false, "%s: read", path);
		return;
	}
	for (size_t size = 0; size < whole.size; size += step, cuts++) {
		part.size = size;
		part.bytes = malloc(size ? size : 1);
		memcpy(part.bytes, whole.bytes, size);
		elf = image__elf(&part);
		memset(&d, 0, sizeof(d));
		err = elf ? derive(elf, &d) : -EBADMSG;
		bad += nonsense(err, &d);
		elf_end(elf);
		free(part.bytes);
	}
	tap__ok(!bad, "%s: %u truncations", path, cuts);

	elf = image__elf(&whole);
	gelf_getehdr(elf, &header);
	table = header.e_shoff;
	elf_end(elf);
	part.size = whole.size;
	part.bytes = malloc(whole.size);
	bad = 0;
	for (unsigned int i = 0; i < flips; i++) {
		memcpy(part.bytes, whole.bytes, whole.size);
		for (unsigned int n = 1 + next_random(&random) % 32; n; n--) {
			uint64_t r = next_random(&random);
			/* headers; dynamic tables; anywhere, mostly code; the section table */
			uint64_t from = i % 4 == 3 ? table : i % 4 == 0 ? 16 : 0;
			uint64_t span = i % 4 == 3   ? 64u * 30
					: i % 4 == 0 ? 1024
					: i % 4 == 1 ? whole.size / 8
						     : whole.size;

			if (from + r % span >= whole.size)
				continue;
			if (r >> 60 & 1)
				part.bytes[from + r % span] ^= (char)(1u << (r >> 61));
			else
				part.bytes[from + r % span] = r >> 59 & 1 ? -1 : 0;
		}
		elf = image__elf(&part);
		memset(&d, 0, sizeof(d));
		err = elf ? derive(elf, &d) : -EBADMSG;
		bad += nonsense(err, &d);
		elf_end(elf);
	}
	free(part.bytes);
	free(whole.bytes);
	tap__ok(!bad, "%s: %u damaged copies", path, flips);
}

TEST(hidden_damaged)
{
	const unsigned int part = tap__all() ? 1 : 16;
	char path[512];

	elf_version(EV_CURRENT);
	scratch = tap__folder();
	if (run("cc -O2 -DNO_RUNNING -fPIC -shared -w -nostdlib -s -o %s/bare.so "
		"tests/fixtures/hidden.c",
		scratch)) {
		snprintf(path, sizeof(path), "%s/bare.so", scratch);
		test_damaged(path, (size_t)16 * part, 20000 / part);
	}
	if (run("cp \"$(R RHOME)/lib/libR.so\" %s/libR.so", scratch)) {
		snprintf(path, sizeof(path), "%s/libR.so", scratch);
		test_damaged(path, (size_t)4096 * part, 400 / part);
	}
}
