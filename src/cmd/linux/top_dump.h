/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `dump` of a process, for `top`: a helper takes it, so that sampling goes on meanwhile.
 */
#ifndef XR_CMD_LINUX_TOP_DUMP_H
#define XR_CMD_LINUX_TOP_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "os/linux/helper.h"

/* Starts as TOP_DUMP_NONE. */
struct top_dump {
	struct helper helper;
	struct buf text; /* so far: lines, and nothing that acts on a terminal */
};

#define TOP_DUMP_NONE ((struct top_dump){.helper = {.fd = -1}})

/*
 * top_dump__start - of process @pid; one that has not come is abandoned.  0; 1: it cannot be taken,
 * and its text says why; -ENOMEM.
 */
int top_dump__start(struct top_dump *d, uint32_t pid);

/* top_dump__poll - 1: there is more of its text; 0; -ENOMEM. */
int top_dump__poll(struct top_dump *d);
void top_dump__free(struct top_dump *d);

#endif
