/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Units of time.  Times are 64-bit counts of nanoseconds, and os__now() (os/os.h) reads the clock.
 */
#ifndef XR_BASE_CLOCK_H
#define XR_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

#endif
