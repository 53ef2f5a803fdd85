/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of what differs between R releases: where the fields of a context are, and where a
 * vector's data begins.  A new R is one run of tools/layouts.
 */
#ifndef XR_TARGET_LAYOUTS_H
#define XR_TARGET_LAYOUTS_H

#include <stddef.h>
#include <stdint.h>

#include "layout.h"

/* A machine and its C library, because a context embeds a jmp_buf. */
enum layouts_arch {
	LAYOUTS_X86_64_LINUX,
	LAYOUTS_AARCH64_LINUX,
	LAYOUTS_X86_64_WINDOWS,
	LAYOUTS_ARCHES
};

/* R's version as one ordered number, like R_VERSION in Rversion.h: R 4.2.2 is 0x040202. */
#define LAYOUTS_VERSION(major, minor, patch)                                                       \
	((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

/* One row: the layout of the releases from @first to @last, both included. */
struct layouts_row {
	enum layouts_arch arch;
	uint32_t first;
	uint32_t last;
	struct xr_layout layout;
};

/* The table, ordered by arch and then by version; *count rows.  Static storage. */
const struct layouts_row *layouts__table(size_t *count);

/*
 * layouts__find - the layout of R @version (LAYOUTS_VERSION) on @arch.
 *
 * Patch releases later than the last one tabled count as that one's: R does not change structures
 * between x.y.z and x.y.z+1.  NULL: older or newer than the table.  Static storage.
 */
const struct xr_layout *layouts__find(enum layouts_arch arch, uint32_t version);

/* layouts__last - the newest layout known for @arch: the best guess for an R not in the table. */
const struct xr_layout *layouts__last(enum layouts_arch arch);

/* layouts__parse - "4.2.2" as LAYOUTS_VERSION; 0 when @text is not such a version. */
uint32_t layouts__parse(const char *text);

#endif
