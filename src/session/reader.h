/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For whom the source files that a process names may be read, and where (os/texts.h).  One that
 * changed its user, or sees other files than this program, names them in vain.
 */
#ifndef XR_SESSION_READER_H
#define XR_SESSION_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts as { 0 }; freed by reader__end. */
struct reader {
	char *directory; /* NULL: nothing is to be read */
	uint32_t uid;
	bool looked;
};

/*
 * reader__look - at process @pid, again and again.  @forked: it was while it was profiled: root's
 * children give up root's rights before they serve somebody, so those who are root's then count
 * for nothing.
 */
void reader__look(struct reader *r, pid_t pid, bool forked);

void reader__end(struct reader *r);

#endif
