/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile model: what the decoder makes of records and the writers write.  Function, file and
 * line are kept apart, so that formats that can carry them do.
 */
#ifndef XR_PROFILE_PROFILE_H
#define XR_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"

enum frame_kind { FRAME_R, FRAME_ANON, FRAME_BUILTIN, FRAME_NATIVE, FRAME_KERNEL, FRAME_MARK };

/*
 * One frame.  Strings are interned by the decoder and live as long as it does: equal strings have
 * equal addresses.  `name` is as Rprof() names it, without quotes and not escaped; it may hold any
 * bytes but NUL.  `file` is NULL where the place it was called from is not known.
 */
struct frame {
	enum frame_kind kind;
	uint32_t line;
	const char *name;
	const char *file;
};

/* One sample, whole.  Borrowed: valid during the call it is passed to. */
struct sample {
	uint64_t time;	 /* ns, CLOCK_MONOTONIC */
	uint64_t weight; /* in `unit` */
	uint32_t unit;	 /* enum xr_unit */
	uint32_t serial, pid, tid, cpu;
	uint32_t flags;	  /* XR_F_GC, XR_F_TRUNCATED, XR_F_OTHER_THREAD, XR_F_LINES, XR_F_KERNEL */
	uint32_t nframes; /* innermost first; 0: top level */
	const struct frame *frames;
	const char *file; /* the innermost location, NULL: not known */
	uint32_t line;
};

/* The process a sample is from, as far as known.  Borrowed, as a sample is. */
struct profile_process {
	uint32_t serial; /* of its row: tells processes apart that had the same pid */
	uint32_t pid, parent_pid;
	const char *comm; /* may hold anything but NUL */
};

#endif
