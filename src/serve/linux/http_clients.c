/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/os.h"
#include "serve/linux/http_parts.h"

#define REST_MS 200u /* when there is no descriptor or memory for another connection */
#define BATCH	64u  /* connections looked at before others have their turn */

void client__is(struct client *c, enum client_state state, uint64_t ms)
{
	c->state = state;
	c->since = os__now();
	c->until = c->since + ms * NS_PER_MS;
}

/* Its address, or zeros if it is on this machine: there one user is as good as another. */
static void client__peer(unsigned char peer[16], const struct sockaddr_storage *from)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;

	memset(peer, 0, 16);
	if (from->ss_family == AF_INET && ntohl(v4->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		memcpy(peer, &v4->sin_addr, sizeof(v4->sin_addr));
	else if (from->ss_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr))
		memcpy(peer, &v6->sin6_addr, sizeof(v6->sin6_addr));
}

static bool http_clients__too_many(const struct http *h, const unsigned char peer[16])
{
	static const unsigned char local[16];
	size_t n = 0;

	if (!memcmp(peer, local, 16))
		return false;
	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++)
		n += h->clients[i].state != CLIENT_FREE && !memcmp(h->clients[i].peer, peer, 16);
	return n >= HTTP_PEER_MAX;
}

static struct client *http_clients__free(struct http *h)
{
	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++)
		if (h->clients[i].state == CLIENT_FREE)
			return &h->clients[i];
	return NULL;
}

/* End it: MHD finds out, and reports it. */
static void client__end(struct client *c)
{
	c->doomed = true;
	shutdown(c->fd, SHUT_RDWR);
}

/*
 * If a client waits to connect, drop the one that has had the most time to send a request and did
 * not.  False: none can be dropped, as all wait for answers.
 */
static bool http_clients__make_room(struct http *h)
{
	struct pollfd waiting = {.fd = h->listen.fd, .events = POLLIN};
	struct client *oldest = NULL;

	if (poll(&waiting, 1, 0) != 1)
		return true;
	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++) {
		struct client *c = &h->clients[i];

		if (c->doomed)
			return true;
		if (c->state == CLIENT_READING && (!oldest || c->since < oldest->since))
			oldest = c;
	}
	if (oldest)
		client__end(oldest);
	return oldest != NULL;
}

/* Have the kernel report new connections, or keep them for later. */
static void http_clients__listen(struct http *h, bool on)
{
	struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.ptr = &h->listen};

	if (on != h->listening && !epoll_ctl(h->epoll, EPOLL_CTL_MOD, h->listen.fd, &event))
		h->listening = on;
}

static void http_clients__add(struct http *h, struct client *c, int fd,
			      const struct sockaddr_storage *from, socklen_t size)
{
	unsigned char peer[16];

	client__peer(peer, from);
	if (http_clients__too_many(h, peer)) {
		h->requests++;
		h->refused++;
		close(fd);
		return;
	}
	*c = (struct client){.fd = fd};
	memcpy(c->peer, peer, sizeof(peer));
	h->arriving = c;
	/* it closes what it cannot take */
	MHD_add_connection(h->daemon, fd, (const struct sockaddr *)from, size);
	h->arriving = NULL;
}

void http_clients__accept(struct http *h)
{
	struct sockaddr_storage from;
	struct client *c;

	if (h->rest && os__now() < h->rest)
		return;
	h->rest = 0;
	for (unsigned int i = 0; i < BATCH; i++) {
		socklen_t size = sizeof(from);
		int fd;

		c = http_clients__free(h);
		if (!c) {
			http_clients__listen(h, http_clients__make_room(h));
			return;
		}
		memset(&from, 0, sizeof(from));
		fd = accept4(h->listen.fd, (struct sockaddr *)&from, &size,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			http_clients__add(h, c, fd, &from, size);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			h->rest = os__now() + REST_MS * NS_PER_MS;
			http_clients__listen(h, false);
			return;
		}
		if (errno == EAGAIN)
			break;
	}
	http_clients__listen(h, http_clients__free(h) != NULL);
}

void http_clients__notify(void *arg, struct MHD_Connection *connection, void **socket_context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http *h = arg;
	struct client *c = *socket_context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		c = h->arriving;
		*socket_context = c;
		if (!c)
			return;
		c->connection = connection;
		client__is(c, CLIENT_READING, READING_MS);
		return;
	}
	if (!c)
		return;
	if (c->begun) {
		/* MHD answered by itself, or it went away in the middle of its request */
		h->requests++;
		h->refused++;
	}
	if (c->response)
		MHD_destroy_response(c->response);
	*c = (struct client){.fd = -1};
}

void http_clients__late(struct http *h)
{
	uint64_t now = os__now();

	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++) {
		struct client *c = &h->clients[i];

		if (c->state == CLIENT_FREE || c->doomed || now < c->until)
			continue;
		if (c->state == CLIENT_ASKED)
			http_request__unanswered(h, c);
		else
			client__end(c);
	}
}

int http_clients__ms(const struct http *h)
{
	uint64_t now = os__now(), first = h->rest ? h->rest : UINT64_MAX;

	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++) {
		const struct client *c = &h->clients[i];

		if (c->state != CLIENT_FREE && !c->doomed && c->until < first)
			first = c->until;
	}
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now) / NS_PER_MS + 1);
}
