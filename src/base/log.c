/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/utf8.h"
#include "base/version.h"

#define LINE_MAX_BYTES 1024

void log__line(const char *fmt, ...)
{
	char line[LINE_MAX_BYTES] = XR_PROGRAM ": ";
	size_t len = strlen(line);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + len, sizeof(line) - 1 - len, fmt, ap);
	va_end(ap);
	utf8__tame(line);
	strcat(line, "\n");
	log__put(line, strlen(line));
}
