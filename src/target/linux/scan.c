/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "target/target.h"
#include "os/linux/proc_maps.h"
#include "os/proc.h"
#include "target/linux/program.h"

/* What is remembered of a program that was read: values of a map by device and inode. */
static char program_plain, program_holds_r;

/* Is R in the program that @pid runs?  Each program is read once in a scan. */
static bool scan__program(struct map *programs, pid_t pid)
{
	char link[32];
	struct stat st;
	void *known;
	int yes;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	if (stat(link, &st))
		return false;
	known = map__get(programs, st.st_dev, st.st_ino);
	if (known)
		return known == &program_holds_r;
	yes = program__holds_r(pid);
	if (yes >= 0) /* without memory for it, it is looked at again */
		map__put(programs, st.st_dev, st.st_ino, yes ? &program_holds_r : &program_plain);
	return yes > 0;
}

/* May @pid have R in it? */
static bool scan__may_hold_r(struct map *programs, pid_t pid)
{
	struct proc_map map;
	struct proc p;
	char exe[4096];
	size_t n, lines;
	bool deleted;
	FILE *maps;

	maps = proc__fopen(pid, "maps");
	if (!maps) /* if it is called R, target__find() says that it is not allowed */
		return (errno == EACCES || errno == EPERM) && !proc__read(pid, &p) &&
		       !strcmp(p.comm, "R");
	n = proc_maps__find(maps, &map, 1, &lines);
	fclose(maps);
	if (n)
		return true;
	if (!lines)
		return false; /* a kernel thread, or ending */
	/* R without libR.so: called R, and if it is none it is said why; or with R's variables */
	if (proc__exe(pid, exe, sizeof(exe), &deleted))
		return false;
	return proc_maps__is_r(exe) || (!proc__read(pid, &p) && !strcmp(p.comm, "R")) ||
	       scan__program(programs, pid);
}

int target__scan(int (*seen)(void *arg, pid_t pid), void *arg)
{
	DIR *proc = opendir("/proc");
	struct map programs = {0};
	struct dirent *entry;
	int result = 0;

	if (!proc)
		return -errno;
	while (!result && (entry = readdir(proc))) {
		pid_t pid;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0 && scan__may_hold_r(&programs, pid))
			result = seen(arg, pid);
	}
	closedir(proc);
	map__free(&programs);
	return result;
}
