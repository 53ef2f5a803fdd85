/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "registry.h"

static const struct engine_ops *const engines[] = {
#ifdef _WIN32
	&engine_win32,
#else
	&engine_bpf,
	&engine_ptrace,
	&engine_vmread,
#endif
	NULL,
};

static const struct writer_ops *const writers[] = {
	&writer_rprof,
	&writer_folded,
	NULL,
};

const struct engine_ops *const *registry__engines(void)
{
	return engines;
}

const struct writer_ops *const *registry__writers(void)
{
	return writers;
}

const struct engine_ops *registry__engine(const char *name)
{
	for (size_t i = 0; engines[i]; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

const struct writer_ops *registry__writer(const char *name)
{
	for (size_t i = 0; writers[i]; i++)
		if (!strcmp(writers[i]->name, name))
			return writers[i];
	return NULL;
}
