/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifdef XR_STATIC
#define _DEFAULT_SOURCE /* fgetpwent */
#endif
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "os/linux/users.h"

#ifdef XR_STATIC
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
#else
const struct passwd *users__by_name(const char *name)
{
	return getpwnam(name);
}

const struct passwd *users__by_id(uid_t id)
{
	return getpwuid(id);
}
#endif
