/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <linux/capability.h>
#include <stdio.h>

#include "os/linux/rights.h"

uint64_t rights__effective(void)
{
	FILE *in = fopen("/proc/self/status", "re");
	unsigned long long set = 0;
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "CapEff: %llx", &set) == 1)
			break;
	if (in)
		fclose(in);
	if (set >> CAP_SYS_ADMIN & 1)
		set |= 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_CHECKPOINT_RESTORE;
	return set;
}
