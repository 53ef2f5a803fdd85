/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>

#include "kernel.h"

bool kernel__freeze_prone(const char *release)
{
	unsigned int major = 0, minor = 0, patch = 0;

	if (sscanf(release, "%u.%u.%u", &major, &minor, &patch) < 2)
		return false;
	if (major == 5)
		return minor >= 19;
	if (major != 6)
		return false;
	return minor == 0 || (minor == 1 && patch < 36) || minor == 2 || (minor == 3 && patch < 10);
}
