/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/layouts.h"

/*
 * The rows, generated from tools/rcntxt-offsets.csv (which says where they come from) by
 * tools/layouts.awk; tools/layouts adds a release.  Up to cloenv only the jump buffer makes a
 * difference between platforms; behind it releases differ: 3.4 brought the byte code fields, 4.0
 * bcprottop, 4.4 relpc.
 */
static const struct layouts_row table[] = {
#include "layouts.inc"
};

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
