/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/pe.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/r_version.h"

#define HEADER_AT_MAX (1u << 20) /* the DOS stub before the header is some hundred bytes */
#define IMAGE_MAX     (1u << 31)
#define OPTIONAL_MIN  112u /* up to the data directories, in PE32+ */
#define OPTIONAL_MAX  240u /* with all sixteen of them */
#define DIR_EXPORTS   0u
#define DIR_RESOURCES 2u
#define NAMES_MAX     65536u /* an ordinal has 16 bits */
#define SECTION_BYTES 40u
#define SCAN_CHUNK    (64u << 10)
#define SCAN_OVERLAP  128u	   /* what is looked for is shorter than this */
#define SCAN_MAX      (256u << 20) /* bytes searched for the version; R.dll has some 2 MiB */

#define SCN_CODE    0x00000020u
#define SCN_EXECUTE 0x20000000u
#define SCN_WRITE   0x80000000u

static uint16_t le16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t le32(const uint8_t *at)
{
	return le16(at) | (uint32_t)le16(at + 2) << 16;
}

static bool range__holds(struct pe_range r, uint32_t at, uint32_t len)
{
	return at >= r.at && at - r.at <= r.size && len <= r.size - (at - r.at);
}

/* Read @len bytes of the image at @at. */
static int pe__read(const struct pe *pe, uint32_t at, void *to, uint32_t len)
{
	struct pe_range whole = {0, pe->size};

	if (!range__holds(whole, at, len))
		return -EBADMSG;
	return mem_reader__read(&pe->memory, pe->base + at, to, len);
}

static int pe__damaged(const char *name, struct errmsg *f)
{
	return errmsg__set(f, -EBADMSG, "%s is damaged: its headers contradict each other", name);
}

static struct pe_range pe__directory(const struct pe *pe, const uint8_t *optional, uint32_t size,
				     uint32_t which)
{
	struct pe_range whole = {0, pe->size}, r = {0, 0};
	const uint8_t *at = optional + OPTIONAL_MIN + which * 8;

	if (which >= le32(optional + 108) || OPTIONAL_MIN + (which + 1) * 8 > size)
		return r;
	r = (struct pe_range){le32(at), le32(at + 4)};
	return r.at && range__holds(whole, r.at, r.size) ? r : (struct pe_range){0, 0};
}

static int pe__sections(struct pe *pe, uint32_t at, uint32_t n)
{
	struct pe_range whole = {0, pe->size};
	uint8_t header[SECTION_BYTES];
	int err;

	if (n > PE_SECTIONS)
		return -EBADMSG;
	for (uint32_t i = 0; i < n; i++) {
		struct pe_section *s = &pe->sections[i];

		err = pe__read(pe, at + i * SECTION_BYTES, header, sizeof(header));
		if (err)
			return err;
		s->range = (struct pe_range){le32(header + 12), le32(header + 8)};
		s->flags = le32(header + 36);
		if (!range__holds(whole, s->range.at, s->range.size))
			return -EBADMSG;
	}
	pe->nsections = n;
	return 0;
}

int pe__open(struct pe *pe, const struct mem_reader *memory, uint64_t base, const char *name,
	     struct errmsg *f)
{
	uint8_t dos[64], header[24], optional[OPTIONAL_MAX] = {0};
	uint32_t at, size;
	int err;

	*pe = (struct pe){.memory = *memory, .base = base, .size = HEADER_AT_MAX + 4096};
	err = pe__read(pe, 0, dos, sizeof(dos));
	if (err)
		goto unreadable;
	at = le32(dos + 60);
	if (le16(dos) != 0x5a4d || at < sizeof(dos) || at > HEADER_AT_MAX)
		return errmsg__set(f, -EBADMSG, "%s is not a Windows program or DLL", name);
	err = pe__read(pe, at, header, sizeof(header));
	if (err)
		goto unreadable;
	if (le32(header) != 0x4550)
		return errmsg__set(f, -EBADMSG, "%s is not a Windows program or DLL", name);
	pe->machine = le16(header + 4);
	if (pe->machine != PE_MACHINE_AMD64)
		return errmsg__set(f, -ENOTSUP,
				   "%s is %s: only R for 64-bit Windows on x86_64 is supported",
				   name,
				   pe->machine == PE_MACHINE_I386    ? "for 32-bit Windows"
				   : pe->machine == PE_MACHINE_ARM64 ? "for ARM64"
								     : "for another machine");
	size = le16(header + 20);
	if (size < OPTIONAL_MIN)
		return pe__damaged(name, f);
	err = pe__read(pe, at + 24, optional, size < OPTIONAL_MAX ? size : OPTIONAL_MAX);
	if (err)
		goto unreadable;
	pe->size = le32(optional + 56);
	if (le16(optional) != 0x20b || pe->size > IMAGE_MAX || pe->size < at + 24 + size)
		return pe__damaged(name, f);
	err = pe__sections(pe, at + 24 + size, le16(header + 6));
	if (err == -EBADMSG)
		return pe__damaged(name, f);
	if (err)
		goto unreadable;
	size = size < OPTIONAL_MAX ? size : OPTIONAL_MAX;
	pe->exports = pe__directory(pe, optional, size, DIR_EXPORTS);
	pe->resources = pe__directory(pe, optional, size, DIR_RESOURCES);
	return 0;

unreadable:
	return errmsg__set(f, err, "the headers of %s cannot be read: %s", name, strerror(-err));
}

/* The export table: how many there are, and where its three arrays are. */
struct exports {
	uint32_t nfunctions, nnames;
	uint32_t functions, names, ordinals;
};

static int exports__read(const struct pe *pe, struct exports *e)
{
	struct pe_range whole = {0, pe->size};
	uint8_t dir[40];
	int err;

	if (pe->exports.size < sizeof(dir))
		return -EBADMSG;
	err = pe__read(pe, pe->exports.at, dir, sizeof(dir));
	if (err)
		return err;
	*e = (struct exports){
		.nfunctions = le32(dir + 20),
		.nnames = le32(dir + 24),
		.functions = le32(dir + 28),
		.names = le32(dir + 32),
		.ordinals = le32(dir + 36),
	};
	if (e->nfunctions > NAMES_MAX || e->nnames > NAMES_MAX ||
	    !range__holds(whole, e->functions, e->nfunctions * 4) ||
	    !range__holds(whole, e->names, e->nnames * 4) ||
	    !range__holds(whole, e->ordinals, e->nnames * 2))
		return -EBADMSG;
	return 0;
}

/* How the name at @at compares with @want, as strcmp() does; *err is set when it cannot be read. */
static int name__compare(const struct pe *pe, uint32_t at, const char *want, int *err)
{
	char name[PE_NAME_MAX + 1];
	size_t len = strlen(want) + 1;

	*err = -EBADMSG;
	if (len > sizeof(name) || at >= pe->size)
		return 0;
	if (len > pe->size - at)
		len = pe->size - at;
	*err = pe__read(pe, at, name, (uint32_t)len);
	return *err ? 0 : strncmp(name, want, len);
}

/* The address of the export @name, 0: there is none.  Names are sorted, as in every PE file. */
static int exports__find(const struct pe *pe, const struct exports *e, const char *name,
			 uint32_t *value)
{
	uint32_t low = 0, high = e->nnames, middle, ordinal;
	uint8_t word[4];
	int err, order;

	*value = 0;
	while (low < high) {
		middle = low + (high - low) / 2;
		err = pe__read(pe, e->names + middle * 4, word, 4);
		if (err)
			return err;
		order = name__compare(pe, le32(word), name, &err);
		if (err)
			return err;
		if (order < 0) {
			low = middle + 1;
			continue;
		}
		if (order > 0) {
			high = middle;
			continue;
		}
		err = pe__read(pe, e->ordinals + middle * 2, word, 2);
		ordinal = le16(word);
		if (!err && ordinal >= e->nfunctions)
			err = -EBADMSG;
		if (!err)
			err = pe__read(pe, e->functions + ordinal * 4, word, 4);
		if (err)
			return err;
		*value = le32(word);
		return 0;
	}
	return 0;
}

/* Can a variable of 8 bytes be at @at? */
static bool pe__variable(const struct pe *pe, uint32_t at)
{
	for (uint32_t i = 0; i < pe->nsections; i++)
		if ((pe->sections[i].flags & SCN_WRITE) &&
		    range__holds(pe->sections[i].range, at, 8))
			return true;
	return false;
}

int pe__symbols(const struct pe *pe, struct pe_symbol *want, size_t n)
{
	struct exports e;
	int err, found = 0;

	for (size_t i = 0; i < n; i++)
		want[i].value = 0;
	err = exports__read(pe, &e);
	for (size_t i = 0; !err && i < n; i++) {
		uint32_t at;

		err = exports__find(pe, &e, want[i].name, &at);
		/* an address within the table itself is the name of a function elsewhere */
		if (err || !at || range__holds(pe->exports, at, 1) || !pe__variable(pe, at))
			continue;
		want[i].value = pe->base + at;
		found++;
	}
	return err ? err : found;
}

/* "4.2.2", and nothing more, at the start of the @n characters of UTF-16 @text. */
static int version__parse(const uint8_t *text, size_t n, char version[16])
{
	unsigned int dots = 0, len = 0;
	char found[16];

	for (; len < n && len < sizeof(found) - 1; len++) {
		uint16_t c = le16(text + 2 * len);

		if (c != '.' && (c < '0' || c > '9'))
			break;
		if (c == '.' && (!len || found[len - 1] == '.'))
			return -ENOENT;
		dots += c == '.';
		found[len] = (char)c;
	}
	if (dots != 2 || found[len - 1] == '.')
		return -ENOENT;
	memcpy(version, found, len);
	version[len] = '\0';
	return 0;
}

/*
 * The value of "R Version" in @len bytes of a version resource: all in UTF-16, names ended by 0,
 * values aligned to 4 bytes.
 */
static int resource__version(const char *data, size_t len, char version[16])
{
	static const char name[] = "R\0 \0V\0e\0r\0s\0i\0o\0n\0\0"; /* and one more 0 */
	const uint8_t *bytes = (const uint8_t *)data;

	for (size_t i = 0; i + sizeof(name) <= len; i += 2) {
		size_t at = i + sizeof(name);

		if (memcmp(data + i, name, sizeof(name)))
			continue;
		while (at + 2 <= len && at < i + sizeof(name) + 4 && !le16(bytes + at))
			at += 2;
		if (!version__parse(bytes + at, (len - at) / 2, version))
			return 0;
	}
	return -ENOENT;
}

/* Search @range of the image piecewise with @find. */
static int pe__scan(const struct pe *pe, struct pe_range range, uint64_t *budget, char *chunk,
		    int (*find)(const char *data, size_t len, char version[16]), char version[16])
{
	while (range.size > SCAN_OVERLAP && *budget >= SCAN_CHUNK) {
		uint32_t n = range.size < SCAN_CHUNK ? range.size : SCAN_CHUNK;

		if (pe__read(pe, range.at, chunk, n))
			return -ENOENT;
		if (!find(chunk, n, version))
			return 0;
		if (n == range.size)
			break;
		range.at += n - SCAN_OVERLAP;
		range.size -= n - SCAN_OVERLAP;
		*budget -= SCAN_CHUNK;
	}
	return -ENOENT;
}

int pe__version(const struct pe *pe, char version[16])
{
	uint64_t budget = SCAN_MAX;
	char *chunk = malloc(SCAN_CHUNK);
	int err;

	version[0] = '\0';
	if (!chunk)
		return -ENOMEM;
	err = pe__scan(pe, pe->resources, &budget, chunk, resource__version, version);
	for (uint32_t i = 0; err && i < pe->nsections; i++) {
		const struct pe_section *s = &pe->sections[i];

		if (!(s->flags & (SCN_CODE | SCN_EXECUTE | SCN_WRITE)))
			err = pe__scan(pe, s->range, &budget, chunk, r_version__parse, version);
	}
	free(chunk);
	if (err)
		version[0] = '\0';
	return err;
}
