/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files are written in the call that gives what is to be written. */
#include "os/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/os.h"

#define AT_ONCE	   (1u << 30) /* bytes in one write */
#define PATH_BYTES 4096	      /* of a path, with its end */

struct files {
	struct file *first;
	uint64_t news;
};

enum files_given files__given(const char *path)
{
	(void)path;
	return FILES_STDOUT;
}

int files__start(struct files **out, enum files_given given, struct errmsg *f)
{
	(void)given;
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : errmsg__set(f, -ENOMEM, "out of memory");
}

int files__directory(struct files *fs, const char *path, bool make)
{
	int err = make ? os__mkdir(path) : 0;

	(void)fs;
	return err && err != -EEXIST ? err : os__is_directory(path);
}

int files__identify(struct files *fs, const char *path, struct os_identity *id)
{
	(void)fs;
	return os__identify(path, id);
}

bool files__has_written(const struct files *fs, const struct os_identity *id)
{
	(void)fs;
	(void)id;
	return false;
}

/* The first name that is not taken, into file->path. */
static int file__create(struct file *file, const char *path)
{
	char name[PATH_BYTES] = "";
	int fd = -EEXIST;

	for (uint32_t n = 0; fd == -EEXIST && n <= FILES_NUMBERS; n++) {
		if (!files__numbered(name, sizeof(name), path, file->at, n))
			return -ENAMETOOLONG;
		fd = file->at ? os__create_new(name) : os__create(name);
		file->number = n;
	}
	free(file->path);
	file->path = strdup(name);
	return fd;
}

static int files__add(struct files *fs, struct file **out, const char *path, size_t at)
{
	struct file *file = calloc(1, sizeof(*file));
	struct stat st;

	*out = file;
	if (!file)
		return -ENOMEM;
	file->files = fs;
	file->opened = true;
	file->at = at;
	file->path = strdup(path);
	file->fd = strcmp(path, "-") != 0 ? file__create(file, path) : STDOUT_FILENO;
	if (file->fd < 0 || fstat(file->fd, &st))
		file->error = file->fd < 0 ? file->fd : -errno;
	else
		file->regular = S_ISREG(st.st_mode);
	file->next = fs->first;
	fs->first = file;
	fs->news++;
	return 0;
}

int files__open(struct files *fs, struct file **out, const char *path)
{
	return files__add(fs, out, path, 0);
}

int files__open_new(struct files *fs, struct file **out, const char *path, size_t at)
{
	return files__add(fs, out, path, at);
}

/*
 * Take what came after the last piece back out of a regular file.  Only if it is still at the
 * file's end: standard output may be shared.
 */
static void file__trim(const struct file *file, size_t tail)
{
	off_t end = lseek(file->fd, 0, SEEK_CUR);
	struct stat st;

	if (!file->regular || !tail || end < (off_t)tail || fstat(file->fd, &st) ||
	    st.st_size != end)
		return;
	if (!ftruncate(file->fd, end - (off_t)tail))
		lseek(file->fd, end - (off_t)tail, SEEK_SET);
}

size_t file__give(struct file *file, const char *data, size_t len, const size_t *ends, size_t nends)
{
	size_t done = 0;

	/* a part of a piece at the end is kept back: files end where pieces do */
	len = nends ? ends[nends - 1] : 0;
	while (done < len && !file->error && !file->closing) {
		unsigned int n = len - done < AT_ONCE ? (unsigned int)(len - done) : AT_ONCE;
		int got = os__write(file->fd, data + done, n);

		if (got > 0)
			done += (size_t)got;
		else if (got == -EAGAIN)
			os__wait_writable(file->fd);
		else if (got != -EINTR)
			file->error = got ? got : -EIO;
	}
	while (nends && ends[nends - 1] > done)
		nends--;
	if (file->error)
		file__trim(file, done - (nends ? ends[nends - 1] : 0));
	file->given += done;
	file->written += done;
	file->files->news++;
	return done;
}

void file__close(struct file *file)
{
	if (file->closing)
		return;
	file->closing = file->closed = true;
	if (file->fd >= 0 && file->fd != STDOUT_FILENO && close(file->fd) && !file->error)
		file->error = -errno;
	file->fd = -1;
	file->files->news++;
}

void file__free(struct file *file)
{
	struct file **link;

	if (!file)
		return;
	file__close(file);
	for (link = &file->files->first; *link != file; link = &(*link)->next)
		;
	*link = file->next;
	free(file->path);
	free(file);
}

void files__poll(struct files *fs, int timeout_ms)
{
	(void)fs;
	(void)timeout_ms;
}

uint64_t files__news(const struct files *fs)
{
	return fs->news;
}

int files__error(const struct files *fs)
{
	(void)fs;
	return 0;
}

bool files__waits_for_cpu(const struct files *fs)
{
	(void)fs;
	return false;
}

void files__stop(struct files *fs)
{
	if (!fs)
		return;
	while (fs->first)
		file__free(fs->first);
	free(fs);
}
