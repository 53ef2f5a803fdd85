/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The HTTP request that a call of httpuv serves. */
#ifndef XR_VALUES_REQUEST_H
#define XR_VALUES_REQUEST_H

#include "values/heap.h"

#define REQUEST_MAX   200u  /* bytes of a request line; the rest is cut */
#define REQUEST_READS 5000u /* for heap__init */

/*
 * request__read - of the call of httpuv's rookCall() whose environment is at @env: append "GET
 * /path", without the query.  The call's argument `req` is an environment, filled by httpuv 1.0 to
 * 1.6 (webapplication.cpp, requestToEnv()).  0; -ENOENT: it is not there, or not read yet; -ENOMEM.
 */
int request__read(struct heap *h, uint64_t env, struct buf *out);

#endif
