/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/push_headers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "os/os.h"

/* What a header's name is made of, RFC 9110. */
#define TOKEN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"

/* Those that say what is sent and how are not the user's. */
static bool header__is_ours(const char *name, size_t len)
{
	static const char *const ours[] = {
		"Connection",
		"Content-Encoding",
		"Content-Length",
		"Content-Type",
		"Expect",
		"Keep-Alive",
		"TE",
		"Trailer",
		"Upgrade",
		"Transfer-Encoding",
	};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (strlen(ours[i]) == len && !strncasecmp(ours[i], name, len))
			return true;
	return false;
}

/* "Name: value" of the @len bytes at @line, terminated and without blanks around; NULL: none. */
static const char *header__wrong(const char *line, size_t len, size_t *name_len)
{
	size_t name = 0;

	while (name < len && line[name] && strchr(TOKEN, line[name]))
		name++;
	*name_len = name;
	if (!name || name == len || line[name] != ':')
		return "is not `Name: value`";
	for (size_t i = name; i < len; i++)
		if (((unsigned char)line[i] < 0x20 && line[i] != '\t') || line[i] == 0x7f)
			return "has a control character";
	if (header__is_ours(line, name))
		return "is a header that is already set";
	return NULL;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int headers__line(struct push_headers *h, const char *path, unsigned int number,
			 const char *line, size_t len, struct errmsg *f)
{
	const char *wrong, *value;
	size_t name, value_len;
	char *to;

	while (len && blank(line[len - 1]))
		len--;
	if (!len || *line == '#')
		return 0;
	wrong = header__wrong(line, len, &name);
	if (!wrong && h->n == PUSH_HEADERS_MAX)
		wrong = "is one header too many";
	if (wrong)
		return errmsg__set(f, -EINVAL, "%s: line %u %s", path, number, wrong);
	value = line + name + 1;
	value_len = len - name - 1;
	while (value_len && blank(*value)) {
		value++;
		value_len--;
	}
	to = malloc(name + value_len + sizeof(": "));
	if (!to)
		return errmsg__set(f, -ENOMEM, "%s: out of memory", path);
	h->line[h->n++] = to;
	memcpy(to, line, name);
	/* an empty value: libcurl sends `Name;` as `Name:`, and would drop the header otherwise */
	memcpy(to + name, value_len ? ": " : ";", 2);
	memcpy(to + name + 2, value, value_len);
	to[name + 2 + value_len] = '\0';
	return 0;
}

int push_headers__parse(struct push_headers *h, const char *path, const char *text, size_t len,
			struct errmsg *f)
{
	const char *at = text, *end = text + len, *next;
	unsigned int number = 0;
	int err = 0;

	push_headers__free(h);
	while (at < end && !err) {
		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		err = headers__line(h, path, ++number, at, (size_t)(next - at), f);
		at = next + 1;
	}
	if (err)
		push_headers__free(h);
	return err;
}

/* As ssh has it of keys; the group may read it, as a service is often given files by its group. */
static int file__allowed(const char *path, const struct stat *st, struct errmsg *f)
{
	if (!S_ISREG(st->st_mode))
		return errmsg__set(f, -EINVAL, "%s: not a regular file", path);
	if (st->st_mode & 027)
		return errmsg__set(f, -EPERM,
				   "%s: others may access it (mode %04o), and headers may be "
				   "secret: chmod 600, or 640",
				   path, (unsigned int)(st->st_mode & 07777));
	if (st->st_size > (off_t)PUSH_HEADERS_SIZE)
		return errmsg__set(f, -EFBIG, "%s: more than %u bytes of headers", path,
				   PUSH_HEADERS_SIZE);
	return 0;
}

static int headers__from(struct push_headers *h, const char *path, int fd, const struct stat *st,
			 struct errmsg *f)
{
	char text[PUSH_HEADERS_SIZE];
	struct push_headers fresh = {0};
	int n = os__fill(fd, text, sizeof(text)), err;

	if (n < 0)
		return errmsg__set(f, n, "%s: %s", path, strerror(-n));
	err = push_headers__parse(&fresh, path, text, (size_t)n, f);
	explicit_bzero(text, sizeof(text));
	if (err)
		return err;
	push_headers__free(h);
	*h = fresh;
	h->seen = *st;
	return 1;
}

static bool stat__same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

int push_headers__read(struct push_headers *h, const char *path, struct errmsg *f)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return errmsg__set(f, -errno, "%s: the headers: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0)
		err = errmsg__set(f, -errno, "%s: %s", path, strerror(errno));
	else if (stat__same(&st, &h->seen))
		err = 0;
	else
		err = file__allowed(path, &st, f);
	if (!err && !stat__same(&st, &h->seen))
		err = headers__from(h, path, fd, &st, f);
	close(fd);
	return err;
}

void push_headers__free(struct push_headers *h)
{
	for (size_t i = 0; i < h->n; i++) {
		explicit_bzero(h->line[i], strlen(h->line[i]));
		free(h->line[i]);
	}
	*h = (struct push_headers){0};
}
