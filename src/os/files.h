/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that somebody else opens and writes, so that a disk or a reader that does not answer holds
 * nobody up: on Linux a process apart, which can be given up.  (On Windows it is done at once, in
 * the call.)
 *
 *	err = files__start(&fs, FILES_STDOUT, &f);
 *	err = files__open(fs, &file, "Rprof.out");
 *	n = file__give(file, data, len, ends, nends);	as much as it takes now
 *	files__poll(fs, 100);				file->written, ->error and ->closed change
 *here file__close(file);				after what was given files__stop(fs);
 *what is not closed by now is given up
 *
 * A file is written in pieces.  A regular one always ends where a piece does, also when the disk is
 * full or its writing is given up; only a process that is killed leaves a part of one.
 */
#ifndef XR_OS_FILES_H
#define XR_OS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/errmsg.h"
#include "os/os.h"

struct files;

/* Read by all; changed in calls of this header only. */
struct file {
	struct file *next; /* of its files */
	struct files *files;
	char *path;	 /* with the number, once it is opened */
	size_t at;	 /* bytes of it before a number; 0: there is none */
	uint32_t number; /* that was put there, as the name was taken; 0: none */
	uint32_t id;
	int fd;	      /* Windows only */
	int error;    /* the first there was: it takes nothing more; 0: none */
	bool opened;  /* it was, or it failed */
	bool regular; /* not a pipe, terminal or the like; known when opened */
	bool closing, closed;
	bool told_open, told_close; /* Linux: that was sent */
	uint64_t given, written;    /* bytes */
};

/* What a file may be that this program was started with. */
enum files_given {
	FILES_NONE,
	FILES_STDOUT, /* "-" */
	FILES_ANY,    /* any descriptor, by its name: /dev/stdout, /dev/fd/63 of a shell's >(...) */
};

/* files__given - what @path may be. */
enum files_given files__given(const char *path);

/* files__start - negative errno, and @f says why. */
int files__start(struct files **out, enum files_given given, struct errmsg *f);

/*
 * files__directory - is there a directory @path?  @make: else it is made.  Returns 1 or 0, or a
 * negative errno; -ETIMEDOUT: there was no answer for seconds.
 */
int files__directory(struct files *fs, const char *path, bool make);

/*
 * files__identify - as os__identify(); -ETIMEDOUT: there was no answer for seconds.
 * files__has_written - was that file opened for writing by @fs?
 */
int files__identify(struct files *fs, const char *path, struct os_identity *id);
bool files__has_written(const struct files *fs, const struct os_identity *id);

/* files__open - have @path opened, new or emptied; "-" is standard output.  -ENOMEM. */
int files__open(struct files *fs, struct file **out, const char *path);

/*
 * files__open_new - the same, but whatever is there stays as it is: where the name is taken, .1, .2
 * and so on comes behind the first @at bytes of it, 1 or more, until it is not.  -OS_NAMES_TAKEN in
 * its `error`: FILES_NUMBERS of them are taken.
 */
int files__open_new(struct files *fs, struct file **out, const char *path, size_t at);

#define FILES_NUMBERS 9999u

/*
 * files__numbered - the name @path with @number in it, behind @at bytes; 0: without.  False: it has
 * no room in @size bytes.
 */
static inline bool files__numbered(char *to, size_t size, const char *path, size_t at,
				   uint32_t number)
{
	int len = number ? snprintf(to, size, "%.*s.%u%s", (int)at, path, number, path + at)
			 : snprintf(to, size, "%s", path);

	return len >= 0 && (size_t)len < size;
}

/*
 * file__give - the @len bytes at @data follow what was given so far.  @ends: at which of them a
 * piece ends (1 to @len, ascending).  Returns how many of them were taken: 0 when no more can be
 * taken now, or at all.
 */
size_t file__give(struct file *file, const char *data, size_t len, const size_t *ends,
		  size_t nends);

/* file__close - after all that was given. */
void file__close(struct file *file);

/* file__free - one that is closed is forgotten.  One that is not is given up.  NULL is allowed. */
void file__free(struct file *file);

/* files__poll - take in what became of all this; wait up to @timeout_ms for news. */
void files__poll(struct files *fs, int timeout_ms);

/* files__news - grows whenever there is some: who waits sees by it whether anything moves. */
uint64_t files__news(const struct files *fs);

/* files__error - nobody writes any more, whatever is opened: why; 0: somebody does. */
int files__error(const struct files *fs);

/* files__waits_for_cpu - nothing moves because who writes has no CPU, or computes. */
bool files__waits_for_cpu(const struct files *fs);

/* files__stop - files not freed are given up, and freed.  NULL is allowed. */
void files__stop(struct files *fs);

#endif
