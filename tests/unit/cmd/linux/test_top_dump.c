/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A dump that `top` cannot take. */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "cmd/linux/top_dump.h"
#include "tap.h"

TEST(not_started)
{
	const char *why = strerror(EMFILE);
	struct top_dump d = TOP_DUMP_NONE;
	struct rlimit limit, none;
	int err;

	getrlimit(RLIMIT_NOFILE, &limit);
	none = (struct rlimit){0, limit.rlim_max};
	tap__bail_if(setrlimit(RLIMIT_NOFILE, &none), "no limit");
	err = top_dump__start(&d, 17);
	setrlimit(RLIMIT_NOFILE, &limit);
	tap__ok(err == 1 && !top_dump__poll(&d) &&
			memmem(d.text.data, d.text.len, why, strlen(why)),
		"without a descriptor its text has the reason");
	top_dump__free(&d);
}
