/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors that say nothing of what was looked at: it is the program that is short of something. */
#ifndef XR_BASE_SHORTAGE_H
#define XR_BASE_SHORTAGE_H

#include <stdbool.h>

#include "base/errmsg.h"

/* shortage__is - is @err (negative) for want of descriptors or memory? */
bool shortage__is(int err);

/* shortage__fault - process @pid could not be looked at for @err: what to do.  Returns @err. */
int shortage__fault(int pid, int err, struct errmsg *f);

#endif
