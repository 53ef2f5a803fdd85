/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PE images in memory: exports and R's version, of whole, damaged and made-up images. */

#include "pe_image.h"
#include "some.h"
#include "tap.h"

#define FUZZ_ROUNDS 100000

/* A target: @size bytes at BASE, and nothing around them. */
struct memory {
	uint8_t *bytes;
	size_t size;
	unsigned int reads;
};

static int memory__read(void *arg, uint64_t addr, void *to, size_t len)
{
	struct memory *m = arg;

	m->reads++;
	if (addr < BASE || addr - BASE > m->size || len > m->size - (addr - BASE))
		return -EFAULT;
	memcpy(to, m->bytes + (addr - BASE), len);
	return 0;
}

/* The image is copied to a block of its exact size, so that a read behind it is noticed. */
static int open_image(const uint8_t *image, size_t size, struct memory *m, struct pe *pe,
		      struct errmsg *f)
{
	struct mem_reader reader = {.read = memory__read, .arg = m};

	*m = (struct memory){.bytes = malloc(size ? size : 1), .size = size};
	tap__bail_if(!m->bytes, "no memory");
	memcpy(m->bytes, image, size);
	return pe__open(pe, &reader, BASE, "R.dll", f);
}

TEST(open)
{
	static const struct {
		uint32_t at, size;
		uint64_t to;
		int err;
		const char *says, *what;
	} rows[] = {
		{0, 0, 0, 0, "", "a whole image"},
		{0, 1, 'Z', -EBADMSG, "", "no MZ"},
		{60, 4, 0x7fffffff, -EBADMSG, "", "the header far away"},
		{HEADER, 2, 0, -EBADMSG, "", "no PE"},
		{HEADER + 4, 2, PE_MACHINE_I386, -ENOTSUP, "32-bit", "32 bits"},
		{HEADER + 4, 2, PE_MACHINE_ARM64, -ENOTSUP, "ARM64", "another machine"},
		{HEADER + 20, 2, 100, -EBADMSG, "", "an optional header too short"},
		{OPTIONAL, 2, 0x10b, -EBADMSG, "", "PE32 for a 64-bit machine"},
		{OPTIONAL + 56, 4, 0xffffffff, -EBADMSG, "", "an image of 4 GiB"},
		{HEADER + 6, 2, 97, -EBADMSG, "", "too many sections"},
		{SECTIONS + 88, 4, 0xfffff000, -EBADMSG, "",
		 "a section that ends behind the image"},
	};
	uint8_t image[IMAGE_SIZE];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct errmsg f = {""};
		struct memory m;
		struct pe pe;
		int err;

		image__make(image);
		memcpy(image + rows[i].at, &rows[i].to, rows[i].size);
		err = open_image(image, IMAGE_SIZE, &m, &pe, &f);
		free(m.bytes);
		tap__ok(err == rows[i].err && strstr(f.text, rows[i].says), "%s: %s", rows[i].what,
			f.text);
	}
}

TEST(symbols)
{
	struct pe_symbol want[] = {
		{"R_GlobalContext", 1},
		{"R_NilValue", 1},
		{"R_NilValueX", 1},
		{"R_NilValu", 1},
		{"R_ReadOnly", 1},
		{"R_Srcref", 1},
		{"R_Zero", 1},
		{"R_Straddling", 1},
		{"AAA", 1},
		{"R_DollarSymbol", 1},
		{"zzz", 1},
		{"zzzz", 1},
		{"", 1},
	};
	const size_t n = COUNT(want);
	uint8_t image[IMAGE_SIZE];
	struct memory m;
	struct pe pe;
	bool none = true;
	int found;

	image__make(image);
	tap__bail_if(open_image(image, IMAGE_SIZE, &m, &pe, NULL), "the image is not accepted");
	found = pe__symbols(&pe, want, n);
	tap__ok(found == 3 && want[0].value == BASE + DATA + 0x10 &&
			want[1].value == BASE + DATA + 0x20 && want[2].value == BASE + DATA + 0x28,
		"the variables' addresses, by name and ordinal (%d found)", found);
	for (size_t i = 3; i < n; i++)
		none = none && !want[i].value;
	tap__ok(none,
		"not what is forwarded, code, read-only, cut by the section's end or not there");
	tap__ok(m.reads < 200, "in few reads (%u)", m.reads);

	put32(m.bytes, EXPORTS + 24, 0x10000000);
	tap__ok(pe__symbols(&pe, want, n) == -EBADMSG && !want[0].value, "too many names");
	put32(m.bytes, EXPORTS + 24, EXPORTED);
	put32(m.bytes, EXPORTS + 32, IMAGE_SIZE - 4);
	tap__ok(pe__symbols(&pe, want, n) == -EBADMSG, "names that end behind the image");
	put32(m.bytes, EXPORTS + 32, NAMES);
	for (uint32_t i = 0; i < EXPORTED; i++)
		put16(m.bytes, ORDINALS + 2 * i, 0xffff);
	tap__ok(pe__symbols(&pe, want, 1) == -EBADMSG && !want[0].value, "an ordinal too large");
	pe.exports.size = 0;
	tap__ok(pe__symbols(&pe, want, n) == -EBADMSG, "no export table");
	free(m.bytes);
}

TEST(version)
{
	static const struct {
		bool literals;
		const char *resource, *want, *what;
	} rows[] = {
		{false, NULL, "", "no version"},
		{true, NULL, "4.2.2", "from the constants"},
		{true, "3.6.3  (2020-02-29)", "3.6.3", "from the resource, which comes first"},
		{false, "4.6.1 Patched (2026-05-01)", "4.6.1", "patched"},
		{false, "Under development (unstable)", "", "words for a number"},
		{false, "4.6", "", "two numbers"},
		{false, "1.2.3.4.5.6.7.8.9.10.11", "", "many numbers"},
		{false, NULL, "", "cut off at the section's end"},
	};
	uint8_t image[IMAGE_SIZE];

	for (size_t i = 0; i < COUNT(rows); i++) {
		char version[16] = "x";
		struct memory m;
		struct pe pe;
		int err;

		image__make(image);
		if (rows[i].literals)
			put_literals(image);
		if (rows[i].resource)
			put_resource(image, rows[i].resource);
		if (i + 1 == COUNT(rows))
			put_wide(image, RSRC + 0x400 - 20, "R Version");
		tap__bail_if(open_image(image, IMAGE_SIZE, &m, &pe, NULL), "it is not accepted");
		err = pe__version(&pe, version);
		tap__ok(err == (*rows[i].want ? 0 : -ENOENT) && !strcmp(version, rows[i].want),
			"%s: \"%s\"", rows[i].what, version);
		free(m.bytes);
	}
}

/* Whatever comes out lies in the image, and no read goes beyond (the sanitizers watch). */
static bool survives(const uint8_t *image, size_t size)
{
	struct pe_symbol want[] = {{"R_GlobalContext", 0}, {"R_NilValue", 0}, {"R_Srcref", 0}};
	char version[16];
	struct memory m;
	struct pe pe;
	bool good = true;

	if (!open_image(image, size, &m, &pe, NULL)) {
		pe__symbols(&pe, want, 3);
		for (int i = 0; i < 3; i++)
			good = good && (!want[i].value ||
					(want[i].value > BASE && want[i].value - BASE < pe.size));
		pe__version(&pe, version);
		good = good && strlen(version) < sizeof(version);
		good = good && m.reads < 100000;
	}
	free(m.bytes);
	return good;
}

TEST(hostile)
{
	/* the places that matter: headers, tables, strings, the resource */
	static const uint32_t from[] = {0,     HEADER,	 SECTIONS, EXPORTS,  FUNCTIONS,
					NAMES, ORDINALS, STRINGS,  LITERALS, RSRC};
	uint8_t whole[IMAGE_SIZE], image[IMAGE_SIZE];
	bool good = true;

	image__make(whole);
	put_literals(whole);
	put_resource(whole, "4.4.1 ");
	for (size_t size = 0; size <= IMAGE_SIZE && good; size += size < RDATA + 0x800 ? 1 : 37)
		good = survives(whole, size);
	tap__ok(good, "cut at every length");
	for (int round = 0; round < FUZZ_ROUNDS && good; round++) {
		memcpy(image, whole, sizeof(image));
		for (uint32_t n = some(4) + 1; n; n--)
			image[(from[some(COUNT(from))] + some(0x180)) % IMAGE_SIZE] =
				(uint8_t)some(256);
		good = survives(image, IMAGE_SIZE);
	}
	tap__ok(good, "%d damaged images", FUZZ_ROUNDS);
}
