/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both libraries are loaded when they are asked for, and not before. */
#include "serve/linux/libraries.h"

#include "tap.h"

static bool is_mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	bool found = false;

	while (maps && fgets(line, sizeof(line), maps))
		found = found || strstr(line, name);
	if (maps)
		fclose(maps);
	return found;
}

/* Calls through them: test_post.c, tests/live/test_http.sh. */
TEST(libraries)
{
	struct errmsg f = {""};

	tap__ok(!is_mapped("libcurl") && !is_mapped("libmicrohttpd"), "none is there at the start");
	tap__ok(!libraries__curl(&f) && is_mapped("libcurl") && !libraries__curl(&f),
		"libcurl is loaded, once: %s", f.text);
	tap__ok(!libraries__microhttpd(&f) && is_mapped("libmicrohttpd"),
		"libmicrohttpd is loaded: %s", f.text);
}
