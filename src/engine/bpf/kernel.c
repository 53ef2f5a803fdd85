/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "engine/bpf/kernel.h"

/* The digits after @mark in @text as a version; false: there are none. */
static bool version_after(const char *text, const char *mark, unsigned int v[3])
{
	const char *at = strstr(text, mark);

	v[2] = 0;
	return at && sscanf(at + strlen(mark), "%u.%u.%u", &v[0], &v[1], &v[2]) >= 2;
}

bool kernel__freeze_prone(const char *release, const char *version, const char *signature)
{
	const char *upstream = strrchr(signature, ' ');
	unsigned int v[3];

	if (!version_after(version, " Debian ", v) &&
	    !(upstream && version_after(upstream, " ", v)) && !version_after(release, "", v))
		return false;
	if (v[0] == 5)
		return v[1] >= 19;
	if (v[0] != 6)
		return false;
	return v[1] == 0 || (v[1] == 1 && v[2] < 36) || v[1] == 2 || (v[1] == 3 && v[2] < 10);
}
