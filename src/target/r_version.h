/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* R's version, as "4.2.2", from what is compiled into it. */
#ifndef XR_TARGET_R_VERSION_H
#define XR_TARGET_R_VERSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem_reader.h"

/* The version in @len bytes: 0, or -ENOENT and an empty @version. */
typedef int r_version_parse(const char *data, size_t len, char version[16]);

/*
 * r_version__parse - from R's constants.
 *
 * do_version() (src/main/version.c) puts together the list R.version from literals that compilers
 * and linkers keep in order: "major" ["4"] "minor" "2.2" "year" "2022".  The major number is often
 * shared with another string's tail and then missing; the year tells it.
 */
r_version_parse r_version__parse;

/*
 * r_version__resource - from the version resource of R.dll, where src/gnuwin32/dllversion.rc puts
 * it as `R Version`: all in UTF-16, names ended by 0.
 */
r_version_parse r_version__resource;

/* r_version__scan - search @size bytes at @at piecewise.  As @parse; -ENOMEM. */
int r_version__scan(const struct mem_reader *m, uint64_t at, uint64_t size, r_version_parse *parse,
		    char version[16]);

#endif
