/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file as a process has it mapped, also where it cannot be opened any more: one that was replaced
 * by an upgrade, say, for a caller who may not open what is in /proc/PID/map_files.
 */
#ifndef XR_TARGET_LINUX_MAPPED_FILE_H
#define XR_TARGET_LINUX_MAPPED_FILE_H

#include <sys/types.h>

#include "base/errmsg.h"
#include "os/linux/proc_maps.h"
#include "target/target.h"

/*
 * mapped_file__open - the file that @map of process @pid shows (proc_maps__open()), or, if that is
 * not allowed, one made of the process' memory: an ELF file in memory that has all segments of it
 * that are mapped, and the sections that the dynamic linker needs (.dynsym, .dynstr, .rela.dyn) and
 * notes.  What the dynamic linker wrote into writable segments stays as it is there.
 *
 * The caller closes it.  *@which: the file that is mapped; its size is 0 if the returned one is in
 * memory.  A negative errno with @f filled: that of proc_maps__open().
 */
int mapped_file__open(pid_t pid, const struct proc_map *map, struct target_file *which,
		      struct errmsg *f);

/* mapped_file__number - the file of @map, known by its number alone: it may not be opened. */
struct target_file mapped_file__number(const struct proc_map *map);

/* mapped_file__which - which file @fd is.  -EBADMSG: not a regular one, and @file stays as it is.
 */
int mapped_file__which(int fd, struct target_file *file);

/*
 * mapped_file__make - @fd has the mapped parts of an ELF file at their offsets; add the headers of
 * its sections.  @bias: what was added to its addresses where it is mapped.  -EBADMSG: it is not
 * such a file.
 */
int mapped_file__make(int fd, uint64_t bias);

#endif
