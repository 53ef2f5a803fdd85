/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that are written.  Who may put names into a directory decides what a path leads to, so a
 * path is gone through one name at a time: a symbolic link is followed when it belongs to root or
 * to the caller, and a directory that is written to belongs to one of them.  What is there already
 * is emptied only if it is theirs as well; what is not is made so that it was not (O_EXCL).  From
 * the first look to the opening a file is held by a descriptor.
 *
 * By sudo the one who called it counts as well: root's program writes to his home directory as he
 * asked it to.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/map.h"
#include "base/parse.h"
#include "os/rights.h"

#define LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */
#define TRIES_MAX 8  /* somebody makes and removes the file meanwhile */
#define UID_NONE  65534u

/* Where a path leads to. */
struct place {
	int dir;		 /* the directory that has the last name; O_PATH */
	int file;		 /* what is there, O_PATH; -1: nothing */
	bool fresh;		 /* there is to be nothing */
	bool given;		 /* by the kernel, as one that is open: /proc/self/fd/1 */
	char name[NAME_MAX + 2]; /* the last name */
	char rest[2 * PATH_MAX]; /* while it is gone through: what is left of the path */
};

static void place__close(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	if (p->file >= 0)
		close(p->file);
	p->dir = p->file = -1;
}

/* In a user namespace the owner of what is outside, root say, is shown as one number. */
static bool ids__are_all_mapped(void)
{
	FILE *in = fopen("/proc/self/uid_map", "re");
	unsigned long long inside, outside, count;
	bool all = !in || fscanf(in, "%llu %llu %llu", &inside, &outside, &count) != 3 ||
		   count >= UINT32_MAX;

	if (in)
		fclose(in);
	return all;
}

/* Root, the caller, or who called sudo. */
static bool owner__is_trusted(uid_t uid)
{
	uid_t me = geteuid();
	const char *sudo;
	uint64_t user;

	if (!uid || uid == me)
		return true;
	if (uid == UID_NONE && !ids__are_all_mapped())
		return true;
	sudo = me ? NULL : secure_getenv("SUDO_UID");
	return sudo && !parse__u64(sudo, UINT32_MAX, &user) && user == uid;
}

/* Take the next name off the path.  False: there is none. */
static bool place__next_name(struct place *p)
{
	size_t skip = strspn(p->rest, "/"), len = strcspn(p->rest + skip, "/");

	if (!len)
		return false;
	/* of one that is too long enough for the kernel to reject it */
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(len <= NAME_MAX ? len : NAME_MAX + 1),
		 p->rest + skip);
	memmove(p->rest, p->rest + skip + len, strlen(p->rest + skip + len) + 1);
	return true;
}

static int place__start(struct place *p, const char *path)
{
	if (p->dir >= 0)
		close(p->dir);
	p->dir = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->dir < 0 ? -errno : 0;
}

/* p->file is a symbolic link: have the path go on where it leads to. */
static int place__follow(struct place *p, const struct stat *st)
{
	char target[PATH_MAX], rest[2 * PATH_MAX];
	struct statfs fs;
	ssize_t n;
	int fd;

	if (!fstatfs(p->file, &fs) && fs.f_type == PROC_SUPER_MAGIC) {
		/* the kernel's own, which may lead to what has no path */
		fd = openat(p->dir, p->name, O_PATH | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		close(p->file);
		p->file = fd;
		p->given = true;
		return 0;
	}
	if (!owner__is_trusted(st->st_uid))
		return -OS_LINK_OF_OTHERS;
	n = readlinkat(p->file, "", target, sizeof(target) - 1);
	close(p->file);
	p->file = -1;
	if (n <= 0)
		return n ? -errno : -ENOENT;
	target[n] = '\0';
	if (snprintf(rest, sizeof(rest), "%s/%s", target, p->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	/* a slash at the end would ask for a directory */
	if (!p->rest[strspn(p->rest, "/")])
		snprintf(rest, sizeof(rest), "%s", target);
	memcpy(p->rest, rest, sizeof(rest));
	return target[0] == '/' ? place__start(p, target) : 0;
}

/*
 * Go through @path.  0: place->dir and ->name are set, and ->file if there is something, which is
 * -EEXIST if it is to be @fresh.
 */
static int place__find(struct place *p, const char *path, bool fresh)
{
	struct stat st;
	int err, links = 0;

	*p = (struct place){.dir = -1, .file = -1, .fresh = fresh};
	if (snprintf(p->rest, sizeof(p->rest), "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	err = place__start(p, path);
	while (!err) {
		bool last;

		if (!place__next_name(p))
			return -EISDIR;
		last = !p->rest[strspn(p->rest, "/")];
		p->given = false;
		p->file = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (p->file < 0)
			return last && errno == ENOENT ? 0 : -errno;
		if (last && p->fresh)
			return -EEXIST;
		if (fstat(p->file, &st))
			return -errno;
		if (S_ISLNK(st.st_mode)) {
			if (++links > LINKS_MAX)
				return -ELOOP;
			err = place__follow(p, &st);
			if (err || p->file < 0)
				continue;
		}
		if (last)
			return 0;
		close(p->dir);
		p->dir = p->file;
		p->file = -1;
	}
	return err;
}

/* May something be made in, or taken out of, the directory? */
static int place__check_directory(const struct place *p, struct stat *dir)
{
	if (fstat(p->dir, dir))
		return -errno;
	if (owner__is_trusted(dir->st_uid))
		return 0;
	return -OS_DIRECTORY_OF_OTHERS;
}

/* May what is there be emptied and written? */
static int place__check_file(const struct place *p)
{
	struct stat st, dir;
	int err;

	if (p->given)
		return 0;
	err = place__check_directory(p, &dir);
	if (err)
		return err;
	if (fstat(p->file, &st))
		return -errno;
	if (!owner__is_trusted(st.st_uid))
		return -OS_FILE_OF_OTHERS;
	if (S_ISREG(st.st_mode) && st.st_nlink > 1 && dir.st_mode & (S_IWGRP | S_IWOTH))
		return -OS_FILE_HAS_NAMES;
	return 0;
}

/* Open what was found.  By way of /proc it is the same one, whatever has become of its name. */
static int place__open(const struct place *p)
{
	char path[32];
	int fd, err;

	if (p->file < 0) {
		struct stat dir;

		err = place__check_directory(p, &dir);
		if (err)
			return err;
		fd = openat(p->dir, p->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0666);
		return fd < 0 ? -errno : fd;
	}
	err = place__check_file(p);
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static int create(const char *path, bool fresh)
{
	const size_t len = strlen(path);
	uint64_t raised = rights__raise(RIGHTS_FILES);
	struct place p;
	int fd = place__find(&p, path, fresh);

	if (!fd && path[len - 1] == '/') /* of a directory, as for open(2) */
		fd = -EISDIR;
	if (!fd)
		fd = place__open(&p);
	place__close(&p);
	rights__lower(raised);
	return fd;
}

int os__create(const char *path)
{
	int fd = -EEXIST;

	for (int tries = 0; fd == -EEXIST && tries < TRIES_MAX; tries++)
		fd = create(path, false);
	return fd;
}

int os__create_new(const char *path)
{
	return create(path, true);
}

int os__identify(const char *path, struct os_identity *id)
{
	uint64_t raised = rights__raise(RIGHTS_FILES);
	struct place p = {.dir = -1, .file = -1};
	const bool given = !strcmp(path, "-");
	int err = given ? 0 : place__find(&p, path, false);
	const bool there = given || p.file >= 0;
	struct stat st;

	if (!err && fstat(given ? STDOUT_FILENO : there ? p.file : p.dir, &st))
		err = -errno;
	if (!err)
		*id = (struct os_identity){
			.device = st.st_dev,
			.inode = st.st_ino,
			.name = there ? 0 : map__hash_bytes(p.name, strlen(p.name)),
			.regular = !there || S_ISREG(st.st_mode),
		};
	place__close(&p);
	rights__lower(raised);
	return err;
}

int os__mkdir(const char *path)
{
	uint64_t raised = rights__raise(RIGHTS_FILES);
	struct stat dir;
	struct place p;
	int err = place__find(&p, path, false);

	if (err == -EISDIR || (!err && p.file >= 0))
		err = -EEXIST;
	if (!err)
		err = place__check_directory(&p, &dir);
	if (!err && mkdirat(p.dir, p.name, 0777))
		err = -errno;
	place__close(&p);
	rights__lower(raised);
	return err;
}

bool os__is_directory(const char *path)
{
	uint64_t raised = rights__raise(RIGHTS_FILES);
	struct stat st;
	bool yes = !stat(path, &st) && S_ISDIR(st.st_mode);

	rights__lower(raised);
	return yes;
}

/* What rights__begin() puts in its place cannot be written to. */
int os__standard_output(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -OS_CLOSED : STDOUT_FILENO;
}

const char *os__reason(int err)
{
	switch (err < 0 ? -err : err) {
	case OS_LINK_OF_OTHERS:
		return "a symbolic link in this path belongs to another user and is not followed";
	case OS_DIRECTORY_OF_OTHERS:
		return "its directory belongs to another user, who could replace the file";
	case OS_FILE_OF_OTHERS:
		return "the existing file belongs to another user";
	case OS_FILE_HAS_NAMES:
		return "the existing file has another name in a directory where others may write";
	case OS_CLOSED:
		return "it is closed";
	case OS_NAMES_TAKEN:
		return "its name is taken, and so are all with a number from 1 to 999";
	case OS_IRREGULAR:
		return "it is not a regular file";
	case OS_LINK:
		return "it is a symbolic link, which is not followed in a directory of profiles";
	default:
		return strerror(err < 0 ? -err : err);
	}
}
