/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/maps: which files a process has mapped, and opening the very file behind a mapping.
 */
#ifndef XR_OS_LINUX_PROC_MAPS_H
#define XR_OS_LINUX_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/errmsg.h"

/* One mapping.  Addresses are in the target; path is as the kernel shows it, cut if too long. */
struct proc_map {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file, bytes */
	uint64_t inode;	 /* 0: not a file */
	uint32_t dev_major;
	uint32_t dev_minor;
	bool exec;
	char path[512]; /* without " (deleted)"; "" for anonymous memory */
	bool deleted;
	bool cut; /* the path was longer */
};

/*
 * proc_maps__parse - one line of a maps file (fs/proc/task_mmu.c, show_map_vma()) of @len bytes,
 * without its newline.  -EBADMSG: it is not such a line.
 */
int proc_maps__parse(const char *line, size_t len, struct proc_map *map);

/* proc_maps__next - the next mapping in the maps file @in.  Returns whether there is one. */
bool proc_maps__next(FILE *in, struct proc_map *map);

/* proc_maps__is_libr - is @path that of R's shared library (libR.so, libR.so.4)? */
bool proc_maps__is_libr(const char *path);

/* proc_maps__is_r - does it name an R linked without libR.so (bin/exec/R)? */
bool proc_maps__is_r(const char *path);

/*
 * proc_maps__find - the executable mappings of libR.so in the maps file @in, at most @max of
 * them.  Returns how many were found; *lines says how many mappings there are at all.
 */
size_t proc_maps__find(FILE *in, struct proc_map *found, size_t max, size_t *lines);

/*
 * proc_maps__file - the first executable mapping of the file shown as @path (with " (deleted)"
 * when @deleted).  By name, because the device and inode shown for an overlay file system are not
 * those of stat(2) before Linux 6.8.  Returns whether there is one; if no file's code is mapped at
 * all, the end of *@found is 0.
 */
bool proc_maps__file(FILE *in, const char *path, bool deleted, struct proc_map *found);

/* proc_maps__at - the executable mapping of a file that has address @at.  Returns whether there is
 * one. */
bool proc_maps__at(FILE *in, uint64_t at, struct proc_map *found);

/*
 * proc_maps__next_library - the next executable mapping of a file in the maps file @in that is as
 * large as libR.so's at least.  Returns whether there is one.
 */
bool proc_maps__next_library(FILE *in, struct proc_map *map);

/*
 * proc_maps__open - open the file that @map of process @pid maps, for reading.
 *
 * By /proc/PID/map_files, which is the mapped file itself whatever became of its name; where that
 * is not allowed by its name, under the target's root and under ours, taken only if it is the
 * same file.  Returns a descriptor the caller closes, or: -EACCES, -ESRCH, -ENOENT, or as
 * shortage__is().
 */
int proc_maps__open(pid_t pid, const struct proc_map *map, struct errmsg *f);

#endif
