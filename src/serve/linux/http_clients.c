/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "os/os.h"
#include "serve/linux/http_parts.h"

void client__is(struct client *c, enum client_state state, uint64_t ms)
{
	c->state = state;
	c->since = os__now();
	c->until = c->since + ms * NS_PER_MS;
}

/* Is @at on this machine?  A socket of [::] has clients of 127.0.0.1 as ::ffff:127.0.0.1. */
static bool address__is_local(const struct in6_addr *at)
{
	return IN6_IS_ADDR_LOOPBACK(at) ||
	       (IN6_IS_ADDR_V4MAPPED(at) && at->s6_addr[12] == IN_LOOPBACKNET);
}

/* Its address, or zeros if it is on this machine: there one user is as good as another. */
static void client__peer(unsigned char peer[16], const struct sockaddr *from)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;

	memset(peer, 0, 16);
	if (from->sa_family == AF_INET && ntohl(v4->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		memcpy(peer, &v4->sin_addr, sizeof(v4->sin_addr));
	else if (from->sa_family == AF_INET6 && !address__is_local(&v6->sin6_addr))
		memcpy(peer, &v6->sin6_addr, sizeof(v6->sin6_addr));
}

enum MHD_Result http_clients__allow(void *arg, const struct sockaddr *from, socklen_t size)
{
	static const unsigned char local[16];
	struct http *h = arg;
	unsigned char peer[16];
	size_t n = 0;

	(void)size;
	client__peer(peer, from);
	if (!memcmp(peer, local, 16))
		return MHD_YES;
	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++)
		n += h->clients[i].state != CLIENT_FREE && !memcmp(h->clients[i].peer, peer, 16);
	if (n < HTTP_PEER_MAX)
		return MHD_YES;
	h->requests++;
	h->refused++;
	return MHD_NO;
}

/* End it: MHD finds out, and reports it. */
static void client__end(struct client *c)
{
	c->doomed = true;
	shutdown(c->fd, SHUT_RDWR);
}

void http_clients__make_room(struct http *h)
{
	struct client *oldest = NULL;
	size_t n = 0, reading = 0;

	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++) {
		struct client *c = &h->clients[i];

		if (c->doomed)
			return;
		n += c->state != CLIENT_FREE;
		if (c->state != CLIENT_READING)
			continue;
		reading++;
		if (!oldest || c->since < oldest->since)
			oldest = c;
	}
	/* the newest is not dropped for itself */
	if (n == HTTP_CLIENTS_MAX && reading > 1)
		client__end(oldest);
}

static void client__start(struct client *c, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info;

	*c = (struct client){.fd = -1, .connection = connection};
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		c->fd = info->connect_fd;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	if (info && info->client_addr)
		client__peer(c->peer, info->client_addr);
	client__is(c, CLIENT_READING, READING_MS);
}

void http_clients__notify(void *arg, struct MHD_Connection *connection, void **socket_context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http *h = arg;
	struct client *c = *socket_context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		for (c = h->clients; c < h->clients + HTTP_CLIENTS_MAX; c++) {
			if (c->state != CLIENT_FREE)
				continue;
			client__start(c, connection);
			*socket_context = c;
			return;
		}
		return; /* MHD has no more connections than there are places */
	}
	h->again = true; /* it listens again, if it had no place */
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
	uint64_t now = os__now(), first = UINT64_MAX;

	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++) {
		const struct client *c = &h->clients[i];

		if (c->state != CLIENT_FREE && !c->doomed && c->until < first)
			first = c->until;
	}
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now) / NS_PER_MS + 1);
}
