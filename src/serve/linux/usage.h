/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process of the service takes itself. */
#ifndef XR_SERVE_LINUX_USAGE_H
#define XR_SERVE_LINUX_USAGE_H

#include <stdint.h>

/* usage__cpu - ns on a CPU so far, of all its threads, and of its children that have ended. */
uint64_t usage__cpu(void);

/* usage__resident - bytes of memory that are resident; 0: not known. */
uint64_t usage__resident(void);

#endif
