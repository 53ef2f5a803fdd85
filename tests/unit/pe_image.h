/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A small PE image as it lies in memory: four sections, R's variables exported, its version. */
#ifndef PE_IMAGE_H
#define PE_IMAGE_H

#include <stdint.h>
#include <string.h>

#include "target/pe.h"

#define BASE	   0x180000000ULL
#define IMAGE_SIZE 0x5000u
#define HEADER	   0x80u
#define OPTIONAL   (HEADER + 24)
#define SECTIONS   (OPTIONAL + 240)

enum { TEXT = 0x1000, RDATA = 0x2000, DATA = 0x3000, RSRC = 0x4000 };
enum {
	EXPORTS = RDATA,
	FUNCTIONS = RDATA + 0x100,
	NAMES = RDATA + 0x200,
	ORDINALS = RDATA + 0x300,
	STRINGS = RDATA + 0x400,
	LITERALS = RDATA + 0x800
};

/* What is exported, in the order of the names as a linker sorts them. */
static const struct {
	const char *name;
	uint32_t at;
} exported[] = {
	{"AAA", TEXT + 0x10},		{"R_GlobalContext", DATA + 0x10},
	{"R_NaInt", DATA + 0x18},	{"R_NilValue", DATA + 0x20},
	{"R_NilValueX", DATA + 0x28},	{"R_ReadOnly", RDATA + 0xf00},
	{"R_Srcref", EXPORTS + 0x30}, /* within the export table: forwarded */
	{"R_Straddling", DATA + 0xffc}, {"R_Zero", 0},
	{"zzz", TEXT + 0x20},
};

#define EXPORTED (sizeof(exported) / sizeof(exported[0]))

static inline void put16(uint8_t *image, uint32_t at, uint32_t value)
{
	image[at] = (uint8_t)value;
	image[at + 1] = (uint8_t)(value >> 8);
}

static inline void put32(uint8_t *image, uint32_t at, uint32_t value)
{
	put16(image, at, value);
	put16(image, at + 2, value >> 16);
}

static inline void put_section(uint8_t *image, uint32_t i, uint32_t at, uint32_t size,
			       uint32_t flags)
{
	put32(image, SECTIONS + 40 * i + 8, size);
	put32(image, SECTIONS + 40 * i + 12, at);
	put32(image, SECTIONS + 40 * i + 36, flags);
}

static inline void put_wide(uint8_t *image, uint32_t at, const char *text)
{
	for (; *text; text++, at += 2)
		put16(image, at, (unsigned char)*text);
}

static inline void put_literals(uint8_t *image)
{
	static const char text[] = "platform\0major\0004\0minor\0002.2\0year\0002022\0month";

	memcpy(image + LITERALS, text, sizeof(text));
}

static inline void put_resource(uint8_t *image, const char *version)
{
	put_wide(image, RSRC + 0x100, "FileVersion");
	put_wide(image, RSRC + 0x118, "9.9.9 ");
	put_wide(image, RSRC + 0x140, "R Version"); /* 20 bytes with its 0, then padding */
	put_wide(image, RSRC + 0x140 + 22, version);
}

static inline void image__make(uint8_t *image)
{
	uint32_t string = STRINGS;

	memset(image, 0, IMAGE_SIZE);
	memcpy(image, "MZ", 2);
	put32(image, 60, HEADER);
	memcpy(image + HEADER, "PE\0\0", 4);
	put16(image, HEADER + 4, PE_MACHINE_AMD64);
	put16(image, HEADER + 6, 4);
	put16(image, HEADER + 20, 240);
	put16(image, OPTIONAL, 0x20b);
	put32(image, OPTIONAL + 56, IMAGE_SIZE);
	put32(image, OPTIONAL + 108, 16);
	put32(image, OPTIONAL + 112, EXPORTS);
	put32(image, OPTIONAL + 116, 0x40);
	put32(image, OPTIONAL + 128, RSRC);
	put32(image, OPTIONAL + 132, 0x400);
	put_section(image, 0, TEXT, 0x1000, 0x60000020);
	put_section(image, 1, RDATA, 0x1000, 0x40000040);
	put_section(image, 2, DATA, 0x1000, 0xc0000040);
	put_section(image, 3, RSRC, 0x400, 0x40000040);
	put32(image, EXPORTS + 20, EXPORTED);
	put32(image, EXPORTS + 24, EXPORTED);
	put32(image, EXPORTS + 28, FUNCTIONS);
	put32(image, EXPORTS + 32, NAMES);
	put32(image, EXPORTS + 36, ORDINALS);
	for (uint32_t i = 0; i < EXPORTED; i++) {
		uint32_t ordinal = (i * 7 + 3) % EXPORTED;

		put32(image, FUNCTIONS + 4 * ordinal, exported[i].at);
		put16(image, ORDINALS + 2 * i, ordinal);
		put32(image, NAMES + 4 * i, string);
		strcpy((char *)image + string, exported[i].name);
		string += (uint32_t)strlen(exported[i].name) + 1;
	}
}

#endif
