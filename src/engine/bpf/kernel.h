/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_ENGINE_BPF_KERNEL_H
#define XR_ENGINE_BPF_KERNEL_H

#include <stdbool.h>

/*
 * kernel__freeze_prone - can reading user memory from BPF freeze a machine with this kernel?
 *
 * @release and @version are uname()'s, @signature is /proc/version_signature or "".  A
 * distribution's release need not name the upstream one it has caught up with: Debian's 6.1.0-50
 * is 6.1.176, and says so in the version ("... Debian 6.1.176-1 ..."); Ubuntu has it as the last
 * word of the signature ("Ubuntu 6.2.0-26.26-generic 6.2.13").
 *
 * So it is from 5.19 on, when the page fault handler was called with interrupts
 * off from copy_from_user_nofault(); mended by kernel commit d319f344561d ("mm: Fix
 * copy_from_user_nofault()") in 6.4, 6.3.10 and 6.1.36.  The one place that goes by a version.
 */
bool kernel__freeze_prone(const char *release, const char *version, const char *signature);

#endif
