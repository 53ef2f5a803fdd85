/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few things that every system can do, each in its own way: linux/os.c for Linux,
 * win32/os.c for Windows.  All strings are UTF-8.
 */
#ifndef XR_OS_OS_H
#define XR_OS_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/errmsg.h"

/*
 * os__arguments - called first in main(), with its arguments; on Windows they are replaced by
 * those of the command line in UTF-8, which stay for the life of the program, and the standard
 * streams take what is written to them as it is.  0, or -ENOMEM or -EINVAL with @f filled.
 */
int os__arguments(int *argc, char ***argv, struct errmsg *f);

/* os__is_windows - rows of options that it lacks are marked (cmd/option_rows.h). */
bool os__is_windows(void);

/* os__now - ns on a clock that never goes back; on Linux CLOCK_MONOTONIC. */
uint64_t os__now(void);

/* os__cpu - ns of CPU time that the calling thread has used. */
uint64_t os__cpu(void);

/* os__real_time - ns since 1970. */
uint64_t os__real_time(void);

/* os__host - the machine's name into @name, "" if it has none. */
void os__host(char *name, size_t size);

/* Why a file of others is not written to, beside errno's reasons; as these, negative. */
enum os_refusal {
	OS_LINK_OF_OTHERS = 5001,
	OS_DIRECTORY_OF_OTHERS,
	OS_FILE_OF_OTHERS,
	OS_FILE_HAS_NAMES,
	OS_CLOSED, /* of standard output */
	OS_NAMES_TAKEN,
	/* of os__open */
	OS_IRREGULAR,
	OS_LINK,
};

/*
 * os__create - open a new or emptied file for writing: a descriptor, a negative errno or, on Linux,
 * enum os_refusal: in what others may have prepared nothing is overwritten (linux/create.c).
 */
int os__create(const char *path);

/*
 * os__create_new - the same, but -EEXIST if there is anything of that name: a file, a link that
 * leads nowhere, a pipe.  If another process makes it at the same time, one of both fails.
 */
int os__create_new(const char *path);

/* Which file a path leads to, or, where there is none, which one would be made. */
struct os_identity {
	uint64_t device, inode; /* of the file, or of the directory that it would be made in */
	uint64_t name;		/* a hash of its name there; 0: the file is there */
	bool regular;		/* what is written to it is kept, or would be */
};

/*
 * os__identify - follow @path as os__create() does; "-" is standard output.  A negative errno or
 * enum os_refusal; -ENOSYS: not known on this system.
 */
int os__identify(const char *path, struct os_identity *id);

/* os__same_file - would what is written to the one be in the other? */
static inline bool os__same_file(const struct os_identity *a, const struct os_identity *b)
{
	return a->regular && b->regular && a->device == b->device && a->inode == b->inode &&
	       a->name == b->name;
}

/* What a file that is read may be. */
enum os_reading {
	OS_STREAM,  /* a pipe or a terminal, too; one with no writer yet is waited for */
	OS_REGULAR, /* a regular file, perhaps by a link */
	OS_ENTRY,   /* the same without a link: a name that others may have put into a directory */
};

/*
 * os__open - open a file that the caller named for reading, with his rights: a descriptor or a
 * negative errno or enum os_refusal; -EISDIR: a directory.  What may not be read is not waited for.
 * "-" is standard input.  os__close - of it.
 */
int os__open(const char *path, enum os_reading what);
void os__close(int fd);

/* os__read - read(2): bytes, 0 at the end, or a negative errno. */
int os__read(int fd, void *to, unsigned int size);

/* os__fill - read until @size bytes came, or the end: how many, or a negative errno. */
static inline int os__fill(int fd, void *to, unsigned int size)
{
	unsigned int len = 0;
	int n = 1;

	while (n > 0 && len < size) {
		n = os__read(fd, (char *)to + len, size - len);
		len += n > 0 ? (unsigned int)n : 0;
	}
	return n < 0 ? n : (int)len;
}

/* os__size - bytes of a regular file; 0: of none, or not known. */
uint64_t os__size(int fd);

/* os__standard_output - its descriptor, or -OS_CLOSED: the program was started without one. */
int os__standard_output(void);

/* os__syscall - the name of a system call, "read"; NULL: it is not known. */
const char *os__syscall(uint32_t number);

/* os__syscall_detail - 1 and the number of the system call of that name; 0: it is not known. */
uint32_t os__syscall_detail(const char *name, size_t len);

/* os__reason - what an error of these functions means; strerror() for errno's.  Either sign. */
const char *os__reason(int err);

/*
 * os__write - write(2): bytes written, or a negative errno; -EPIPE: the reader of a pipe has
 * gone.
 */
int os__write(int fd, const void *data, unsigned int size);

/* os__columns - how wide the terminal is that @fd leads to; 0: it leads to none. */
unsigned int os__columns(int fd);

/* os__foreground - is @fd the terminal of this process, and it in the foreground?  On Windows: no.
 */
bool os__foreground(int fd);

/*
 * os__input_over - has standard input ended, or is there something to be read?  For one thread. On
 * Windows up to one byte is read.
 */
bool os__input_over(void);

/* os__wait_writable - until @fd, where writing failed with EAGAIN, takes more. */
void os__wait_writable(int fd);

/* os__mkdir - 0 or a negative error, as of os__create. */
int os__mkdir(const char *path);

bool os__is_directory(const char *path);

/*
 * os__list - call @each with the name of each thing in the directory @path, in any order, with the
 * caller's rights.  What that returns, if it is not 0, ends it and is returned; else 0 or a
 * negative errno.
 */
int os__list(const char *path, int (*each)(void *arg, const char *name), void *arg);

/* os__many_files - have as many files open as is allowed at all. */
void os__many_files(void);

/* os__trim - give pages that free() keeps back to the system: milliseconds for each 100 MiB. */
void os__trim(void);

#endif
