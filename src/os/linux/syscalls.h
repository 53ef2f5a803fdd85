/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of system calls, as the C library of the machine that this is built for has them.
 */
#ifndef XR_OS_LINUX_SYSCALLS_H
#define XR_OS_LINUX_SYSCALLS_H

#include <stdint.h>

/* syscalls__name - of that number, "read"; NULL: it is newer than the C library's headers. */
const char *syscalls__name(int64_t number);

#endif
