/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/whole.h"

#include <errno.h>
#include <stdlib.h>

int whole__open(struct writer **out, struct output *output, const struct writer_config *config)
{
	struct writer *w = calloc(1, sizeof(*w));

	*out = w;
	if (!w)
		return -ENOMEM;
	w->out = output;
	w->config = *config;
	return 0;
}

int whole__close(struct writer *w)
{
	free(w);
	return 0;
}
