/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who called a function: a tree, as lines.
 */
#ifndef XR_CMD_LINUX_TOP_CALLERS_H
#define XR_CMD_LINUX_TOP_CALLERS_H

#include "cmd/linux/top_model.h"

#define TOP_CALLERS_MAX 256u

/* A line: one function on the way from the one asked for outward. */
struct top_caller {
	uint32_t function; /* a row of the functions of the model */
	uint32_t depth;	   /* 1: it called the one asked for, 2: it called that one, ... */
	uint64_t samples;  /* that came this way */
};

/*
 * top_callers__of - those of function @function, in @scope: each caller before its own callers, the
 * heaviest first, those with less than a hundredth of the samples left out.  Of a function that
 * calls itself the outermost call counts; callers that call themselves are merged if @scope asks
 * for it.  Into @out, at most TOP_CALLERS_MAX: returns how many, or -ENOMEM.
 */
int top_callers__of(struct top_model *m, const struct top_scope *scope, uint32_t function,
		    struct top_caller *out);

#endif
