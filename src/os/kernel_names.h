/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's own names of its functions: /proc/kallsyms. */
#ifndef XR_OS_KERNEL_NAMES_H
#define XR_OS_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct kernel_name {
	uint64_t address;
	uint32_t text; /* in `texts` */
};

/* Starts zeroed. */
struct kernel_names {
	struct kernel_name *names; /* by address */
	size_t count, cap;
	char *texts;
	size_t size, room;
};

/*
 * kernel_names__read - all functions, some megabytes.  -EACCES: the kernel hides its addresses
 * (kptr_restrict; CAP_SYSLOG is needed); -ENOENT: and its names; -ENOMEM.
 */
int kernel_names__read(struct kernel_names *k);

/*
 * kernel_names__find - the function that @address is in, and where it begins; NULL: none.  The
 * kernel does not list where a function ends: it ends where the next one begins.
 */
const char *kernel_names__find(const struct kernel_names *k, uint64_t address, uint64_t *begin);

void kernel_names__free(struct kernel_names *k);

#endif
