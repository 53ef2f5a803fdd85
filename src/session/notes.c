/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/notes.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 3, 0))) static void
notes__line(const struct notes *n, enum notes_level level, const char *fmt, va_list ap)
{
	char line[768];

	if (!n->line || level < n->lowest)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	n->line(n->arg, level, line);
}

void notes__user(const struct notes *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	notes__line(n, NOTES_USER, fmt, ap);
	va_end(ap);
}

void notes__debug(const struct notes *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	notes__line(n, NOTES_DEBUG, fmt, ap);
	va_end(ap);
}
