/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Directories of the service. */
#ifndef XR_SERVE_LINUX_DIRECTORY_H
#define XR_SERVE_LINUX_DIRECTORY_H

#include <dirent.h>

#include "base/errmsg.h"

/*
 * directory__entries - a stream of the entries of @dir, from the first one on, to be ended with
 * closedir(); @dir stays open, and where it was.  Negative errno.
 */
int directory__entries(int dir, DIR **out);

/*
 * directory__lock - a descriptor of @path, which no other process has until it is closed: locked.
 * It is made (0700) if it is missing.  Negative errno, @f filled: other users may write there, or
 * another process has it.
 */
int directory__lock(const char *path, struct errmsg *f);

#endif
