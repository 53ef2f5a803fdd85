/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

bool shortage__is(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

int shortage__fault(int pid, int err, struct errmsg *f)
{
	const char *what = err == -EMFILE   ? "; raise the limit (ulimit -n)"
			   : err == -ENFILE ? "; raise fs.file-max"
					    : "";

	return errmsg__set(f, err, "cannot inspect process %d: %s%s", pid, strerror(-err), what);
}
