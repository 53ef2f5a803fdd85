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

TEST(notify)
{
	const char *folder;
	char path[64], name[64], longer[200];
	int by_path, by_name;

	unsetenv("NOTIFY_SOCKET");
	tap__ok(!notify__send("READY=1"), "without NOTIFY_SOCKET it succeeds");
	folder = tap__folder();
	snprintf(path, sizeof(path), "%s/socket", folder);
	snprintf(name, sizeof(name), "@%s", folder);
	by_path = listen_at(path);
	by_name = listen_at(name);
	tap__ok(by_path >= 0 && by_name >= 0, "two sockets");

	setenv("NOTIFY_SOCKET", path, 1);
	tap__ok(!notify__send("READY=1") && !strcmp(received(by_path), "READY=1"), "by a path");
	tap__ok(!notify__reloading() &&
			!strncmp(received(by_path), "RELOADING=1\nMONOTONIC_USEC=", 27),
		"a reload, and when it was");
	setenv("NOTIFY_SOCKET", name, 1);
	tap__ok(!notify__send("STOPPING=1") && !strcmp(received(by_name), "STOPPING=1"),
		"by a name that is in no file system");

	setenv("NOTIFY_SOCKET", "relative", 1);
	tap__ok(notify__send("READY=1") == -EINVAL, "a relative path is refused");
	memset(longer, 'a', sizeof(longer));
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	setenv("NOTIFY_SOCKET", longer, 1);
	tap__ok(notify__send("READY=1") == -EINVAL, "nor one that is too long");
	unlink(path);
	setenv("NOTIFY_SOCKET", path, 1);
	tap__ok(notify__send("READY=1") == -ENOENT, "a missing socket is an error");
	close(by_path);
	close(by_name);
}
