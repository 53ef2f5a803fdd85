/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the filters of target/filters.h ask of the system.
 */
#ifndef XR_OS_MATCH_H
#define XR_OS_MATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MATCH_CGROUP_MAX 4096u /* bytes of a cgroup's path, PATH_MAX */

/* What is compared of a process.  Strings are the caller's. */
struct match_subject {
	pid_t pid;
	uint32_t uid; /* effective */
	const char *comm;
	const char *cgroup; /* path, "" if there is none */
};

/* The same as the system tells it, with room for its strings. */
struct match_process {
	struct match_subject subject;
	char comm[16];
	char cgroup[MATCH_CGROUP_MAX];
};

/*
 * match__process - what the system knows of process @pid; the cgroup only when @cgroup is set.
 * -ESRCH: it has ended.
 */
int match__process(struct match_process *p, pid_t pid, bool cgroup);

/* match__user_id - the number of the user @name.  -ENOENT. */
int match__user_id(const char *name, unsigned long *id);

/* match__glob - does the shell pattern match all of @text? */
bool match__glob(const char *pattern, const char *text);

#endif
