/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is in a directory that is open. */
#ifndef XR_SERVE_LINUX_DIRECTORY_H
#define XR_SERVE_LINUX_DIRECTORY_H

#include <dirent.h>

/*
 * directory__entries - a stream of the entries of @dir, from the first one on, to be ended with
 * closedir(); @dir stays open, and where it was.  Negative errno.
 */
int directory__entries(int dir, DIR **out);

#endif
