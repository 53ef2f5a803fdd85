/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "output/writer.h"

static const struct writer_ops *const formats[] = {
	&writer_rprof,
	&writer_folded,
	NULL,
};

const struct writer_ops *const *formats__all(void)
{
	return formats;
}

const struct writer_ops *formats__find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}
