/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/log.h"

/*
 * If no process reads, the line is lost, and the writer loses WAIT_MS at most.  A pipe that poll()
 * reports as writable takes a line whole, at once: it is shorter than PIPE_BUF.
 */
#define WAIT_MS 50

void log__put(const char *line, size_t len)
{
	struct pollfd err = {.fd = STDERR_FILENO, .events = POLLOUT};
	ssize_t n = -1;
	int ready;

	do {
		ready = poll(&err, 1, WAIT_MS);
		if (ready > 0)
			n = write(STDERR_FILENO, line, len);
	} while ((ready < 0 || (ready > 0 && n < 0)) && errno == EINTR);
}
