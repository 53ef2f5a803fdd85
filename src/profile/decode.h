/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The decoder: validates records (abi.h), puts the parts of a sample together, turns words into
 * names, and hands samples on in the profile model.
 */
#ifndef XR_PROFILE_DECODE_H
#define XR_PROFILE_DECODE_H

#include "profile/known.h"
#include "profile/profile.h"
#include "profile/stats.h"

struct decoder;

/* What the decoder calls.  Arguments are borrowed for the call.  `process` may be NULL. */
struct decoder_ops {
	void (*sample)(void *arg, const struct sample *s);
	void (*process)(void *arg, const struct xr_process *p);
	/* the srcfile of R at @at in process row @serial is called @file; NULL: not wanted */
	void (*source)(void *arg, uint32_t serial, uint64_t at, const char *file);
	/* what native frames are called (known.h); NULL: not known */
	native_teller native;
	bool raw; /* all native frames are shown, each as the instruction it is at */
};

/*
 * decoder__new - that takes at most its share of @memory bytes (base/limits.h; 0: LIMIT_MEMORY).
 * -ENOMEM.
 */
int decoder__new(struct decoder **out, const struct decoder_ops *ops, void *arg, size_t memory);
/* decoder__record - an engine_sink. */
void decoder__record(void *decoder, const void *record, size_t size);
/* decoder__forget - the process of row @serial is gone and all its records were seen. */
void decoder__forget(struct decoder *d, uint32_t serial);
const struct decoder_stats *decoder__stats(const struct decoder *d);
/* decoder__memory - bytes that names, and what is made of them, take now.  *@max: and may take. */
size_t decoder__memory(const struct decoder *d, size_t *max);
void decoder__free(struct decoder *d); /* NULL is allowed */

#endif
