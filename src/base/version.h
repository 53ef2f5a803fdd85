/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_BASE_VERSION_H
#define XR_BASE_VERSION_H

/*
 * The program's name in its messages, and its version: the only place that holds either.  The build
 * for Windows has another name (mk/windows.mk).
 */
#ifndef XR_PROGRAM
#define XR_PROGRAM "xrprof-bpf"
#endif
#define XR_VERSION "1.0.0"

#endif
