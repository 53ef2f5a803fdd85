/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "filters.h"

#include <ctype.h>
#include <errno.h>

#include "target_win32.h"

int filters__user_id(const char *name, unsigned long *id)
{
	(void)name;
	(void)id;
	return -ENOENT; /* --user is refused, see platform__refuses() */
}

static int lower(char c)
{
	return tolower((unsigned char)c);
}

/* `*` and `?`; names of programs on Windows have no case. */
bool filters__glob(const char *pattern, const char *text)
{
	const char *star = NULL, *from = text;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == '?' || (*pattern && lower(*pattern) == lower(*text))) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool filters__pass(const struct filters *fs, pid_t pid)
{
	char comm[16];
	struct filter_subject subject = {.pid = pid, .comm = comm, .cgroup = ""};

	if (!fs->n)
		return true;
	return !target_win32__comm((uint32_t)pid, comm, sizeof(comm)) &&
	       filters__match(fs, &subject);
}
