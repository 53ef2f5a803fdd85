/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/proc.h"

#define LINK_LEN  64
#define PATH_LEN  4096 /* of a root in mountinfo; "%4095s" */
#define ROOT_LEN  (PATH_LEN + 16)
#define LINE_LEN  8192
#define LINES_MAX 4096u /* of mountinfo */

bool proc__container(const char *cgroup, char id[PROC_CONTAINER_LEN])
{
	bool yes = false;

	while (*cgroup) {
		size_t n = 0;

		while (isxdigit((unsigned char)cgroup[n]))
			n++;
		if (n == 64) {
			memcpy(id, cgroup, 64);
			id[64] = '\0';
			yes = true;
		}
		cgroup += n ? n : 1;
	}
	return yes;
}

/* How much a line of /proc/PID/cgroup says of whose the process is. */
enum cgroup_rank {
	CGROUP_NAMED = 1,     /* of a manager of services: "name=systemd", "name=openrc" */
	CGROUP_V2 = 2,	      /* the one hierarchy of version 2 */
	CGROUP_BELOW = 4,     /* not the root */
	CGROUP_CONTAINER = 8, /* it has the id of a container */
};

/* hierarchy:controllers:path, one a line (cgroups(7)) */
void proc__parse_cgroup(char *text, char *path, size_t size)
{
	char id[PROC_CONTAINER_LEN], *save = NULL;
	int most = -1;

	path[0] = '\0';
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *names = strchr(line, ':');
		const char *at = names ? strchr(names + 1, ':') : NULL;
		int rank = 0;

		if (!at)
			continue;
		at++;
		if (!strncmp(line, "0::", 3))
			rank = CGROUP_V2;
		else if (!strncmp(names, ":name=", 6))
			rank = CGROUP_NAMED;
		if (strcmp(at, "/") != 0)
			rank |= CGROUP_BELOW;
		if (proc__container(at, id))
			rank |= CGROUP_CONTAINER;
		if (rank > most)
			snprintf(path, size, "%s", at);
		most = rank > most ? rank : most;
	}
}

int proc__cgroup(pid_t pid, char *path, size_t size)
{
	char text[8192];
	ssize_t len = proc__text(pid, "cgroup", text, sizeof(text));

	path[0] = '\0';
	if (len < 0)
		return (int)len;
	proc__parse_cgroup(text, path, size);
	return 0;
}

/*
 * The number of namespace @name of @pid ("ns/pid") if it is not that of the first process, or, if
 * that one may not be inspected, of this one; 0: it is, or unknown.
 */
static unsigned long namespace__other(pid_t pid, const char *name)
{
	char its[LINK_LEN], ours[LINK_LEN];
	unsigned long number;

	if (proc__link(pid, name, its, sizeof(its)) <= 0 ||
	    (proc__link(1, name, ours, sizeof(ours)) <= 0 &&
	     proc__link(getpid(), name, ours, sizeof(ours)) <= 0) ||
	    !strcmp(its, ours))
		return 0;
	return sscanf(its, "%*[a-z]:[%lu]", &number) == 1 ? number : 0;
}

/* What is mounted as the root of @pid, "8:1 /"; false: unknown. */
static bool proc__root(pid_t pid, char root[ROOT_LEN])
{
	FILE *in = proc__fopen(pid, "mountinfo");
	char line[LINE_LEN], device[16], of[PATH_LEN], at[8];
	bool begins = true, found = false;

	if (!in)
		return false;
	/* the last is on top of the others */
	for (unsigned int i = 0; i < LINES_MAX && fgets(line, sizeof(line), in); i++) {
		/* proc(5): id, parent, major:minor, root, mount point */
		if (begins && sscanf(line, "%*u %*u %15s %4095s %7s", device, of, at) == 3 &&
		    !strcmp(at, "/"))
			found = snprintf(root, ROOT_LEN, "%s %s", device, of) > 0;
		begins = strchr(line, '\n');
	}
	fclose(in);
	return found;
}

static bool proc__other_root(pid_t pid)
{
	char its[ROOT_LEN], ours[ROOT_LEN];

	return proc__root(pid, its) && (proc__root(1, ours) || proc__root(getpid(), ours)) &&
	       strcmp(its, ours) != 0;
}

bool proc__isolated(pid_t pid, char id[PROC_CONTAINER_LEN])
{
	unsigned long number = namespace__other(pid, "ns/pid");

	if (!number) {
		number = namespace__other(pid, "ns/mnt");
		if (number && !proc__other_root(pid))
			number = 0;
	}
	if (number)
		snprintf(id, PROC_CONTAINER_LEN, "ns:%lu", number);
	return number;
}
