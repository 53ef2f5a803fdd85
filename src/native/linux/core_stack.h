/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The native frames of the thread that crashed, from its core file.
 *
 * Facts: libdwfl.h of elfutils, which reads the registers and unwinds.
 */
#ifndef XR_NATIVE_LINUX_CORE_STACK_H
#define XR_NATIVE_LINUX_CORE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "target/linux/core.h"

#define CORE_FRAMES_MAX 10000u

struct core_frame {
	uint64_t sp;	    /* its stack pointer */
	uint64_t address;   /* of the code, as its file counts */
	const char *module; /* path of that file, of the core; NULL: the code is in none */
	char *function;	    /* its name, or FILE+0xADDRESS */
};

struct core_stack {
	struct core_frame *frames; /* innermost first */
	size_t n, cap;
	const char *missing; /* a file of a frame that is not there now, or another one; NULL */
	bool whole;	     /* they end where the thread began */
};

/*
 * core_stack__read - @s starts zeroed and is freed in any case.  Frames that are not in the core
 * file, or whose files are not there, end it.  0; or a negative errno with @f filled.
 */
int core_stack__read(struct core *c, struct core_stack *s, struct errmsg *f);
void core_stack__free(struct core_stack *s);

#endif
