/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which processes seem to have R in them: cheap enough to be asked of all.
 */
#ifndef XR_TARGET_LINUX_SCAN_H
#define XR_TARGET_LINUX_SCAN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/map.h"

#define PROGRAM_LIBRARIES_MAX 512u /* of one process, that are looked into */

/* Files that were looked into, and whether R is in them.  Starts as { 0 }. */
struct programs {
	struct map known;
};

void programs__free(struct programs *ps);

/* program__file_holds_r - does the file @fd, a program or a library, export R's variables? */
bool program__file_holds_r(int fd);

/*
 * programs__holds_r - does the program that @pid runs?  One with R in it, linked without libR.so,
 * has to, for R's packages use them.  1 or 0; a negative errno: it could not be looked at.
 */
int programs__holds_r(struct programs *ps, pid_t pid);

/*
 * target__seems - libR.so is mapped, under whatever name it has now; or the executable or the
 * process is called R; or the executable has R's variables.  target__find() has the last word.  A
 * process that may not be looked at does not, unless it is called R.
 */
bool target__seems(pid_t pid, struct programs *known);

/*
 * target__each - call @seen for each process of /proc.  Stops when @seen returns other than 0, and
 * returns that; 0 at the end; a negative errno when /proc cannot be read.
 */
int target__each(int (*seen)(void *arg, pid_t pid), void *arg);

#endif
