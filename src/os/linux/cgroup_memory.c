/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/linux/cgroup_memory.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "os/proc.h"

#define PATH_BYTES 4096

/* The number in the file @path/@name; UINT64_MAX: there is none ("max"). */
static uint64_t limit__read(const char *path, const char *name)
{
	char file[PATH_BYTES + 32], line[64];
	uint64_t limit;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	if (proc__line(file, line, sizeof(line)) || parse__u64(line, UINT64_MAX, &limit))
		return UINT64_MAX;
	return limit;
}

/* The lowest of @name in @root/@below and the folders between. */
static uint64_t limit__lowest(const char *root, const char *below, const char *name)
{
	uint64_t lowest = UINT64_MAX, limit;
	size_t base = strlen(root);
	char path[PATH_BYTES];

	if (snprintf(path, sizeof(path), "%s%s", root, below) >= (int)sizeof(path))
		return UINT64_MAX;
	for (;;) {
		char *slash;

		limit = limit__read(path, name);
		if (limit < lowest)
			lowest = limit;
		slash = strrchr(path, '/');
		if (!slash || (size_t)(slash - path) < base)
			return lowest;
		*slash = '\0';
	}
}

/* A line of /proc/PID/cgroup: number, controllers, path (cgroups(7)). */
static uint64_t limit__of_line(char *line, const char *root)
{
	char *controllers = strchr(line, ':'), *path, memory[PATH_BYTES];

	path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path)
		return UINT64_MAX;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (!strcmp(controllers, ":"))
		return limit__lowest(root, path, "memory.max");
	if (strcmp(controllers, ":memory") != 0)
		return UINT64_MAX;
	snprintf(memory, sizeof(memory), "%s/memory", root);
	return limit__lowest(memory, path, "memory.limit_in_bytes");
}

uint64_t cgroup_memory__limit(const char *self, const char *root)
{
	uint64_t lowest = UINT64_MAX, limit;
	char line[PATH_BYTES];
	FILE *in = fopen(self, "re");

	while (in && fgets(line, sizeof(line), in)) {
		limit = limit__of_line(line, root);
		if (limit < lowest)
			lowest = limit;
	}
	if (in)
		fclose(in);
	return lowest;
}
