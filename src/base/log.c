/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"
#include "base/version.h"

void log__line(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (unsigned char *p = (unsigned char *)line; *p; p++)
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
	fprintf(stderr, XR_PROGRAM ": %s\n", line);
}
