/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/layouts.h"

#define V(major, minor, patch) LAYOUTS_VERSION(major, minor, patch)

/*
 * Offsets computed by compiling RCNTXT (src/include/Defn.h) of every R release from 3.0.0 to
 * 4.6.1 for each platform; those for Linux on x86_64 were checked on running R 4.0, 4.2, 4.5 and
 * 4.6.  Up to cloenv only the jump buffer makes a difference, after it releases do: 3.4 brought
 * the byte code fields, 4.0 bcprottop, 4.4 relpc.  0: no such field.
 *
 * whole: how the profiler writes the subscript in a[[2.7]], see struct xr_layout.
 * data: where a vector's data begins; ALTREP made room for truelength in 3.5 (Rinternals.h).
 */
#define ROW(a, f, l, sys, cal, clo, body, pc, rel, src, data, alt, whole)                          \
	{                                                                                          \
		.arch = (a), .first = (f), .last = (l), .layout = {                                \
			.read_plain = (clo) + 8,                                                   \
			.read_lines = (src) + 8,                                                   \
			.nextcontext = 0,                                                          \
			.callflag = 8,                                                             \
			.sysparent = (sys),                                                        \
			.callfun = (cal)-16,                                                       \
			.call = (cal),                                                             \
			.cloenv = (clo),                                                           \
			.bcbody = (body),                                                          \
			.bcpc = (pc),                                                              \
			.relpc = (rel),                                                            \
			.srcref = (src),                                                           \
			.vector_data = (data),                                                     \
			.has_altrep = (alt),                                                       \
			.real_whole = (whole),                                                     \
		}                                                                                  \
	}

#define LX LAYOUTS_X86_64_LINUX
#define LA LAYOUTS_AARCH64_LINUX
#define WX LAYOUTS_X86_64_WINDOWS

/* clang-format off */
static const struct layouts_row table[] = {
	/*  arch  first       last    sysparent call cloenv bcbody bcpc relpc srcref data altrep whole */
	ROW(LX, V(3, 0, 0), V(3, 3, 3),     240, 248,   256,     0,   0,    0,   336,  40, 0, 0),
	ROW(LX, V(3, 4, 0), V(3, 4, 4),     240, 248,   256,   312, 320,    0,   360,  40, 0, 0),
	ROW(LX, V(3, 5, 0), V(3, 6, 3),     240, 248,   256,   312, 320,    0,   360,  48, 1, 0),
	ROW(LX, V(4, 0, 0), V(4, 2, 3),     240, 248,   256,   312, 320,    0,   368,  48, 1, 0),
	ROW(LX, V(4, 3, 0), V(4, 3, 3),     240, 248,   256,   312, 320,    0,   368,  48, 1, 1),
	ROW(LX, V(4, 4, 0), V(4, 6, 1),     240, 248,   256,   312, 320,  328,   384,  48, 1, 1),

	ROW(LA, V(3, 0, 0), V(3, 3, 3),     352, 360,   368,     0,   0,    0,   448,  40, 0, 0),
	ROW(LA, V(3, 4, 0), V(3, 4, 4),     352, 360,   368,   424, 432,    0,   472,  40, 0, 0),
	ROW(LA, V(3, 5, 0), V(3, 6, 3),     352, 360,   368,   424, 432,    0,   472,  48, 1, 0),
	ROW(LA, V(4, 0, 0), V(4, 2, 3),     352, 360,   368,   424, 432,    0,   480,  48, 1, 0),
	ROW(LA, V(4, 3, 0), V(4, 3, 3),     352, 360,   368,   424, 432,    0,   480,  48, 1, 1),
	ROW(LA, V(4, 4, 0), V(4, 6, 1),     352, 360,   368,   424, 432,  440,   496,  48, 1, 1),

	ROW(WX, V(3, 0, 0), V(3, 3, 3),     312, 320,   328,     0,   0,    0,   408,  40, 0, 0),
	ROW(WX, V(3, 4, 0), V(3, 4, 4),     312, 320,   328,   384, 392,    0,   432,  40, 0, 0),
	ROW(WX, V(3, 5, 0), V(3, 6, 3),     312, 320,   328,   384, 392,    0,   432,  48, 1, 0),
	ROW(WX, V(4, 0, 0), V(4, 2, 3),     312, 320,   328,   384, 392,    0,   440,  48, 1, 0),
	ROW(WX, V(4, 3, 0), V(4, 3, 3),     312, 320,   328,   384, 392,    0,   440,  48, 1, 1),
	ROW(WX, V(4, 4, 0), V(4, 6, 1),     312, 320,   328,   384, 392,  400,   456,  48, 1, 1),
};
/* clang-format on */

#define ROWS (sizeof(table) / sizeof(table[0]))

const struct layouts_row *layouts__table(size_t *count)
{
	*count = ROWS;
	return table;
}

const struct xr_layout *layouts__find(enum layouts_arch arch, uint32_t version)
{
	const struct layouts_row *best = NULL;

	for (size_t i = 0; i < ROWS; i++)
		if (table[i].arch == arch && table[i].first <= version)
			best = &table[i];
	/* between two rows there is no release, so only the last can be overrun */
	if (!best || version >> 8 > best->last >> 8)
		return NULL;
	return &best->layout;
}

const struct xr_layout *layouts__last(enum layouts_arch arch)
{
	const struct layouts_row *last = NULL;

	for (size_t i = 0; i < ROWS; i++)
		if (table[i].arch == arch)
			last = &table[i];
	return last ? &last->layout : NULL;
}

uint32_t layouts__parse(const char *text)
{
	uint32_t version = 0;

	for (int part = 0; part < 3; part++) {
		unsigned int number = 0;

		if (*text < '0' || *text > '9')
			return 0;
		for (; *text >= '0' && *text <= '9'; text++) {
			number = number * 10 + (unsigned int)(*text - '0');
			if (number > 255)
				return 0;
		}
		if (*text++ != (part < 2 ? '.' : '\0'))
			return 0;
		version = version << 8 | number;
	}
	return version;
}
