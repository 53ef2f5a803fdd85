/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the parts of the front wait together: each has a descriptor to poll and a time.
 */
#ifndef XR_SERVE_LINUX_POLL_UNTIL_H
#define XR_SERVE_LINUX_POLL_UNTIL_H

struct poll_until {
	int fd; /* readable when there is something to do; -1: none */
	int ms; /* until there is something to do in any case; -1: never */
};

#endif
