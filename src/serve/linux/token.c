/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"

static const char allowed[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";

int token__parse(struct token *t, const char *data, size_t len, const char *path, struct errmsg *f)
{
	const char *end = len ? memchr(data, '\n', len) : NULL;
	size_t n = end ? (size_t)(end - data) : len;

	memset(t, 0, sizeof(*t));
	if (n && data[n - 1] == '\r')
		n--;
	if (n < TOKEN_MIN || n > TOKEN_MAX)
		return errmsg__set(f, -EINVAL,
				   "the token in %s has %zu%s characters; its first line must have "
				   "%u to %u (openssl rand -hex 32 generates one)",
				   path, n > TOKEN_MAX ? TOKEN_MAX : n,
				   n > TOKEN_MAX ? " or more" : "", TOKEN_MIN, TOKEN_MAX);
	for (size_t i = 0; i < n; i++)
		if (!data[i] || !strchr(allowed, data[i]))
			return errmsg__set(f, -EINVAL,
					   "the token in %s: character %zu cannot be sent in a "
					   "header; use letters, digits and -._~+/=",
					   path, i + 1);
	memcpy(t->text, data, n);
	t->len = n;
	return 0;
}

/* Check that only root, the user who runs this and a group can know what is in it. */
static int token__check(const struct stat *st, const char *path, struct errmsg *f)
{
	if (!S_ISREG(st->st_mode))
		return errmsg__set(f, -EINVAL, "the token must be in a regular file: %s is not one",
				   path);
	if (st->st_uid && st->st_uid != geteuid())
		return errmsg__set(f, -EPERM, "the token file %s belongs to another user (%u)",
				   path, (unsigned int)st->st_uid);
	if (st->st_mode & (S_IRWXO | S_IWGRP))
		return errmsg__set(f, -EPERM,
				   "others may access the token in %s (mode %04o): chmod 0600 %s",
				   path, (unsigned int)st->st_mode & 07777u, path);
	return 0;
}

int token__read(struct token *t, const char *path, struct errmsg *f)
{
	char data[TOKEN_MAX + 2]; /* the longest with its end of line */
	struct stat st;
	int err, fd, n = 0;

	memset(t, 0, sizeof(*t));
	/* a pipe is opened at once, too, and then refused */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st)) {
		err = errmsg__set(f, -errno, "the token file %s: %s", path, strerror(errno));
		goto out;
	}
	err = token__check(&st, path, f);
	if (!err)
		n = os__fill(fd, data, sizeof(data));
	if (n < 0)
		err = errmsg__set(f, n, "the token file %s: %s", path, strerror(-n));
	if (!err)
		err = token__parse(t, data, (size_t)n, path, f);
out:
	explicit_bzero(data, sizeof(data));
	if (fd >= 0)
		close(fd);
	return err;
}

bool token__fits(const struct token *t, const char *authorization)
{
	static const char scheme[] = "Bearer";
	const char *said = authorization;
	unsigned char wrong = 0;
	size_t len;

	if (!t->len)
		return true;
	if (!said || strncasecmp(said, scheme, sizeof(scheme) - 1) ||
	    said[sizeof(scheme) - 1] != ' ')
		return false;
	said += sizeof(scheme) - 1;
	said += strspn(said, " ");
	len = strlen(said);
	/* as many steps as the request has characters, whatever they are */
	for (size_t i = 0; i < len; i++)
		wrong |= (unsigned char)(said[i] ^ t->text[i % t->len]);
	return !wrong && len == t->len;
}
