/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/scan.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/linux/proc_maps.h"
#include "os/linux/rights.h"
#include "os/proc.h"
#include "target/linux/elf.h"
#include "target/linux/mapped_file.h"

#define FILES_MAX 8192u /* remembered */

/* What is remembered of a file: values of programs.known. */
static char file_plain, file_holds_r;

void programs__free(struct programs *ps)
{
	map__free(&ps->known);
}

bool program__file_holds_r(int fd)
{
	struct target_symbol want = {.name = "R_GlobalContext"};
	struct elf_file elf;
	int n;

	/* one that cannot be opened is 32-bit, for another machine, or damaged */
	if (elf_file__open(&elf, fd, "program", NULL))
		return false;
	n = elf_file__symbols(&elf, &want, 1, false);
	elf_file__close(&elf);
	return n > 0;
}

/* The same; each file is looked into once, unless it was changed. */
static bool programs__file_holds_r(struct programs *ps, int fd)
{
	struct target_file file;
	uint64_t a, b;
	void *known;
	bool yes;

	if (mapped_file__which(fd, &file))
		return false;
	a = map__hash(file.dev, file.ino);
	b = map__hash((uint64_t)file.ctime_ns, file.size);
	known = map__get(&ps->known, a, b);
	if (known)
		return known == &file_holds_r;
	yes = program__file_holds_r(fd);
	if (ps->known.count >= FILES_MAX)
		map__free(&ps->known);
	/* without memory for it, it is looked at again */
	map__put(&ps->known, a, b, yes ? &file_holds_r : &file_plain);
	return yes;
}

int programs__holds_r(struct programs *ps, pid_t pid)
{
	int fd = proc__open(pid, "exe");
	bool yes;

	if (fd < 0)
		return fd;
	yes = programs__file_holds_r(ps, fd);
	close(fd);
	return yes;
}

/* Is R's library mapped, under another name than it had? */
static bool seems__renamed(struct programs *ps, pid_t pid)
{
	FILE *maps = proc__fopen(pid, "maps");
	unsigned int looked = 0;
	struct proc_map map;
	bool yes = false;

	while (maps && !yes && looked++ < PROGRAM_LIBRARIES_MAX &&
	       proc_maps__next_library(maps, &map)) {
		int fd = proc_maps__open(pid, &map, NULL);

		yes = fd >= 0 && programs__file_holds_r(ps, fd);
		if (fd >= 0)
			close(fd);
	}
	if (maps)
		fclose(maps);
	return yes;
}

/*
 * Is a process of another user called R?  So is the shell that runs the script R, until it executes
 * R, and what it forks.  Its arguments are read first: they are the shell's until the exec.
 */
static bool seems__called(pid_t pid)
{
	char arguments[4096];
	ssize_t n = proc__text(pid, "cmdline", arguments, sizeof(arguments));
	struct proc p;

	if (n > 0 && !proc_maps__is_r(arguments)) {
		const size_t second = strlen(arguments) + 1;

		if (second < (size_t)n && proc_maps__is_r(arguments + second))
			return false;
	}
	return !proc__read(pid, &p) && !strcmp(p.comm, "R");
}

bool target__seems(pid_t pid, struct programs *known)
{
	struct proc_map map;
	struct proc p;
	char exe[4096];
	size_t n, lines;
	bool deleted;
	FILE *maps;

	maps = proc__fopen(pid, "maps");
	if (!maps) /* if it is called R, target__find() says that it is not allowed */
		return (errno == EACCES || errno == EPERM) && seems__called(pid);
	n = proc_maps__find(maps, &map, 1, &lines);
	fclose(maps);
	if (n)
		return true;
	if (!lines)
		return false; /* a kernel thread, or ending */
	/*
	 * R without libR.so: it is called R (if it is not R, target__find() reports why), or with
	 * R's variables
	 */
	if (proc__exe(pid, exe, sizeof(exe), &deleted))
		return false;
	return proc_maps__is_r(exe) || (!proc__read(pid, &p) && !strcmp(p.comm, "R")) ||
	       programs__holds_r(known, pid) > 0 || seems__renamed(known, pid);
}

/* The next entry of /proc; where it hides processes (hidepid) it shows those that may be looked at.
 */
static struct dirent *scan__next(DIR *proc)
{
	uint64_t raised = rights__raise(RIGHTS_TARGET);
	struct dirent *entry = readdir(proc);

	rights__lower(raised);
	return entry;
}

int target__each(int (*seen)(void *arg, pid_t pid), void *arg)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int result = 0;

	if (!proc)
		return -errno;
	while (!result && (entry = scan__next(proc))) {
		pid_t pid;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (pid > 0)
			result = seen(arg, pid);
	}
	closedir(proc);
	return result;
}
