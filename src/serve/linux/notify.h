/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_SERVE_LINUX_NOTIFY_H
#define XR_SERVE_LINUX_NOTIFY_H

/*
 * What the service manager is told, by the protocol of sd_notify(3): lines of NAME=VALUE.  Where
 * $NOTIFY_SOCKET does not name its socket nothing is done.
 *
 *	notify__send("READY=1")			all is open, sampling has begun
 *	notify__reloading()			SIGHUP came; READY=1 follows
 *	notify__send("STOPPING=1")		the end has begun
 *	notify__send("STATUS=...")		a line for people
 *
 * 0, also where there is nobody to tell; negative errno.  Nothing waits.
 */
int notify__send(const char *state);
int notify__reloading(void);

#endif
