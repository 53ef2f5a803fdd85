/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/kernel_names.h"

#include "tap.h"

TEST(kernel_names)
{
	struct kernel_names k = {0};
	uint64_t begin = 0, other = 0;
	const char *name;
	int err = kernel_names__read(&k);

	tap__ok(!err || err == -EACCES || err == -ENOENT,
		"the kernel's names are read, or an error is returned: %d", err);
	if (!err) {
		bool ascend = true;

		for (size_t i = 1; i < k.count; i++)
			ascend = ascend && k.names[i].address >= k.names[i - 1].address;
		tap__ok(ascend && k.count > 1000, "%zu of them, by address", k.count);
		name = kernel_names__find(&k, k.names[k.count / 2].address + 1, &begin);
		tap__ok(name && *name && begin == k.names[k.count / 2].address, "%s", name);
		tap__ok(!kernel_names__find(&k, 1, &other), "nothing is before the first");
	}
	kernel_names__free(&k);
}
