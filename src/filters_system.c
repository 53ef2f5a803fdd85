/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fnmatch.h>

#include "filters.h"
#include "target_proc.h"
#include "users.h"

int filters__user_id(const char *name, unsigned long *id)
{
	const struct passwd *user = users__by_name(name);

	if (!user)
		return -ENOENT;
	*id = user->pw_uid;
	return 0;
}

bool filters__glob(const char *pattern, const char *text)
{
	return !fnmatch(pattern, text, 0);
}

bool filters__pass(const struct filters *fs, pid_t pid)
{
	struct target_proc p;
	char cgroup[4096] = "";
	struct filter_subject subject = {.pid = pid, .comm = p.comm, .cgroup = cgroup};

	if (!fs->n)
		return true;
	if (target_proc__read(pid, &p))
		return false;
	subject.uid = p.uid;
	if (fs->given[FILTER_CGROUP])
		target_proc__cgroup(pid, cgroup, sizeof(cgroup));
	return filters__match(fs, &subject);
}
