/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The limits of memory, in folders as the kernel shows them. */
#include "os/linux/cgroup_memory.h"

#include "tap.h"

static const char *folder;

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	tap__bail_if(!out || fputs(text, out) < 0 || fclose(out), "cannot write %s", path);
}

static void make(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	tap__bail_if(mkdir(path, 0700), "cannot make %s", path);
}

static uint64_t limit(const char *self)
{
	char path[256];

	put("self", self);
	snprintf(path, sizeof(path), "%s/self", folder);
	return cgroup_memory__limit(path, folder);
}

TEST(cgroup_memory)
{
	folder = tap__folder();
	make("a");
	make("a/b");
	make("memory");
	make("memory/c");
	put("a/b/memory.max", "max\n");
	tap__ok(limit("0::/a/b\n") == UINT64_MAX, "no limit");
	put("a/memory.max", "16777216\n");
	tap__ok(limit("0::/a/b\n") == 16 << 20, "that of a cgroup above");
	put("a/b/memory.max", "8388608\n");
	tap__ok(limit("0::/a/b\n") == 8 << 20, "the lowest of them");
	put("memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("memory/c/memory.limit_in_bytes", "33554432\n");
	tap__ok(limit("3:cpu:/\n2:memory:/c\n1:name=x:/\n") == 32 << 20, "version 1");
	tap__ok(limit("2:memory:/c\n0::/a\n") == 16 << 20, "both");
	put("memory.max", "4096\n");
	tap__ok(limit("0::/\n") == 4096, "a namespace of its own: that of its root");
	tap__ok(limit("nothing\nof:it\n") == UINT64_MAX && limit("0::/no/such\n") == 4096 &&
			cgroup_memory__limit("/none", folder) == UINT64_MAX,
		"what cannot be read is no limit");
}
