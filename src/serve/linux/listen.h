/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where to listen: an address as people write it, and its socket.
 */
#ifndef XR_SERVE_LINUX_LISTEN_H
#define XR_SERVE_LINUX_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "base/errmsg.h"

#define LISTEN_TEXT 128u /* of an address, terminated: "unix:" and a path of at most 107 bytes */

struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un local;
	} to;
	socklen_t size;
	bool loopback; /* only this machine gets there; so it is with a Unix socket */
};

/*
 * listen__parse - "unix:/path", "127.0.0.1:9419", "[::1]:9419", "localhost:9419" or "9419", which
 * are 127.0.0.1; port 0: the kernel chooses.  Names are not looked up: what they mean can change.
 * -EINVAL, @f filled.
 */
int listen__parse(const char *text, struct listen_address *out, struct errmsg *f);

/* A socket that listens. */
struct listen_socket {
	int fd;			/* -1: none */
	char text[LISTEN_TEXT]; /* its address, with the port it really has */
	char path[LISTEN_TEXT]; /* of a Unix socket; "": it is not one */
	dev_t device;		/* of that file: */
	ino_t inode;		/* another one in its place is not removed */
};

/*
 * listen__open - bind and listen; the socket does not block.  A Unix socket is 0660; one that a
 * service left behind, on which no process listens any more, is replaced.  Negative errno, @f
 * filled.
 */
int listen__open(struct listen_socket *s, const struct listen_address *a, struct errmsg *f);

/* listen__close - and remove the file of a Unix socket, if it is still this one's. */
void listen__close(struct listen_socket *s);

#endif
