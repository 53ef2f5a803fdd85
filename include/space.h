/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sampler has to know to unwind: which modules are mapped where in a process, and their
 * unwind tables (unwind.h).  User space writes it, the sampler reads it: in the kernel it is maps,
 * elsewhere plain memory.
 *
 * All of it lies in slabs, XR_SLAB_WORDS words of 8 bytes each.  A table is its rows and, anywhere
 * in the same slab, its rules, 2 words each; one with more rows than a slab has is several.  A
 * space is a struct xr_space and behind it its mappings in the order of their addresses; forked
 * children share their parent's.  To free a space, its stamp is cleared; it and what it
 * refers to stay as they are until no sample can use them any more.
 */
#ifndef XR_SPACE_H
#define XR_SPACE_H

#include "unwind.h"

#define XR_SLAB_WORDS	(1u << 17) /* 1 MiB */
#define XR_MAPPINGS_MAX 512u	   /* of one space */
#define XR_NATIVE_MAX	512u	   /* native frames of one sample; those further out are cut */

struct xr_space {
	__u32 stamp; /* of the row that leads here, else it is another's by now */
	__u32 n;     /* mappings */
	__u64 quiet; /* ns, CLOCK_MONOTONIC: until then unknown code is not reported; the
		      * sampler sets it when it reports */
};

/* Code of one module, as far as its table is in one slab. */
struct xr_mapping {
	__u64 start, end; /* in the process, [start, end) */
	__u64 base;	  /* added to what the table calls pc */
	__u32 slab;
	__u32 rows, nrows; /* the first word, and how many: one each */
	__u32 rules;	   /* the first word */
	__u32 module;	   /* number, for the slots (abi.h) */
	__u32 flags;	   /* XR_MAPPING_* */
};

#define XR_MAPPING_R 0x1u /* the module is R itself */

#define XR_SPACE_WORDS	 2u
#define XR_MAPPING_WORDS 6u

_Static_assert(sizeof(struct xr_space) == 8 * XR_SPACE_WORDS, "xr_space");
_Static_assert(sizeof(struct xr_mapping) == 8 * XR_MAPPING_WORDS, "xr_mapping");

#endif
