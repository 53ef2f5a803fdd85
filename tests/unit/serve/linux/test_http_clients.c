/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who may connect: as many as there are places from this machine, fewer from one address of
 * another. */
#include <arpa/inet.h>

#include "serve/linux/http_parts.h"
#include "tap.h"

/* May @text connect if it has HTTP_PEER_MAX connections already? */
static bool one_more(const char *text)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	const bool is_v4 = inet_pton(AF_INET, text, &v4.sin_addr) == 1;
	static struct http h;

	h = (struct http){0};
	tap__bail_if(!is_v4 && inet_pton(AF_INET6, text, &v6.sin6_addr) != 1, "%s", text);
	for (size_t i = 0; i < HTTP_PEER_MAX; i++) {
		h.clients[i].state = CLIENT_READING;
		memcpy(h.clients[i].peer, is_v4 ? (void *)&v4.sin_addr : &v6.sin6_addr,
		       is_v4 ? sizeof(v4.sin_addr) : sizeof(v6.sin6_addr));
	}
	return http_clients__allow(&h, is_v4 ? (void *)&v4 : &v6,
				   is_v4 ? sizeof(v4) : sizeof(v6)) == MHD_YES;
}

TEST(allow)
{
	static const struct {
		const char *text;
		bool local;
	} rows[] = {
		{"127.0.0.1", true},	     {"127.8.9.10", true},   {"::1", true},
		{"::ffff:127.0.0.1", true},  {"192.0.2.1", false},   {"2001:db8::1", false},
		{"::ffff:192.0.2.1", false}, {"::127.0.0.1", false},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		tap__ok(one_more(rows[i].text) == rows[i].local, "%s is on %s machine",
			rows[i].text, rows[i].local ? "this" : "another");
}
