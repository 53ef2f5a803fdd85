/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Only the processes that use libcurl and libmicrohttpd load them.  With the 30 libraries that
 * Debian's bring along they take 1.2 MiB and 5 ms, which `record` would pay for at each start.
 * Their functions are called as always, as <curl/curl.h> and <microhttpd.h> declare them; one that
 * libraries.c does not list does not link.
 *
 * The static program has both in it, and loads nothing.
 */
#ifndef XR_SERVE_LINUX_LIBRARIES_H
#define XR_SERVE_LINUX_LIBRARIES_H

#include "base/errmsg.h"

/* Before any function of it is called; again does nothing.  Errors as of library__load. */
int libraries__curl(struct errmsg *f);
int libraries__microhttpd(struct errmsg *f);

#endif
