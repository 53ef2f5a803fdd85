/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_OS_LINUX_USERS_H
#define XR_OS_LINUX_USERS_H

#include <pwd.h>
#include <sys/types.h>

/*
 * Users by name and number; NULL: there is no such user.  The result is valid until the next call.
 *
 * A static binary (XR_STATIC) knows those of /etc/passwd only: for others, getpwnam() would load
 * the libraries that /etc/nsswitch.conf names, and they want the glibc they were made for.
 */
const struct passwd *users__by_name(const char *name);
const struct passwd *users__by_id(uid_t id);

/*
 * users__set_groups - the groups of user @name and @gid become this process's.  A static binary
 * knows those of /etc/group only.  0 or a negative errno.
 */
int users__set_groups(const char *name, gid_t gid);

#endif
