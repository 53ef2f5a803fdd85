/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "serve/linux/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* An absolute path, or with @ in front a name that is in no file system. */
static int address__parse(struct sockaddr_un *at, const char *name, socklen_t *len)
{
	size_t n = strlen(name);

	if ((*name != '/' && *name != '@') || n < 2 || n > sizeof(at->sun_path) - 1)
		return -EINVAL;
	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(at->sun_path, name, n);
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	if (*name == '@')
		at->sun_path[0] = '\0';
	else
		(*len)++;
	return 0;
}

int notify__send(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un at;
	socklen_t len;
	int fd, err;

	if (!name || !*name)
		return 0;
	err = address__parse(&at, name, &len);
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&at, len) < 0)
		err = -errno;
	close(fd);
	return err;
}

int notify__reloading(void)
{
	struct timespec now;
	char state[64];

	/* by which systemd tells this reload from one before it */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%lld",
		 (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	return notify__send(state);
}
