/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "target_maps.h"
#include "target_proc.h"

/* Is @pid worth a closer look? */
static bool scan__look(pid_t pid)
{
	struct target_map map;
	struct target_proc p;
	char exe[4096];
	size_t n, lines;
	bool deleted;
	FILE *maps;

	maps = target_proc__fopen(pid, "maps");
	if (!maps) /* if it is called R, whoever looks closer will say that he may not */
		return (errno == EACCES || errno == EPERM) && !target_proc__read(pid, &p) &&
		       !strcmp(p.comm, "R");
	n = target_maps__find(maps, &map, 1, &lines);
	fclose(maps);
	if (n)
		return true;
	if (!lines)
		return false; /* a kernel thread, or ending */
	/* R without libR.so: a program called R, or one that calls itself so */
	if (target_proc__exe(pid, exe, sizeof(exe), &deleted))
		return false;
	return target_maps__is_r(exe) || (!target_proc__read(pid, &p) && !strcmp(p.comm, "R"));
}

int target__scan(int (*seen)(void *arg, pid_t pid), void *arg)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int result = 0;

	if (!proc)
		return -errno;
	while (!result && (entry = readdir(proc))) {
		pid_t pid;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0 && scan__look(pid))
			result = seen(arg, pid);
	}
	closedir(proc);
	return result;
}
