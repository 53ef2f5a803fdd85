/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much memory the cgroup of this process allows.
 */
#ifndef XR_OS_LINUX_CGROUP_MEMORY_H
#define XR_OS_LINUX_CGROUP_MEMORY_H

#include <stdint.h>

#define CGROUP_SELF "/proc/self/cgroup"
#define CGROUP_ROOT "/sys/fs/cgroup"

/*
 * cgroup_memory__limit - bytes: the lowest limit of the cgroup that @self (CGROUP_SELF) names below
 * @root (CGROUP_ROOT), and of those above it, in either version of cgroups.  UINT64_MAX: there is
 * none, or it cannot be known.
 */
uint64_t cgroup_memory__limit(const char *self, const char *root);

#endif
