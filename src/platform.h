/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few things that every system can do, each in its own way: platform.c for Linux,
 * win32/platform_win32.c for Windows.  All strings are UTF-8.
 */
#ifndef XR_PLATFORM_H
#define XR_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "fault.h"

/*
 * platform__arguments - called first in main(), with its arguments; on Windows they are replaced by
 * those of the command line in UTF-8, which stay for the life of the program, and the standard
 * streams take what is written to them as it is.  0, or -ENOMEM or -EINVAL with @f filled.
 */
int platform__arguments(int *argc, char ***argv, struct fault *f);

/*
 * platform__refuses - why the option of that name cannot be had on this system; NULL: it can.
 */
const char *platform__refuses(const char *option);

/* platform__now - ns on a clock that never goes back; on Linux CLOCK_MONOTONIC. */
uint64_t platform__now(void);

/* platform__create - open a new or truncated file for writing: a descriptor, or a negative errno.
 */
int platform__create(const char *path);

/* platform__fopen - the same as a stream.  NULL, and errno is set. */
FILE *platform__fopen(const char *path);

/*
 * platform__write - write(2): bytes written, or a negative errno; -EPIPE: the reader of a pipe has
 * gone.
 */
int platform__write(int fd, const void *data, unsigned int size);

/* platform__wait_writable - until @fd, where writing failed with EAGAIN, takes more. */
void platform__wait_writable(int fd);

/* platform__mkdir - 0 or a negative errno. */
int platform__mkdir(const char *path);

bool platform__is_directory(const char *path);

/* platform__many_files - have as many files open as is allowed at all. */
void platform__many_files(void);

#endif
