/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"

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

const struct engine_ops *const *engines__all(void)
{
	return engines;
}

const struct engine_ops *engines__find(const char *name)
{
	for (size_t i = 0; engines[i]; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

void engine__note(const struct engine_config *config, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (!config->note)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	config->note(config->note_arg, line);
}
