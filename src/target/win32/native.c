/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Native frames are for Linux: nothing is asked, so nothing is taken. */
#include <errno.h>

#include "target/native.h"

int native_maps__open(struct native_maps *m, int fd)
{
	(void)fd;
	*m = (struct native_maps){0};
	return -ENOSYS;
}

void native_maps__close(struct native_maps *m)
{
	(void)m;
}

int native_module__open(struct native_module *m, int fd)
{
	(void)fd;
	*m = (struct native_module){0};
	return -ENOSYS;
}

void native_module__close(struct native_module *m)
{
	(void)m;
}
