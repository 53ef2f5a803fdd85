/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _DEFAULT_SOURCE /* fgetpwent, initgroups */
#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "os/linux/users.h"

#ifdef XR_STATIC
#define NGROUPS 1024 /* at most; the rest is left out */

/* The first entry of /etc/passwd with @name or, when that is NULL, @id. */
static const struct passwd *passwd__find(const char *name, uid_t id)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user = NULL;

	if (!file)
		return NULL;
	while ((user = fgetpwent(file)))
		if (name ? !strcmp(user->pw_name, name) : user->pw_uid == id)
			break;
	fclose(file);
	return user;
}

const struct passwd *users__by_name(const char *name)
{
	return passwd__find(name, 0);
}

const struct passwd *users__by_id(uid_t id)
{
	return passwd__find(NULL, id);
}

static bool group__has(const struct group *group, const char *name)
{
	for (char **member = group->gr_mem; *member; member++)
		if (!strcmp(*member, name))
			return true;
	return false;
}

int users__set_groups(const char *name, gid_t gid)
{
	FILE *file = fopen("/etc/group", "re");
	gid_t groups[NGROUPS] = {gid};
	const struct group *group;
	size_t n = 1;

	while (file && n < NGROUPS && (group = fgetgrent(file)))
		if (group->gr_gid != gid && group__has(group, name))
			groups[n++] = group->gr_gid;
	if (file)
		fclose(file);
	return setgroups(n, groups) ? -errno : 0;
}
#else
const struct passwd *users__by_name(const char *name)
{
	return getpwnam(name);
}

const struct passwd *users__by_id(uid_t id)
{
	return getpwuid(id);
}

int users__set_groups(const char *name, gid_t gid)
{
	return initgroups(name, gid) ? -errno : 0;
}
#endif
