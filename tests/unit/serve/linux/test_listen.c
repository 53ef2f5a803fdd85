/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses to listen on, and the files of Unix sockets. */
#include "serve/linux/listen.h"

#include <arpa/inet.h>

#include "tap.h"

TEST(parse)
{
	static const struct {
		const char *text;
		int family;
		bool loopback;
		unsigned int port;
	} rows[] = {
		{"127.0.0.1:9419", AF_INET, true, 9419},
		{"127.8.9.10:1", AF_INET, true, 1},
		{"9419", AF_INET, true, 9419},
		{"0", AF_INET, true, 0},
		{"localhost:65535", AF_INET, true, 65535},
		{"[::1]:9419", AF_INET6, true, 9419},
		{"0.0.0.0:9419", AF_INET, false, 9419},
		{"192.0.2.1:80", AF_INET, false, 80},
		{"[::]:9419", AF_INET6, false, 9419},
		{"[2001:db8::1]:9419", AF_INET6, false, 9419},
		{"[::ffff:127.0.0.1]:9419", AF_INET6, false, 9419},
		{"unix:/run/x.sock", AF_UNIX, true, 0},
		{"unix:/a b:9419", AF_UNIX, true, 0},
	};

	char bad[] =
		"|:9419|127.0.0.1|127.0.0.1:|127.0.0.1:65536|127.0.0.1:-1|127.0.0.1:1x|127.1:9419|"
		"example.com:80|*:80|::1:9419|[::1]|[::1]9419|[]:9419|[::1:9419|[127.0.0.1]:80|"
		"[fe80::1%lo]:80|http://127.0.0.1:80|unix:|unix:x.sock|unix:/run/";
	char *at = bad;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct listen_address a;
		struct errmsg f = {""};
		int err = listen__parse(rows[i].text, &a, &f);
		unsigned int port = a.to.any.sa_family == AF_INET6  ? ntohs(a.to.v6.sin6_port)
				    : a.to.any.sa_family == AF_INET ? ntohs(a.to.v4.sin_port)
								    : 0;

		tap__ok(!err && a.to.any.sa_family == rows[i].family &&
				a.loopback == rows[i].loopback && port == rows[i].port,
			"'%s': loopback: %d", rows[i].text, a.loopback);
	}
	for (const char *text; (text = strsep(&at, "|"));) {
		struct listen_address a;
		struct errmsg f = {""};

		tap__ok(listen__parse(text, &a, &f) == -EINVAL && strstr(f.text, text),
			"'%s' is refused, and the message has it: %s", text, f.text);
	}
}

TEST(long)
{
	char text[400] = "unix:/";
	struct listen_address a;
	struct errmsg f;

	memset(text + 6, 'x', 106);
	tap__ok(!listen__parse(text, &a, &f), "a path of 107 bytes");
	text[112] = 'x';
	tap__ok(listen__parse(text, &a, &f) == -EINVAL, "of 108: %s", f.text);
	memset(text, '1', sizeof(text) - 1);
	memcpy(text + 390, ":80", 4);
	tap__ok(listen__parse(text, &a, &f) == -EINVAL, "a host of 390 characters");
}

/* 0, or what opening and closing @text says. */
static int opened(struct listen_socket *s, const char *text, struct errmsg *f)
{
	struct listen_address a;
	int err = listen__parse(text, &a, f);

	return err ? err : listen__open(s, &a, f);
}

TEST(port)
{
	struct listen_socket one, two;
	struct errmsg f;

	/* at an address where no other program of this machine takes the port when it is free */
	tap__ok(!opened(&one, "127.8.9.10:0", &f) && !strncmp(one.text, "127.8.9.10:", 11) &&
			strcmp(one.text, "127.8.9.10:0"),
		"the kernel chooses a port: %s", one.text);
	tap__ok(opened(&two, one.text, &f) == -EADDRINUSE && strstr(f.text, one.text) && two.fd < 0,
		"that is taken: %s", f.text);
	listen__close(&one);
	tap__ok(!opened(&two, one.text, &f) && !strcmp(one.text, two.text), "and then free");
	listen__close(&two);
}

TEST(unix)
{
	const char *dir = tap__folder();
	char text[128], path[64], moved[64];
	struct listen_socket one, two;
	struct errmsg f;
	struct stat st;
	mode_t mask = umask(077);

	snprintf(path, sizeof(path), "%s/s", dir);
	snprintf(moved, sizeof(moved), "%s/moved", dir);
	snprintf(text, sizeof(text), "unix:%s", path);
	tap__ok(!opened(&one, text, &f) && !strcmp(one.text, text), "a Unix socket");
	tap__ok(!lstat(path, &st) && S_ISSOCK(st.st_mode) && (st.st_mode & 07777) == 0660,
		"for its user and its group, whatever the mask is");
	tap__ok(umask(mask) == 077, "which is as it was");
	tap__ok(opened(&two, text, &f) == -EADDRINUSE && !lstat(path, &st),
		"where somebody listens it is not replaced: %s", f.text);
	/* as a crash leaves it */
	close(one.fd);
	tap__ok(!opened(&two, text, &f), "a socket without a listener is replaced");
	one.fd = dup(two.fd);
	rename(path, moved);
	tap__ok(!opened(&one, text, &f), "another one in its place");
	listen__close(&two);
	tap__ok(!lstat(path, &st), "is not removed by the first");
	listen__close(&one);
	tap__ok(lstat(path, &st) && errno == ENOENT, "but by its own");
	unlink(moved);
	fclose(fopen(path, "w"));
	tap__ok(opened(&one, text, &f) == -EEXIST && !lstat(path, &st) && S_ISREG(st.st_mode),
		"a file is not replaced: %s", f.text);
	unlink(path);
	if (symlink("/dev/null", path))
		abort();
	tap__ok(opened(&one, text, &f) == -EEXIST, "nor is a link: %s", f.text);
	unlink(path);
	snprintf(text, sizeof(text), "unix:%s/no/s", dir);
	tap__ok(opened(&one, text, &f) == -ENOENT && strstr(f.text, "directory"),
		"no directory: %s", f.text);
}
