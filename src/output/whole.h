/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What writers have that are given the whole profile at the end and keep nothing before.
 */
#ifndef XR_OUTPUT_WHOLE_H
#define XR_OUTPUT_WHOLE_H

#include "output/writer.h"

struct writer {
	struct output *out;
	struct writer_config config;
};

/* whole__open, whole__close - as of struct writer_ops. */
int whole__open(struct writer **out, struct output *output, const struct writer_config *config);
int whole__close(struct writer *w);

#endif
