/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that a helper process opens and writes on Linux, so that a disk or a reader that does not
 * respond does not block the program.  On Windows each call writes.
 *
 *	err = files__start(&fs, FILES_STDOUT, &f);
 *	err = files__open(fs, &file, "Rprof.out");
 *	n = file__give(file, data, len, ends, nends);	takes as much as fits now
 *	files__poll(fs, 100);				file->written, ->error, ->closed change
 *	file__close(file);				after the bytes that were given
 *	files__stop(fs);				abandons files that are not closed
 *
 * A file is written in pieces.  A regular file always ends where a piece does, also if the disk is
 * full or the file is abandoned.  Only a helper that is killed leaves a part of a piece.
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
	bool abandoned;		    /* Linux: it is freed with the last answer about it */
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
 * files__open_new - the same, but existing files are not overwritten: if the name is taken, .1, .2
 * and so on is added after its first @at bytes, 1 or more.  -OS_NAMES_TAKEN in `error`:
 * FILES_NUMBERS names are taken.
 */
int files__open_new(struct files *fs, struct file **out, const char *path, size_t at);

#define FILES_NUMBERS 999u

/*
 * files__numbered - the name @path with @number in it, after @at bytes; 0: without.  False: it does
 * not fit into @size bytes.
 */
static inline bool files__numbered(char *to, size_t size, const char *path, size_t at,
				   uint32_t number)
{
	int len = number ? snprintf(to, size, "%.*s.%u%s", (int)at, path, number, path + at)
			 : snprintf(to, size, "%s", path);

	return len >= 0 && (size_t)len < size;
}

/*
 * file__give - append the @len bytes at @data.  @ends: where pieces end (1 to @len, ascending).
 * Returns how many bytes were taken: 0 if no more fit now, or after an error.
 */
size_t file__give(struct file *file, const char *data, size_t len, const size_t *ends,
		  size_t nends);

/* file__close - after the bytes that were given. */
void file__close(struct file *file);

/* file__free - abandons the file if it is not closed.  NULL is allowed. */
void file__free(struct file *file);

/* files__poll - receive results; wait up to @timeout_ms for the first one. */
void files__poll(struct files *fs, int timeout_ms);

/* files__news - results so far: if it grows, the helper makes progress. */
uint64_t files__news(const struct files *fs);

/* files__error - why the helper is gone, so that all files fail; 0: it is there. */
int files__error(const struct files *fs);

/* files__waits_for_cpu - does the helper run, or wait for a CPU? */
bool files__waits_for_cpu(const struct files *fs);

/* files__stop - abandons and frees files that are not freed.  NULL is allowed. */
void files__stop(struct files *fs);

#endif
