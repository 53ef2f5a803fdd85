/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a client sends, through a real socket to the real server.  It comes in parts: 0xff ends one,
 * 0xfe answers what was asked, 0xfd ends what the client sends, 0xfc closes the connection and
 * opens another.
 */
#include <poll.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "serve/linux/http_parts.h"
#include "serve/linux/libraries.h"

#define PARTS_MAX   12
#define END_SEEN_MS 20000 /* less than the time a silent client is kept */

static const char profile[] = "a profile";

static struct {
	struct http *http;
	uint32_t asked[HTTP_CLIENTS_MAX];
	size_t nasked;
	bool answers; /* at once */
} server;

static void answer(uint32_t id)
{
	http__answer(server.http, id, 200, HTTP_TYPE_PROFILE, profile, sizeof(profile));
}

static void ask(void *arg, const struct http_request *r)
{
	if (!r->id)
		fuzz__fail("no id");
	if (r->want == HTTP_GONE) {
		for (size_t i = 0; i < server.nasked; i++)
			if (server.asked[i] == r->id)
				server.asked[i] = 0;
		return;
	}
	if (r->want == HTTP_PROFILE && (!r->seconds || r->seconds > HTTP_SECONDS_MAX))
		fuzz__fail("%u s", r->seconds);
	if (server.answers)
		answer(r->id);
	else if (server.nasked < HTTP_CLIENTS_MAX)
		server.asked[server.nasked++] = r->id;
	else
		fuzz__fail("more are asked than can be connected");
}

static void answer_all(void)
{
	size_t n = server.nasked;

	server.nasked = 0;
	for (size_t i = 0; i < n; i++)
		answer(server.asked[i]);
}

/* Until nothing is left to be done now. */
static void run(void)
{
	int turns = 0;

	do {
		http__run(server.http);
		if (++turns > 1000)
			fuzz__fail("there is always something to do");
	} while (!http__wait(server.http).ms);
}

/* What came back begins as an answer does. */
static void receive(int fd, bool *any)
{
	char data[32768];
	ssize_t n = recv(fd, data, sizeof(data), MSG_DONTWAIT);

	if (n <= 0)
		return;
	if (!*any && (n < 13 || memcmp(data, "HTTP/1.", 7)))
		fuzz__fail("no answer: %.*s", (int)n, data);
	*any = true;
}

static bool somebody(void)
{
	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++)
		if (server.http->clients[i].state != CLIENT_FREE)
			return true;
	return false;
}

static int arrive(void)
{
	int fds[2];
	struct sockaddr_storage from = {.ss_family = AF_UNIX};

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds))
		fuzz__fail("socketpair: %s", strerror(errno));
	if (MHD_add_connection(server.http->daemon, fds[0], (struct sockaddr *)&from,
			       sizeof(struct sockaddr_un)) != MHD_YES)
		fuzz__fail("MHD does not take it");
	return fds[1];
}

static void leave(int fd)
{
	close(fd);
	run();
	/* a process that reads /proc now delays what close() does: the server sees the end later */
	while (somebody()) {
		struct pollfd ended = {.fd = http__wait(server.http).fd, .events = POLLIN};

		if (poll(&ended, 1, END_SEEN_MS) == 0)
			fuzz__fail("somebody is left");
		run();
	}
	server.nasked = 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const struct http_config config = {.listen = "127.0.0.1:0", .ask = ask};
	struct errmsg f;

	if (libraries__microhttpd(&f) || http__open(&server.http, &config, &f))
		fuzz__fail("%s", f.text);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint64_t requests, refused;
	bool any = false;
	int fd;

	server.answers = input__u8(&in) & 1;
	fd = arrive();
	for (int parts = 0; in.left && parts < PARTS_MAX; parts++) {
		size_t len = 0;

		while (len < in.left && in.at[len] < 0xfc)
			len++;
		/* bytes that do not fit, or have no receiver, are dropped */
		if (len && send(fd, in.at, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
		    errno != EPIPE && errno != EAGAIN && errno != ECONNRESET)
			fuzz__fail("send: %s", strerror(errno));
		run();
		receive(fd, &any);
		if (len < in.left) {
			if (in.at[len] == 0xfe)
				answer_all();
			else if (in.at[len] == 0xfd)
				shutdown(fd, SHUT_WR);
			else if (in.at[len] == 0xfc) {
				leave(fd);
				fd = arrive();
				any = false;
			}
			len++;
		}
		in.at += len;
		in.left -= len;
	}
	run();
	receive(fd, &any);
	leave(fd);
	http__counts(server.http, &requests, &refused);
	if (refused > requests)
		fuzz__fail("%llu of %llu are refused", (unsigned long long)refused,
			   (unsigned long long)requests);
	return 0;
}
