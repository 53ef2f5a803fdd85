/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "serve/linux/http_parts.h"

#define EVENTS	     (HTTP_CLIENTS_MAX + 1)
#define MEMORY_SIZE  16384u /* of a connection: its headers, and what is read and written */
#define STALLED_S    30u    /* a client that takes nothing, or says nothing, for so long is gone */
#define CLOSING_RUNS 4	    /* for the last answers, as far as they go without waiting */

/* The token, and whether the address can do without. */
static int http__prepare(struct http *h, struct listen_address *a, struct errmsg *f)
{
	int err = listen__parse(h->config.listen, a, f);

	if (err)
		return err;
	if (!h->config.token && !a->loopback)
		return errmsg__set(f, -EPERM,
				   "%s is open to other machines, which requires a token: give "
				   "--token-file, or listen on 127.0.0.1 or unix:/PATH",
				   h->config.listen);
	h->browsers = a->to.any.sa_family != AF_UNIX;
	return h->config.token ? token__read(&h->token, h->config.token, f) : 0;
}

static int http__start(struct http *h)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = h};
	const union MHD_DaemonInfo *info;

	h->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, http_clients__allow, h,
		http_request__handle, h, MHD_OPTION_LISTEN_SOCKET, h->listen.fd,
		MHD_OPTION_CONNECTION_LIMIT, HTTP_CLIENTS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)MEMORY_SIZE, MHD_OPTION_CONNECTION_TIMEOUT, STALLED_S,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, http_clients__notify,
		h, MHD_OPTION_NOTIFY_COMPLETED, http_request__completed, h,
		MHD_OPTION_URI_LOG_CALLBACK, http_request__begun, h, MHD_OPTION_END);
	if (!h->daemon)
		return -ENOMEM;
	info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -ENOTSUP;
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (h->epoll < 0 || epoll_ctl(h->epoll, EPOLL_CTL_ADD, info->epoll_fd, &event))
		return -errno;
	return 0;
}

int http__open(struct http **out, const struct http_config *config, struct errmsg *f)
{
	struct http *h = calloc(1, sizeof(*h));
	struct listen_address a;
	int err;

	*out = NULL;
	if (!h)
		return errmsg__set(f, -ENOMEM, "out of memory");
	h->config = *config;
	h->listen.fd = h->epoll = -1;
	err = http__prepare(h, &a, f);
	if (!err)
		err = listen__open(&h->listen, &a, f);
	if (!err) {
		err = http__start(h);
		if (err)
			errmsg__set(f, err, "cannot serve %s: %s", h->listen.text, strerror(-err));
	}
	if (err) {
		http__close(h);
		return err;
	}
	*out = h;
	return 0;
}

const char *http__address(const struct http *h)
{
	return h->listen.text;
}

struct poll_until http__wait(const struct http *h)
{
	int ms = h->again ? 0 : http_clients__ms(h);
	MHD_UNSIGNED_LONG_LONG mhd;

	if (MHD_get_timeout(h->daemon, &mhd) == MHD_YES && (ms < 0 || mhd < (unsigned int)ms))
		ms = (int)mhd;
	return (struct poll_until){h->epoll, ms};
}

/* Find clients that wait for an answer and went away. */
static void http__look(struct http *h)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(h->epoll, events, EVENTS, 0);

	for (int i = 0; i < n; i++) {
		struct client *c = events[i].data.ptr;

		if (c >= h->clients && c < h->clients + HTTP_CLIENTS_MAX &&
		    c->state == CLIENT_ASKED)
			http_request__gone(h, c);
	}
}

void http__run(struct http *h)
{
	http__look(h);
	http_clients__late(h);
	h->again = false;
	MHD_run(h->daemon);
	http_clients__make_room(h);
}

const struct http_request *http__waiting(const struct http *h, uint32_t id)
{
	const struct client *c = h ? &h->clients[id % HTTP_CLIENTS_MAX] : NULL;

	return c && c->state == CLIENT_ASKED && c->request.id == id ? &c->request : NULL;
}

void http__answer(struct http *h, uint32_t id, unsigned int status, const char *type,
		  const void *data, size_t size)
{
	if (http__waiting(h, id))
		http_request__answer(h, &h->clients[id % HTTP_CLIENTS_MAX], status, type, data,
				     size);
}

void http__counts(const struct http *h, uint64_t *requests, uint64_t *refused)
{
	*requests = h->requests;
	*refused = h->refused;
}

/* Answer all clients that wait: MHD cannot end while one does. */
static void http__end(struct http *h)
{
	static const char line[] = HTTP_ENDS;

	h->closing = true;
	MHD_quiesce_daemon(h->daemon); /* else it closes the socket */
	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++)
		if (h->clients[i].state == CLIENT_ASKED)
			http_request__answer(h, &h->clients[i], MHD_HTTP_SERVICE_UNAVAILABLE, NULL,
					     line, sizeof(line) - 1);
	for (int i = 0; i < CLOSING_RUNS; i++)
		MHD_run(h->daemon);
}

void http__close(struct http *h)
{
	if (!h)
		return;
	if (h->daemon) {
		http__end(h);
		MHD_stop_daemon(h->daemon);
	}
	if (h->epoll >= 0)
		close(h->epoll);
	listen__close(&h->listen);
	explicit_bzero(&h->token, sizeof(h->token));
	free(h);
}
