/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a dump shows of the program's data: the calls as code, and the variables of each function.
 */
#ifndef XR_CMD_LINUX_DUMP_VALUES_H
#define XR_CMD_LINUX_DUMP_VALUES_H

#include <stdbool.h>
#include <sys/types.h>

#include "layout.h"
#include "profile/profile.h"
#include "values/calls.h"
#include "values/locals.h"

/* Of one frame.  All NULL: it is not a function's frame, or it returned while it was read. */
struct frame_values {
	char *call; /* as code */
	struct locals locals;
	bool has_locals;
};

/*
 * frame_values__read - of @call, whose memory @reader reads: its code if @calls, its variables if
 * @locals.  *@left: reads that may still be made for all frames, FRAME_VALUES_READS at first.
 * -ENOMEM: what was read so far is to be freed, too.
 */
#define FRAME_VALUES_READS 1000000u
int frame_values__read(const struct mem_reader *reader, const struct xr_row *row,
		       const struct call *call, bool calls, bool locals, uint32_t *left,
		       struct frame_values *v);
void frame_values__free(struct frame_values *v); /* all NULL again */

/*
 * dump_values__read - for each frame of @stack, from the memory of process @pid, whose row is @row.
 * The array is the caller's.  0; -EFAULT: R's contexts cannot be read; -ENOMEM.
 */
int dump_values__read(pid_t pid, const struct xr_row *row, const struct stack *stack, bool calls,
		      bool locals, struct frame_values **out);
void dump_values__free(struct frame_values *values, const struct stack *stack);

#endif
