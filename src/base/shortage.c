/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/shortage.h"

#include <errno.h>
#include <string.h>

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
