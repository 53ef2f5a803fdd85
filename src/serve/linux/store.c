/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The store opens the directory again for each profile.  So it finds one that was removed and made
 * again, or that another file system was mounted on, and keeps none busy.  It remembers what is in
 * the directory, and reads it again when another process changed it: when its time of modification
 * is another one, and once an hour, as two changes within a tick have the same.
 */
#include "serve/linux/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/os.h"
#include "serve/linux/store_files.h"
#include "serve/linux/store_index.h"
#include "serve/linux/store_write.h"

#define SCAN_NS (3600 * NS_PER_S) /* then the directory is looked at in any case */

struct store {
	char *path;
	struct store_keep keep;
	struct store_files files;
	struct store_index index;
	struct buf member; /* of the index */
	bool scanned;
	struct stat seen;   /* of the directory, when `files` was right */
	uint64_t looked_at; /* os__now() */
	struct way_status status;
};

/* Descriptor of the directory, which is made if it is missing; or a negative error, of os.h. */
static int store__directory(const struct store *st, struct stat *about)
{
	int fd = open(st->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && !mkdir(st->path, STORE_DIR_MODE))
		fd = open(st->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, about) && (!about->st_uid || about->st_uid == geteuid()))
		return fd;
	close(fd);
	return -OS_DIRECTORY_OF_OTHERS;
}

static const char *store__reason(int err)
{
	return err == -OS_DIRECTORY_OF_OTHERS
		       ? "it belongs to another user, who could replace its files"
		       : os__reason(err);
}

static bool time__is(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* What is in the directory, if it is not known. */
static int store__look(struct store *st, int dir, const struct stat *about)
{
	bool same =
		st->scanned && st->seen.st_dev == about->st_dev && st->seen.st_ino == about->st_ino;
	int err;

	if (!same)
		st->index = (struct store_index){0};
	if (same && time__is(st->seen.st_mtim, about->st_mtim) &&
	    os__now() - st->looked_at < SCAN_NS)
		return 0;
	st->scanned = false;
	err = store_files__scan(&st->files, dir);
	if (err)
		return err;
	st->scanned = true;
	st->seen = *about;
	st->looked_at = os__now();
	return 0;
}

static void store__count(struct store *st)
{
	st->status.kept = st->files.profiles.n + st->files.indexes.n;
	st->status.kept_size = store_files__size(&st->files);
}

int store__open(struct store **out, const char *dir, const struct store_keep *keep,
		struct errmsg *f)
{
	struct store *st = calloc(1, sizeof(*st));
	struct stat about;
	int fd = -1, err = -ENOMEM;

	*out = NULL;
	if (st)
		st->path = strdup(dir);
	if (!st || !st->path) {
		errmsg__set(f, err, "out of memory");
		goto fail;
	}
	st->keep = *keep;
	fd = store__directory(st, &about);
	err = fd < 0 ? fd : 0;
	/* to be reported now, not with the first profile */
	if (!err && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
		err = -errno;
	if (!err)
		err = store_write__sweep(fd);
	if (!err)
		err = store__look(st, fd, &about);
	if (err) {
		errmsg__set(f, err, "cannot use the directory %s: %s", dir, store__reason(err));
		goto fail;
	}
	if (st->files.more)
		errmsg__set(f, 0,
			    "%s has more than %u profiles: --keep neither counts nor removes the "
			    "others",
			    dir, STORE_FILES_MAX);
	store__count(st);
	close(fd);
	*out = st;
	return 0;
fail:
	if (fd >= 0)
		close(fd);
	store__close(st);
	return err;
}

/* Make room.  Files that cannot be removed are counted, and said in @f. */
static int store__room(struct store *st, int dir, const struct interval_name *name, size_t size,
		       struct errmsg *f)
{
	uint64_t more = store_files__round(size) + store_files__round(st->member.len);
	struct interval_name index = interval_name__index(name);
	struct store_kept kept = {0};
	int err;

	err = store_files__keep(&st->files, dir, &st->keep, os__real_time() / NS_PER_S, index.began,
				more, &kept, f);
	st->status.removed += kept.removed;
	st->status.failed += kept.stuck;
	return err;
}

/* The profile itself. */
static int store__profile(struct store *st, int dir, struct interval_name *name,
			  const struct store_interval *w, struct errmsg *f)
{
	int err = store__room(st, dir, name, w->size, f);

	if (err)
		return errmsg__set(f, err,
				   "%s is full (--keep): a profile of %zu bytes, %" PRIu64
				   " %s, is dropped",
				   st->path, w->size, w->samples,
				   count__word(w->samples, "sample", "samples"));
	err = store_write__file(dir, name, w->data, w->size);
	if (err)
		return errmsg__set(f, err,
				   "cannot write to %s: %s; a profile of %" PRIu64 " %s is dropped",
				   st->path, os__reason(err), w->samples,
				   count__word(w->samples, "sample", "samples"));
	st->status.sent++;
	st->status.size += w->size;
	st->status.last = os__real_time();
	/* what is not known of the directory is looked for the next time */
	if (store_files__put(&st->files, name, w->size))
		st->scanned = false;
	return 0;
}

/* Sync the directory and add it to the index: 0, or @f says what is missing. */
static int store__about(struct store *st, int dir, const struct interval_name *name,
			struct errmsg *f)
{
	char text[INTERVAL_NAME_MAX];
	int err = fsync(dir) ? -errno : 0;

	interval_name__print(text, name);
	if (err)
		return errmsg__set(f, err, "%s/%s may be lost in a crash: %s", st->path, text,
				   os__reason(err));
	err = store_index__append(&st->index, dir, name, st->member.data, st->member.len);
	if (err)
		return errmsg__set(f, err, "%s/%s is missing in the index: %s", st->path, text,
				   os__reason(err));
	st->status.size += st->member.len;
	if (st->member.len && store_files__put(&st->files, &st->index.name, st->index.size))
		st->scanned = false;
	return 0;
}

/* @name: as it was asked for, and as it became.  1: the profile is there, but not all else. */
static int store__write(struct store *st, int dir, struct interval_name *name,
			const struct store_interval *w, struct errmsg *f)
{
	int err = store__profile(st, dir, name, w, f);

	if (err)
		return err;
	/* the index has the name that it got */
	if (name->number && store_index__pack(&st->member, name, w->index, w->index_len)) {
		errmsg__set(f, -ENOMEM, "out of memory for the index of %s", st->path);
		return 1;
	}
	return store__about(st, dir, name, f) ? 1 : 0;
}

static int store__interval(struct store *st, const struct store_interval *w,
			   struct interval_name *name, struct errmsg *f)
{
	struct stat about;
	int dir, err;

	*name = interval_name__of(w->began, w->ended);
	err = store_index__pack(&st->member, name, w->index, w->index_len);
	if (err)
		return errmsg__set(f, err, "out of memory for the index of %s", st->path);
	dir = store__directory(st, &about);
	err = dir < 0 ? dir : store__look(st, dir, &about);
	if (err)
		errmsg__set(f, err,
			    "cannot use the directory %s: %s; a profile of %" PRIu64
			    " %s is dropped",
			    st->path, store__reason(err), w->samples,
			    count__word(w->samples, "sample", "samples"));
	else
		err = store__write(st, dir, name, w, f);
	if (dir < 0)
		return err;
	if (fstat(dir, &st->seen))
		st->scanned = false;
	close(dir);
	return err;
}

int store__add(struct store *st, const struct store_interval *w, struct interval_name *name)
{
	struct errmsg f = {""};
	int err = store__interval(st, w, name, &f);

	st->status.failed += err != 0;
	if (err < 0) {
		st->status.dropped++;
		st->status.dropped_samples += w->samples;
	}
	snprintf(st->status.error, sizeof(st->status.error), "%.*s",
		 (int)sizeof(st->status.error) - 1, f.text);
	store__count(st);
	return err < 0 ? err : 0;
}

void store__status(const struct store *st, struct way_status *s)
{
	*s = st->status;
}

void store__close(struct store *st)
{
	if (!st)
		return;
	store_files__free(&st->files);
	buf__free(&st->member);
	free(st->path);
	free(st);
}
