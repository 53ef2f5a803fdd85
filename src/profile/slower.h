/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sink in front of another one, which passes on the samples of calls that lasted long enough
 * (`record --slower`).  Samples wait here until the outermost call that they are in has lasted as
 * long, or has ended before.  The samples of a process stay in their order.
 *
 * If they do not fit, the samples of the call that began first are dropped and counted.
 */
#ifndef XR_PROFILE_SLOWER_H
#define XR_PROFILE_SLOWER_H

#include "profile/sink.h"

struct slower;

/* slower__new - calls of @ns and more to @to; @memory: bytes for what waits.  -ENOMEM. */
int slower__new(struct slower **out, uint64_t ns, size_t memory, struct sink to);

struct sink slower__sink(struct slower *s);

void slower__free(struct slower *s); /* NULL is allowed */

#endif
