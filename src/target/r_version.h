/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* R's version, from the constants compiled into it. */
#ifndef XR_TARGET_R_VERSION_H
#define XR_TARGET_R_VERSION_H

#include <stddef.h>

/*
 * r_version__parse - the version, as "4.2.2", in @len bytes of R's constants.
 *
 * do_version() (src/main/version.c) puts together the list R.version from literals that compilers
 * and linkers keep in order: "major" ["4"] "minor" "2.2" "year" "2022".  The major number is often
 * shared with another string's tail and then missing; the year tells it.
 *
 * Returns 0, or -ENOENT and an empty @version.
 */
int r_version__parse(const char *data, size_t len, char version[16]);

#endif
