/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_OUTPUT_FLAMEGRAPH_H
#define XR_OUTPUT_FLAMEGRAPH_H

#include "output/writer.h"

/*
 * flamegraph__diff - a page of format flamegraph that shows in which calls @after differs from
 * @before: a differential flame graph, and a table of what grew and shrank.  Their timelines are
 * not needed.  It is whole, and committed.  0, OUTPUT_DROPPED, or a negative errno.
 */
int flamegraph__diff(struct output *out, const struct writer_config *config,
		     const struct aggregate *before, const struct aggregate *after);

#endif
