/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "base/errmsg.h"
#include "base/utf8.h"

int errmsg__set(struct errmsg *f, int err, const char *fmt, ...)
{
	va_list ap;

	if (!f)
		return err;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	utf8__tame(f->text);
	return err;
}
