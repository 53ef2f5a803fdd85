/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls to the system that a test can have fail.  The functions of system_calls.c have the names of
 * the C library's, and the linker takes them first.
 */
#ifndef XR_TESTS_SYSTEM_CALLS_H
#define XR_TESTS_SYSTEM_CALLS_H

#include <stddef.h>
#include <sys/types.h>

struct system_call {
	long number;
	int fd;
	const char *path; /* of openat and unlinkat */
	const void *data; /* of pwrite64, with the next two */
	size_t size;
	off_t at;
};

/* NULL, or: before each call, an error number that it fails with, or 0. */
extern int (*system_calls__before)(const struct system_call *c);

#endif
