/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/config_file.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "os/os.h"

#define BLANKS	   " \t\r"
#define READ_BYTES 4096u

/* All of @fd into @text, terminated. */
static int file__read(int fd, struct buf *text)
{
	char part[READ_BYTES];
	int n, err = 0;

	while (!err && (n = os__read(fd, part, sizeof(part))) != 0) {
		if (n < 0)
			return n;
		if (text->len + (size_t)n > CONFIG_FILE_MAX)
			return -EFBIG;
		err = buf__add(text, part, (size_t)n);
	}
	return err ? err : buf__add(text, "", 1);
}

int config_file__read(char **text, const char *path, struct errmsg *f)
{
	struct buf read = {0};
	int fd = os__open(path, OS_REGULAR), err;

	*text = NULL;
	err = fd < 0 ? fd : file__read(fd, &read);
	if (fd >= 0)
		os__close(fd);
	if (!err && memchr(read.data, '\0', read.len - 1))
		err = errmsg__set(f, -EINVAL, "%s: not a text file: it contains a NUL byte", path);
	else if (err)
		errmsg__set(f, err, "cannot read --config %s: %s", path, os__reason(err));
	if (err)
		buf__free(&read);
	else
		*text = read.data;
	return err;
}

/* @at without the blanks around it. */
static char *line__trim(char *at)
{
	size_t len;

	at += strspn(at, BLANKS);
	len = strlen(at);
	while (len && strchr(BLANKS, at[len - 1]))
		at[--len] = '\0';
	return at;
}

static int line__apply(const struct option_row *rows, void *into, char *line, struct errmsg *f)
{
	char *name = line__trim(line), *value;

	if (!*name || *name == '#')
		return 0;
	value = strchr(name, '=');
	if (value) {
		*value = '\0';
		value = line__trim(value + 1);
		line__trim(name);
	}
	return option_rows__set(rows, into, name, value, f);
}

int config_file__apply(const struct option_row *rows, void *into, char *text, const char *path,
		       struct errmsg *f)
{
	struct errmsg why;
	unsigned int number = 1;
	char *end;
	int err;

	for (char *line = text; line; line = end, number++) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		err = line__apply(rows, into, line, &why);
		if (err)
			return errmsg__set(f, err, "%s, line %u: %s", path, number, why.text);
	}
	return 0;
}
