/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_OS_LINUX_CPUS_H
#define XR_OS_LINUX_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A CPU that goes offline takes the perf events bound to it along: they stay open and never fire
 * again, not even when the CPU is back (perf_event_exit_cpu_context(), kernel/events/core.c).  So
 * the owner of such events checks now and then which CPUs are online, and opens them again.
 */

/* Between two checks, ms. */
#define CPUS_CHECK_MS 1000

/*
 * cpus__parse - the kernel's list of CPUs, as in "0-3,8,10-11\n": sets @online[0..n) to whether
 * each is in it; numbers from @n on are left out.  -EINVAL: it is not such a list.
 */
int cpus__parse(const char *list, bool *online, size_t n);

/*
 * cpus__online - sets @online[0..n) to whether each CPU is online, from
 * /sys/devices/system/cpu/online.  A negative errno: unknown.
 */
int cpus__online(bool *online, size_t n);

/*
 * cpus__slept - has the machine slept since the last call with that @clocks (0 at first)?  Then all
 * CPUs but one were offline meanwhile, while no process ran that could have seen it.
 */
bool cpus__slept(int64_t *clocks);

#endif
