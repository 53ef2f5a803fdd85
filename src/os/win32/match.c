/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/match.h"

#include <ctype.h>
#include <errno.h>

#include "os/win32/proc_win32.h"

int match__user_id(const char *name, unsigned long *id)
{
	(void)name;
	(void)id;
	return -ENOENT; /* --user is refused, see os__refuses() */
}

static int lower(char c)
{
	return tolower((unsigned char)c);
}

/* `*` and `?`; names of programs on Windows have no case. */
bool match__glob(const char *pattern, const char *text)
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

int match__process(struct match_process *p, pid_t pid, bool cgroup)
{
	(void)cgroup;
	p->cgroup[0] = '\0';
	p->subject = (struct match_subject){.pid = pid, .comm = p->comm, .cgroup = p->cgroup};
	return proc_win32__comm((uint32_t)pid, p->comm, sizeof(p->comm));
}
