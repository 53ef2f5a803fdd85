/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "base/errmsg.h"

int errmsg__set(struct errmsg *f, int err, const char *fmt, ...)
{
	va_list ap;

	if (!f)
		return err;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	for (unsigned char *p = (unsigned char *)f->text; *p; p++)
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
	return err;
}
