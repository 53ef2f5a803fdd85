/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of servers that a user may give; requests are in tests/live/test_push.sh. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "os/os.h"
#include "serve/linux/post.h"
#include "tap.h"

#define NEVER_S 30u
#define LARGE	(200u << 10) /* of a request: it has ten seconds more */

static bool names_hang; /* servers of names say nothing */

/* In the place of the C library's. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **out)
{
	if (!names_hang)
		return ((int (*)(const char *, const char *, const struct addrinfo *,
				 struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo"))(node, service,
										      hints, out);
	sleep(NEVER_S);
	return EAI_AGAIN;
}

TEST(good_url)
{
	static const char *const rows[][2] = {
		{"http://h", "http://h"},
		{"https://h:4040/a/b", "https://h:4040/a/b"},
		{"http://h/", "http://h"},
		{"http://h/p//", "http://h/p"},
		{"http://[::1]:4318", "http://[::1]:4318"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct errmsg f = {""};
		char *out = NULL;
		int err = post__url(&out, rows[i][0], &f);

		tap__is(err ? f.text : out, rows[i][1], "%s, without a slash at the end",
			rows[i][0]);
		free(out);
	}
}

TEST(bad_url)
{
	static const char *const rows[][2] = {
		{"http://u:pass@h", "contains a user"},
		{"http://pass@h", "contains a user"},
		{"http://:pass@h/", "contains a"},
		{"ftp://h", "http or https URL: 'ftp://h'; write http://HOST:PORT"},
		{"file:///etc/group", "http or https URL: 'file:///etc/"},
		{"unix:///x", "http or https URL: 'unix:///x'"},
		{"", "http or https URL: ''"},
		{"h:4040", "http or https URL: 'h:4040'"},
		{"http://", "http or https URL: 'http://'"},
		/* what may be a secret, or is more than a line, is not repeated */
		{"http://h\r\nX: y", "http or https URL; write"},
		{"ftp://u:pass@h", "http or https URL; write"},
		{"http://h/?q=1", "has a query"},
		{"http://h/#f", "has a fragment"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct errmsg f = {""};
		char *out = NULL;

		tap__ok(post__url(&out, rows[i][0], &f) == -EINVAL && strstr(f.text, rows[i][1]) &&
				!strstr(f.text, "pass"),
			"refused: %s", f.text);
		free(out);
	}
}

/* Until the request is over: the longest that a call took, in ns. */
static uint64_t finish(struct post *p, struct post_answer *answer)
{
	uint64_t begin, took, longest = 0;
	bool over = false;

	while (!over) {
		struct poll_until w = post__wait(p);

		poll(&(struct pollfd){.fd = w.fd, .events = POLLIN}, 1, w.ms);
		begin = os__now();
		over = post__run(p, answer);
		took = os__now() - begin;
		longest = took > longest ? took : longest;
	}
	return longest;
}

TEST(gone)
{
	static const struct post_request request = {
		.url = "http://127.0.0.1:1/", .data = "x", .size = 1};
	struct post_answer answer = {0};
	struct poll_until w;
	struct errmsg f = {""};
	struct post *p = NULL;

	tap__ok(!dlopen("libcurl.so.4", RTLD_LAZY | RTLD_NOLOAD) &&
			!dlopen("libmicrohttpd.so.12", RTLD_LAZY | RTLD_NOLOAD),
		"no library is loaded before it is used");
	if (!tap__ok(!post__open(&p, NULL, 60000, &f), "libcurl is there: %s", f.text))
		return;
	w = post__wait(p);
	tap__ok(w.fd >= 0 && w.ms == -1 && !post__busy(p), "nothing to do, nothing to wait for");
	tap__ok(!post__start(p, &request) && post__busy(p) && post__wait(p).ms >= 0, "a request");
	finish(p, &answer);
	tap__ok(!answer.status && answer.error && !post__busy(p), "no server listens: %s",
		answer.error);
	tap__ok(!post__start(p, &request), "another");
	post__close(p);
	tap__ok(post__open(&p, "/nothing", 1000, &f) == -ENOENT, "no certificates: %s", f.text);
}

/* Who waits for it does nothing else. */
TEST(names)
{
	static const struct post_request request = {
		.url = "http://slow.example/", .data = "x", .size = 1};
	struct post_answer answer = {0};
	struct errmsg f = {""};
	struct post *p = NULL;
	uint64_t begin, longest;

	names_hang = true;
	if (!tap__ok(!post__open(&p, NULL, 200, &f) && !post__start(p, &request),
		     "a server by name: %s", f.text))
		return;
	longest = finish(p, &answer);
	tap__ok(!answer.status, "its name is not found in time: that is the end of it");
	begin = os__now();
	post__close(p);
	begin = os__now() - begin;
	tap__ok(longest < NEVER_S * NS_PER_S / 2 && begin < NEVER_S * NS_PER_S / 2,
		"no call waits for the lookup: %.1f s, %.1f s", (double)longest / NS_PER_S,
		(double)begin / NS_PER_S);
}

/* Answers the second request alone, when it is whole, and late. */
static void *server__run(void *arg)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	const int *fd = arg;
	static char data[64 << 10];
	size_t all = 0;
	ssize_t n;
	int first = accept(*fd, NULL, NULL), second = accept(*fd, NULL, NULL);

	while (all < LARGE && (n = read(second, data, sizeof(data))) > 0)
		all += (size_t)n;
	usleep(600000);
	if (write(second, answer, strlen(answer)) < 0)
		tap__diag("the answer cannot be written");
	close(first);
	close(second);
	return NULL;
}

static unsigned int status_of(struct post *p, const char *url, const void *data, size_t size)
{
	const struct post_request request = {.url = url, .data = data, .size = size};
	struct post_answer answer = {0};

	if (post__start(p, &request))
		return 1;
	finish(p, &answer);
	return answer.status;
}

/* Slow networks: a large body has more time. */
TEST(slow)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static char data[LARGE];
	struct errmsg f = {""};
	struct post *p = NULL;
	socklen_t len = sizeof(at);
	pthread_t server;
	char url[64];

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	tap__bail_if(fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 4) ||
			     getsockname(fd, (struct sockaddr *)&at, &len) ||
			     pthread_create(&server, NULL, server__run, &fd) ||
			     post__open(&p, NULL, 300, &f),
		     "no server: %s", f.text);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", ntohs(at.sin_port));
	tap__ok(status_of(p, url, "x", 1) == 0, "no answer in time");
	tap__ok(status_of(p, url, data, sizeof(data)) == 200, "a large request has more of it");
	post__close(p);
	pthread_join(server, NULL);
	close(fd);
}
