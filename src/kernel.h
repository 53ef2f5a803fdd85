/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_KERNEL_H
#define XR_KERNEL_H

#include <stdbool.h>

/*
 * kernel__freeze_prone - can reading user memory from BPF freeze a machine with kernel @release
 * (uname -r)?  So it is from 5.19 on, when the page fault handler was called with interrupts
 * off from copy_from_user_nofault(); mended by kernel commit d319f344561d ("mm: Fix
 * copy_from_user_nofault()") in 6.4, 6.3.10 and 6.1.36.  The one place that goes by a version.
 */
bool kernel__freeze_prone(const char *release);

#endif
