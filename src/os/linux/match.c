/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "os/match.h"
#include "os/proc.h"
#include "os/linux/users.h"

int match__user_id(const char *name, unsigned long *id)
{
	const struct passwd *user = users__by_name(name);

	if (!user)
		return -ENOENT;
	*id = user->pw_uid;
	return 0;
}

bool match__glob(const char *pattern, const char *text)
{
	return !fnmatch(pattern, text, 0);
}

int match__process(struct match_process *p, pid_t pid, bool cgroup)
{
	struct proc now;
	int err = proc__read(pid, &now);

	if (err)
		return err;
	memcpy(p->comm, now.comm, sizeof(p->comm));
	p->cgroup[0] = '\0';
	if (cgroup)
		proc__cgroup(pid, p->cgroup, sizeof(p->cgroup));
	p->subject = (struct match_subject){
		.pid = pid,
		.uid = now.uid,
		.comm = p->comm,
		.cgroup = p->cgroup,
	};
	return 0;
}
