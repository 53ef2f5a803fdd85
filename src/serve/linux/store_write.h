/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing into a directory of profiles.  For store.c and store_index.c.
 */
#ifndef XR_SERVE_LINUX_STORE_WRITE_H
#define XR_SERVE_LINUX_STORE_WRITE_H

#include <stddef.h>
#include <sys/types.h>

#include "serve/interval_name.h"

#define STORE_MODE     0640 /* of files */
#define STORE_DIR_MODE 0750

/* store_write__all - @size bytes at @at of the file.  Negative errno: some of them may be there. */
int store_write__all(int fd, const void *data, size_t size, off_t at);

/*
 * store_write__file - a new file in @dir, whole and synced, as @name; where that is taken
 * @name->number is counted up.  Negative errno: nothing was made.
 */
int store_write__file(int dir, struct interval_name *name, const void *data, size_t size);

/*
 * store_write__sweep - remove what a crash left: files with temporary names that no process is
 * writing.  Negative errno: the directory cannot be read.
 */
int store_write__sweep(int dir);

#endif
