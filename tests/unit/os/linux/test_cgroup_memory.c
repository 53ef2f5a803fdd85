/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The limits of memory, in folders as the kernel shows them. */
#include "os/linux/cgroup_memory.h"

#include "tap.h"

static void put(const char *name, const char *text)
{
	tap__write(tap__path(name), text, strlen(text));
}

static uint64_t limit(const char *self)
{
	put("self", self);
	return cgroup_memory__limit(tap__path("self"), tap__folder());
}

TEST(cgroup_memory)
{
	static const char *const folders[] = {"a", "a/b", "memory", "memory/c"};

	for (size_t i = 0; i < COUNT(folders); i++)
		tap__bail_if(mkdir(tap__path(folders[i]), 0700), "cannot make %s", folders[i]);
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
	tap__ok(limit("0::/\n") == 4096, "a cgroup namespace: the limit of its root");
	tap__ok(limit("nothing\nof:it\n") == UINT64_MAX && limit("0::/no/such\n") == 4096 &&
			cgroup_memory__limit("/none", tap__folder()) == UINT64_MAX,
		"what cannot be read is no limit");
}
