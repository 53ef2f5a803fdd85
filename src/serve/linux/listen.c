/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"

#define PORT_MAX       65535u
#define BACKLOG	       128
#define SOCKET_MODE    0660
#define ADDRESS_FORMAT "write 127.0.0.1:PORT, [::1]:PORT, or unix:/PATH"

static int listen__parse_unix(const char *path, struct listen_address *a, struct errmsg *f)
{
	struct sockaddr_un *to = &a->to.local;
	size_t len = strlen(path);

	if (path[0] != '/')
		return errmsg__set(f, -EINVAL,
				   "cannot listen on unix:%s: the path must begin with /", path);
	if (len >= sizeof(to->sun_path) || path[len - 1] == '/')
		return errmsg__set(f, -EINVAL,
				   "cannot listen on unix:%.120s: the path of a socket must name a "
				   "file and have at most %zu bytes",
				   path, sizeof(to->sun_path) - 1);
	to->sun_family = AF_UNIX;
	memcpy(to->sun_path, path, len + 1);
	a->size = sizeof(*to);
	a->loopback = true;
	return 0;
}

/* The host of an address: 0 or -EINVAL. */
static int listen__parse_host(const char *host, struct listen_address *a)
{
	struct sockaddr_in *v4 = &a->to.v4;
	struct sockaddr_in6 *v6 = &a->to.v6;
	size_t len = strlen(host);
	char inside[INET6_ADDRSTRLEN];

	if (host[0] == '[') {
		if (len < 3 || len - 2 >= sizeof(inside) || host[len - 1] != ']')
			return -EINVAL;
		memcpy(inside, host + 1, len - 2);
		inside[len - 2] = '\0';
		if (inet_pton(AF_INET6, inside, &v6->sin6_addr) != 1)
			return -EINVAL;
		v6->sin6_family = AF_INET6;
		a->size = sizeof(*v6);
		a->loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
		return 0;
	}
	if (inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1", &v4->sin_addr) != 1)
		return -EINVAL;
	v4->sin_family = AF_INET;
	a->size = sizeof(*v4);
	a->loopback = ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return 0;
}

int listen__parse(const char *text, struct listen_address *out, struct errmsg *f)
{
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
	char host[LISTEN_TEXT] = "127.0.0.1";
	size_t len = colon ? (size_t)(colon - text) : 0;
	uint64_t number;

	memset(out, 0, sizeof(*out));
	if (!strncmp(text, "unix:", 5))
		return listen__parse_unix(text + 5, out, f);
	if (colon && !len)
		return errmsg__set(f, -EINVAL,
				   "cannot listen on %s: give an address: 127.0.0.1%s, or "
				   "0.0.0.0%s for all addresses",
				   text, text, text);
	if (parse__u64(port, PORT_MAX, &number) || len >= sizeof(host))
		return errmsg__set(f, -EINVAL,
				   "cannot listen on %.160s: it does not end in a port from 0 to "
				   "65535; " ADDRESS_FORMAT,
				   text);
	if (colon) {
		memcpy(host, text, len);
		host[len] = '\0';
	}
	if (listen__parse_host(host, out))
		return errmsg__set(f, -EINVAL,
				   "cannot listen on %s: %s is not an IP address, and names are "
				   "not looked up; " ADDRESS_FORMAT,
				   text, host);
	if (out->to.any.sa_family == AF_INET6)
		out->to.v6.sin6_port = htons((uint16_t)number);
	else
		out->to.v4.sin_port = htons((uint16_t)number);
	return 0;
}

/* What people call it, with the port that it has. */
static void listen__name(struct listen_socket *s, const struct listen_address *a)
{
	char host[INET6_ADDRSTRLEN] = "";

	switch (a->to.any.sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &a->to.v4.sin_addr, host, sizeof(host));
		snprintf(s->text, sizeof(s->text), "%s:%u", host, ntohs(a->to.v4.sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &a->to.v6.sin6_addr, host, sizeof(host));
		snprintf(s->text, sizeof(s->text), "[%s]:%u", host, ntohs(a->to.v6.sin6_port));
		break;
	default:
		snprintf(s->text, sizeof(s->text), "unix:%s", a->to.local.sun_path);
		break;
	}
}

/* Does a process listen on the socket at @a?  0: no; -EADDRINUSE: yes, or what went wrong. */
static int listen__asked(const struct listen_address *a)
{
	int err = 0, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* EAGAIN: somebody does, and has no time */
	if (!connect(fd, &a->to.any, a->size) || errno == EAGAIN)
		err = -EADDRINUSE;
	else if (errno != ECONNREFUSED && errno != ENOENT)
		err = -errno;
	close(fd);
	return err;
}

/* Take away what a service that is no more left at the path. */
static int listen__clear(const struct listen_address *a, struct errmsg *f)
{
	const char *path = a->to.local.sun_path;
	struct stat st;
	int err;

	if (lstat(path, &st))
		return errno == ENOENT ? 0
				       : errmsg__set(f, -errno, "cannot listen on unix:%s: %s",
						     path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return errmsg__set(f, -EEXIST,
				   "cannot listen on unix:%s: it exists, and is not a socket; "
				   "remove it or choose another path",
				   path);
	err = listen__asked(a);
	if (err == -EADDRINUSE)
		return errmsg__set(f, err,
				   "cannot listen on unix:%s: another program listens there", path);
	if (err)
		return errmsg__set(f, err,
				   "cannot listen on unix:%s: it exists, and cannot be checked for "
				   "a listener: %s",
				   path, strerror(-err));
	if (unlink(path) && errno != ENOENT)
		return errmsg__set(
			f, -errno,
			"cannot listen on unix:%s: no program does, and it cannot be removed: %s",
			path, strerror(errno));
	return 0;
}

/* Bind it, so that its file is never open to more than it is to be. */
static int listen__bind_unix(struct listen_socket *s, const struct listen_address *a)
{
	mode_t mask;
	struct stat st;
	int err = 0;

	/* the kernel makes the file with the mode of the socket, less the mask */
	if (fchmod(s->fd, SOCKET_MODE))
		return -errno;
	mask = umask(0);
	if (bind(s->fd, &a->to.any, a->size))
		err = -errno;
	umask(mask);
	if (err)
		return err;
	memcpy(s->path, a->to.local.sun_path, strlen(a->to.local.sun_path) + 1);
	if (!lstat(s->path, &st)) {
		s->device = st.st_dev;
		s->inode = st.st_ino;
	}
	return 0;
}

static int listen__bind(struct listen_socket *s, const struct listen_address *a)
{
	const int yes = 1, no = 0;

	if (a->to.any.sa_family == AF_UNIX)
		return listen__bind_unix(s, a);
	/* a port whose last connections are not quite over is free */
	if (setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)))
		return -errno;
	/* [::] is all addresses, those of IPv4, too, whatever the system's default is */
	if (a->to.any.sa_family == AF_INET6 &&
	    setsockopt(s->fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)))
		return -errno;
	return bind(s->fd, &a->to.any, a->size) ? -errno : 0;
}

int listen__open(struct listen_socket *s, const struct listen_address *a, struct errmsg *f)
{
	struct listen_address real = *a;
	socklen_t size = sizeof(real.to);
	int err = 0;

	*s = (struct listen_socket){.fd = -1};
	listen__name(s, a);
	if (a->to.any.sa_family == AF_UNIX)
		err = listen__clear(a, f);
	if (err)
		return err;
	s->fd = socket(a->to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		err = -errno;
	if (!err)
		err = listen__bind(s, a);
	if (!err && listen(s->fd, BACKLOG))
		err = -errno;
	if (!err && a->to.any.sa_family != AF_UNIX && getsockname(s->fd, &real.to.any, &size))
		err = -errno;
	if (err) {
		errmsg__set(f, err, "cannot listen on %s: %s%s", s->text, strerror(-err),
			    err == -EADDRINUSE ? "; another program does; choose another port"
			    : err == -EACCES
				    ? "; choose a port from 1024 on, or a path that can be written"
			    : err == -ENOENT ? "; create its directory first"
					     : "");
		listen__close(s);
		return err;
	}
	listen__name(s, &real);
	return 0;
}

void listen__close(struct listen_socket *s)
{
	struct stat st;

	if (s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
	if (s->path[0] && !lstat(s->path, &st) && st.st_dev == s->device && st.st_ino == s->inode)
		unlink(s->path);
}
