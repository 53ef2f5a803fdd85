/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a service manager receives: at a path, at an abstract name, and without NOTIFY_SOCKET. */
#define _GNU_SOURCE
#include "serve/linux/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "tap.h"

/* A socket at @path, or with @ in front at that name; its descriptor. */
static int listen_at(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	memcpy(at.sun_path, path, strlen(path));
	if (*path == '@')
		at.sun_path[0] = '\0';
	else
		len++;
	return bind(fd, (struct sockaddr *)&at, len) ? -1 : fd;
}

static const char *received(int fd)
{
	static char text[256];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* What @name receives of @send; "": nothing. */
static const char *sent_to(const char *name, int (*send)(void))
{
	int fd = listen_at(name);

	setenv("NOTIFY_SOCKET", name, 1);
	tap__bail_if(fd < 0 || send(), "%s", name);
	return received(fd);
}

static int ready(void)
{
	return notify__send("READY=1");
}

TEST(notify)
{
	char name[64], longer[200];

	unsetenv("NOTIFY_SOCKET");
	tap__ok(!ready(), "without NOTIFY_SOCKET it succeeds");
	snprintf(name, sizeof(name), "@%s", tap__folder());
	tap__is(sent_to(name, ready), "READY=1", "by a name that is in no file system");
	tap__is(sent_to(tap__path("socket"), ready), "READY=1", "by a path");
	tap__ok(!strncmp(sent_to(tap__path("reload"), notify__reloading),
			 "RELOADING=1\nMONOTONIC_USEC=", 27),
		"a reload, and when it was");

	setenv("NOTIFY_SOCKET", tap__path("missing"), 1);
	tap__ok(ready() == -ENOENT, "a missing socket is an error");
	setenv("NOTIFY_SOCKET", "relative", 1);
	tap__ok(ready() == -EINVAL, "a relative path is refused");
	memset(longer, 'a', sizeof(longer));
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	setenv("NOTIFY_SOCKET", longer, 1);
	tap__ok(ready() == -EINVAL, "nor one that is too long");
}
