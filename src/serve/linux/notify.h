/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_SERVE_LINUX_NOTIFY_H
#define XR_SERVE_LINUX_NOTIFY_H

/*
 * Messages to the service manager, by the protocol of sd_notify(3): lines of NAME=VALUE.  If
 * $NOTIFY_SOCKET does not name its socket, these functions do nothing.
 *
 *	notify__send("READY=1")			all is open, sampling has begun
 *	notify__reloading()			SIGHUP came; READY=1 follows
 *	notify__send("STOPPING=1")		the end has begun
 *	notify__send("STATUS=...")		a line for people
 *
 * Return 0, also without a service manager; negative errno.  They do not wait.
 */
int notify__send(const char *state);
int notify__reloading(void);

#endif
