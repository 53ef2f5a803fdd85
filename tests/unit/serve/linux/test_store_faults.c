/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A store whose process is killed, or whose disk fails, at each of its calls to the system, one
 * after the other.  Afterwards every file that has a name is whole, the index can be read as far
 * as it goes, and the next store goes on.
 */
#define _GNU_SOURCE
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "child.h"
#include "os/linux/sandbox.h"
#include "store_scene.h"
#include "system_calls.h"

#define PROFILE 20000

/* What becomes of call number `at`, counted from 1. */
static struct {
	uint64_t n, at;
	enum { FAULT_NONE, FAULT_KILL, FAULT_ERROR } what;
	bool hit;
} fault;

static bool no_replace; /* the file system does not know RENAME_NOREPLACE */

/* Kill the process if this is the call to die in. Return true if it is the call to fail. */
static bool fault__is_now(void)
{
	if (fault.what == FAULT_NONE || ++fault.n != fault.at)
		return false;
	fault.hit = true;
	if (fault.what == FAULT_KILL)
		kill(getpid(), SIGKILL);
	return fault.what == FAULT_ERROR;
}

/* One that fails or dies has written a part. */
static int fault__before(const struct system_call *c)
{
	if (c->number == SYS_renameat2 && no_replace)
		return EINVAL;
	if (c->number == SYS_pwrite64 && fault.what != FAULT_NONE && fault.n + 1 == fault.at)
		syscall(SYS_pwrite64, c->fd, c->data, c->size > 1 ? c->size / 2 : c->size, c->at);
	return fault__is_now() ? EIO : 0;
}

static int store__try(struct store **st, const struct store_keep *keep)
{
	struct errmsg f = {""};

	return store__open(st, scene_dir, keep, &f);
}

/* What the process does that has a fault: open, three profiles, of which one goes for --keep. */
static void scene__run(uint64_t began)
{
	const struct store_keep keep = {.size = 30 * 4096};
	struct store *st;
	struct errmsg f;

	if (store__try(&st, &keep))
		return;
	for (uint64_t i = 0; i < 3; i++)
		scene__add(st, began + i * 60, 60, PROFILE, &f);
	store__close(st);
}

static bool scene__is_whole(const struct scene_found *found)
{
	return !found->torn_profiles && !found->bad && !found->others;
}

/* Open it again and add a profile: no incomplete file is left. */
static bool scene__goes_on(uint64_t began)
{
	const struct store_keep keep = {.size = 1 << 20};
	size_t before = scene__found().lines;
	struct scene_found found;
	struct store *st;
	struct errmsg f;
	bool fine;

	if (store__try(&st, &keep))
		return false;
	fine = !scene__add(st, began, 60, PROFILE, &f) && !f.text[0];
	store__close(st);
	found = scene__found();
	return fine && scene__is_whole(&found) && !found.temporary && found.lines == before + 1;
}

static bool survives(void)
{
	scene__run(SCENE_TIME + 600);
	return true;
}

/* What is there after a call is there before the next one. */
TEST(kill)
{
	struct scene_found found;
	uint64_t at, wrong = 0;
	bool hit = true;

	for (at = 1; hit && !wrong; at++) {
		/* three are there, so that one is removed */
		scene__empty();
		fault.what = FAULT_NONE;
		scene__run(SCENE_TIME);
		fault.what = FAULT_KILL;
		fault.n = 0;
		fault.at = at;
		hit = !child__holds(survives);
		fault.what = FAULT_NONE;
		found = scene__found();
		if (!scene__is_whole(&found) || !scene__goes_on(SCENE_TIME + 6000))
			wrong = at;
	}
	tap__ok(!wrong && at > 30, "killed before each of %llu calls: %llu is not as it should be",
		(unsigned long long)at - 2, (unsigned long long)wrong);
}

TEST(errors)
{
	const struct store_keep keep = {.size = 30 * 4096};
	uint64_t at, wrong = 0;
	struct scene_found found;
	struct way_status s;
	struct store *st;
	struct errmsg f = {""};

	fault.hit = true;
	for (at = 1; fault.hit && !wrong; at++) {
		int errs = 0;

		scene__empty();
		fault.hit = false;
		fault.what = FAULT_NONE;
		tap__bail_if(store__try(&st, &keep), "no store");
		fault.n = 0;
		fault.at = at;
		fault.what = FAULT_ERROR;
		for (uint64_t i = 0; i < 5; i++) {
			int err = scene__add(st, SCENE_TIME + i * 60, 60, PROFILE, &f);

			errs += err < 0;
			if (err && !f.text[0])
				wrong = at;
		}
		fault.what = FAULT_NONE;
		store__status(st, &s);
		found = scene__found();
		/* one call that fails costs one profile at most, and all is counted */
		if (errs > 1 || s.dropped != (uint64_t)errs || s.sent + s.dropped != 5 ||
		    s.dropped_samples != 3 * s.dropped || found.profiles + s.removed < s.sent ||
		    !scene__is_whole(&found) || found.torn_indexes)
			wrong = at;
		store__close(st);
		if (!scene__goes_on(SCENE_TIME + 6000))
			wrong = at;
	}
	tap__ok(!wrong && at > 30, "each of %llu calls fails: %llu is not as it should be",
		(unsigned long long)at - 2, (unsigned long long)wrong);
}

/* What is not on the disk yet, by descriptor: bytes that were written. */
static struct {
	bool dirty[256], entries; /* the last: names were given since the directory was synced */
	int early, names;	  /* names that were given to bytes not on the disk; to all */
} disk;

static int disk__before(const struct system_call *c)
{
	const bool renames = c->number == SYS_renameat2 || c->number == SYS_linkat;

	if (c->fd < 0 || c->fd >= (int)(sizeof(disk.dirty) / sizeof(*disk.dirty)))
		return 0;
	if (c->number == SYS_pwrite64)
		disk.dirty[c->fd] = true;
	else if ((c->number == SYS_fsync || c->number == SYS_fdatasync) && !disk.dirty[c->fd])
		disk.entries = false;
	else if (c->number == SYS_fsync || c->number == SYS_fdatasync)
		disk.dirty[c->fd] = false;
	for (size_t i = 0; i < sizeof(disk.dirty) / sizeof(*disk.dirty) && renames; i++)
		disk.early += disk.dirty[i];
	disk.names += renames;
	disk.entries |= renames;
	return 0;
}

BEFORE()
{
	system_calls__before = fault__before;
	scene__begin(true);
}

AFTER()
{
	scene__empty();
	rmdir(scene_dir);
}

static bool add_each_twice(void)
{
	const struct store_keep keep = {.size = 1 << 20};
	int failed = 0;
	struct store *st;
	struct errmsg f;

	if (sandbox__enter(SANDBOX_FRONT, NULL) || store__try(&st, &keep))
		return false;
	for (uint64_t i = 0; i < 6; i++)
		failed |= scene__add(st, SCENE_TIME + i / 2 * 60, 60, PROFILE, &f);
	return !failed;
}

/* Where files get their names by link(2), with what the front may call. */
TEST(no_replace)
{
	struct scene_found found;
	bool added;

	no_replace = true;
	added = child__holds(add_each_twice);
	found = scene__found();
	tap__ok(added && found.profiles == 6 && scene__is_whole(&found) && !found.temporary,
		"without RENAME_NOREPLACE, in the sandbox: %zu of 6 profiles are there",
		found.profiles);
}

/* Another service opens the directory just when a file was made and is not locked yet. */
static int sweep__before(const struct system_call *c)
{
	const struct store_keep keep = {0};
	struct store *other;

	if (c->number != SYS_flock)
		return 0;
	system_calls__before = NULL;
	tap__bail_if(store__try(&other, &keep), "no store");
	store__close(other);
	return 0;
}

TEST(swept)
{
	const struct store_keep keep = {0};
	struct scene_found found;
	struct errmsg f = {""};
	struct store *st;
	int err;

	tap__bail_if(store__try(&st, &keep), "no store");
	system_calls__before = sweep__before;
	err = scene__add(st, SCENE_TIME, 60, PROFILE, &f);
	store__close(st);
	found = scene__found();
	tap__ok(!err && found.profiles == 1 && scene__is_whole(&found) && !found.temporary,
		"a new file that another service takes for a crash's is made again: %s", f.text);
}

/* A machine without power: a name is given to bytes that are on the disk, and gets there too. */
TEST(synced)
{
	int left = 0;

	system_calls__before = disk__before;
	scene__run(SCENE_TIME);
	for (size_t i = 0; i < sizeof(disk.dirty) / sizeof(*disk.dirty); i++)
		left += disk.dirty[i];
	tap__ok(disk.names == 3 && !disk.early && !left && !disk.entries,
		"bytes are synced before their name, then the directory: %d names, %d early, %d "
		"left",
		disk.names, disk.early, left);
}
