/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that have R in them, whatever they are called: R linked without libR.so. */
#ifndef XR_TARGET_LINUX_PROGRAM_H
#define XR_TARGET_LINUX_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * program__holds_r - does the program that @pid runs export R's variables?  A program with R in it
 * has to, for R's packages use them.  1 or 0; a negative errno: it could not be looked at.
 */
int program__holds_r(pid_t pid);

/* program__file_holds_r - does the file @fd, a program or a library, export them? */
bool program__file_holds_r(int fd);

#endif
