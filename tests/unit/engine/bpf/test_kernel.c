/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which kernels are refused because reading user memory from BPF can freeze them. */
#include "engine/bpf/kernel.h"
#include "tap.h"

static const struct {
	const char *release, *version, *signature;
	bool prone;
} cases[] = {
	{"5.18.19", "", "", false},
	{"5.19.0", "", "", true},
	{"5.19.17-custom", "", "", true},
	{"6.0.19", "", "", true},
	{"6.1.35", "", "", true},
	{"6.1.36", "", "", false},
	{"6.2.16", "", "", true},
	{"6.3.9", "", "", true},
	{"6.3.10", "", "", false},
	{"6.4", "", "", false},
	{"6.12.0", "", "", false},
	{"7.2.13", "", "", false},
	{"4.19.0", "", "", false},
	{"6.1.0-50-cloud-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 (2026-07-02)", "", false},
	{"6.1.0-9-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.27-1 (2023-05-08)", "", true},
	{"6.2.0-26-generic", "#26~22.04.1-Ubuntu SMP", "Ubuntu 6.2.0-26.26-generic 6.2.13", true},
	{"5.19.0-50-generic", "#50-Ubuntu SMP", "Ubuntu 5.19.0-50.50-generic 5.19.17", true},
	{"6.1.0-1036-oem", "#36-Ubuntu SMP", "Ubuntu 6.1.0-1036.36-oem 6.1.90", false},
	{"6.3", "", "nonsense", true},
	{"", "", "", false},
	{"rolling", "", "", false},
};

TEST(kernel)
{
	for (size_t i = 0; i < COUNT(cases); i++)
		tap__ok(kernel__freeze_prone(cases[i].release, cases[i].version,
					     cases[i].signature) == cases[i].prone,
			"'%s' '%s' '%s' is %s", cases[i].release, cases[i].version,
			cases[i].signature, cases[i].prone ? "refused" : "taken");
}
