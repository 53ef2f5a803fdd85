/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "output/writer.h"

/* One row a format: writer_NAME is defined in the file of its name. */
#define FORMATS(row) row(rprof) row(folded)

#define DECLARED(name) extern const struct writer_ops writer_##name;
FORMATS(DECLARED)

#define LISTED(name) &writer_##name,
static const struct writer_ops *const formats[] = {FORMATS(LISTED) NULL};

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
