/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "output/writer.h"

/* One row a format: writer_NAME is defined in the file of its name. */
#define FORMATS(row) row(rprof) row(folded) row(pprof) row(speedscope) row(flamegraph)

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

static bool path__ends(const char *path, const char *suffix)
{
	size_t len = strlen(path), size = strlen(suffix);

	return len > size && !strcasecmp(path + len - size, suffix);
}

const struct writer_ops *formats__of_path(const char *path, struct errmsg *f)
{
	/* as other tools call them; NULL: no format of ours is meant */
	static const struct {
		const char *suffix;
		const struct writer_ops *format;
	} others[] = {
		{".htm", &writer_flamegraph},
		{".collapsed", &writer_folded},
		{".pb", &writer_pprof},
		{".pprof", &writer_pprof},
		{".json", &writer_speedscope},
		{".svg", NULL},
		{".gz", NULL},
		{".png", NULL},
		{".pdf", NULL},
	};

	for (size_t i = 0; formats[i]; i++)
		if (path__ends(path, formats[i]->suffix))
			return formats[i];
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!path__ends(path, others[i].suffix))
			continue;
		if (!others[i].format)
			errmsg__set(f, -EINVAL,
				    "-o %s: no format has the ending %s: use .html (a page), .out, "
				    ".folded, .pb.gz or .speedscope.json, or give -f",
				    path, others[i].suffix);
		return others[i].format;
	}
	return formats[0];
}
