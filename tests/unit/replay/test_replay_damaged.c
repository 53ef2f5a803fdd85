/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recorded images that are damaged (test_replay.c): they are refused, or can be walked.  Of the
 * folder each fifth is enough.
 */

#include "replay/images.h"
#include "replay/replay.h"
#include "tap.h"

/* Whatever can be parsed can be walked. */
static bool damaged__try(const char *text, size_t len)
{
	struct recorded r;
	int err = recorded__parse(&r, text, len);

	if (err)
		return err == -EBADMSG && r.why;
	for (uint32_t i = 0; i < r.nmoments && i < 4; i++) {
		struct replay p = {.image = &r, .moment = &r.moments[i]};

		if (recorded_memory__new(&p.memory, &r, i))
			continue;
		replay__run(&p, 0);
		recorded_walk__free(&p.walk);
		recorded_memory__free(&p.memory);
	}
	recorded__free(&r);
	return true;
}

static void image__damaged(const char *name, const char *text, size_t len)
{
	char *copy = malloc(len);
	uint64_t random = 7;
	bool good = true, cut = true;

	tap__bail_if(!copy, "out of memory");
	for (int i = 0; i < 60; i++) {
		struct recorded r;
		size_t at;

		random = random * 6364136223846793005u + 1442695040888963407u;
		at = (random >> 20) % len;
		cut = cut && recorded__parse(&r, text, at) == -EBADMSG;
		memcpy(copy, text, len);
		copy[i % 2 ? at : at % 2048] = (char)(random >> 50);
		good = damaged__try(copy, len) && good;
		/* a line is gone, or there twice */
		memcpy(copy, text, len);
		if (at < len / 2)
			memmove(copy + at, text + 2 * at, len - 2 * at);
		good = damaged__try(copy, at < len / 2 ? len - at : len) && good;
	}
	free(copy);
	tap__ok(cut, "%s: cut anywhere, it is not taken", name);
	tap__ok(good, "%s: damaged, it does no harm", name);
}

/* The file itself, compressed, is cut or has a byte changed: it is not read. */
static bool damaged__file(const uint8_t *bytes, size_t len)
{
	char path[] = "/tmp/test_replay.XXXXXX";
	int fd = mkstemp(path);
	bool good = fd >= 0 && write(fd, bytes, len) == (ssize_t)len;
	char *text = NULL;
	size_t got;

	if (fd >= 0) {
		close(fd);
		text = recorded__text(path, &got);
		unlink(path);
	}
	good = good && !text;
	free(text);
	return good;
}

static void image__damaged_file(const char *name, const char *path)
{
	FILE *file = fopen(path, "rb");
	static uint8_t bytes[1 << 20];
	size_t len = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	bool cut = len > 64, changed = len > 64;

	if (file)
		fclose(file);
	for (size_t i = 1; i < 10 && cut && changed; i++) {
		size_t at = 20 + (len - 40) * i / 10;

		cut = damaged__file(bytes, at);
		bytes[at] ^= 0x10;
		changed = damaged__file(bytes, len);
		bytes[at] ^= 0x10;
	}
	tap__ok(cut, "%s: the file cut, it is not read", name);
	tap__ok(changed, "%s: a byte of the file changed, it is not read", name);
}

#define HEAD                                                                                       \
	"xrprof-image 1\nr 4.2.2\nmachine x86_64\nrow head_at 1000\nlayout read_plain 264\n"       \
	"layout vector_data 48\n"

static void test_hostile(void)
{
	static const struct {
		const char *text, *why;
	} images[] = {
		{"", "not an image of this version"},
		{"xrprof-image 2\n", "not an image of this version"},
		{HEAD, "the end is missing"},
		{HEAD "end 0\n", "version, machine, row or moments are missing"},
		{HEAD "moment\nline x\nread g 1000 00\nend 1", "half a line"},
		{HEAD "moment\nline x\nread g 1000 00\nend 2\n", "moments are missing"},
		{HEAD "moment\nline x\nread g 1000 00\nend 1\nend 1\n", "something after the end"},
		{HEAD "moment\nend 1\n", "a moment without a stack or without reads"},
		{HEAD "moment\nread g 1000 00\nend 1\n",
		 "a moment without a stack or without reads"},
		{HEAD "line x\nend 0\n", "a stack where none can be"},
		{HEAD "read g 1000 00\nend 0\n", "a read outside of any moment"},
		{HEAD "moment\nread z 1000 00\nend 1\n", "not a read"},
		{HEAD "moment\nread g -1 00\nend 1\n", "not a read"},
		{HEAD "moment\nread g 1000 0\nend 1\n", "half a byte"},
		{HEAD "moment\nread g 1000 0g\nend 1\n", "not a hexadecimal digit"},
		{HEAD "moment\nread g ffffffffffffffff 0000\nend 1\n",
		 "a read of no or of too many bytes"},
		{HEAD "moment\nsame g 1000 8\nend 1\n", "no earlier read of the same place"},
		{HEAD "moment\nfail g 1000 99999999\nend 1\n", "not a length"},
		{HEAD "moment\ncalls 99999 x\nend 1\n", "not a number of frames"},
		{HEAD "row size 8\n", "no such member"},
		{HEAD "row nil 10000000000000000\n", "not a value of that member"},
		{HEAD "layout cloenv 65536\n", "not a value of that member"},
		{HEAD "layout read_lines 512\nmoment\nline x\nread g 1000 00\nend 1\n",
		 "not a layout"},
		{HEAD "flags lines fast\n", "no such flag"},
		{HEAD "file 1024 x\n", "not a file"},
		{HEAD "file -1 x\n", "not a file"},
		{HEAD "\n", "an empty line"},
		{HEAD "core dump\n", "no such item"},
	};
	struct recorded r;
	struct recorded_memory m;

	for (size_t i = 0; i < COUNT(images); i++) {
		int err = recorded__parse(&r, images[i].text, strlen(images[i].text));

		tap__ok(err == -EBADMSG && !strcmp(r.why, images[i].why),
			"a damaged image: %s (%d, %s)", images[i].why, err, r.why ? r.why : "");
	}
	if (!tap__ok(!recorded__parse(&r,
				      HEAD "moment\nline x\nread g 1000 0011\nread g 1001 22\n"
					   "end 1\n",
				      sizeof(HEAD
					     "moment\nline x\nread g 1000 0011\nread g 1001 22\n"
					     "end 1\n") -
					      1),
		     "an image whose reads contradict each other"))
		return;
	tap__ok(recorded_memory__new(&m, &r, 0) == -EBADMSG, "is not replayed");
	recorded__free(&r);
}

static void image__test(const struct image_file *file)
{
	image__damaged(file->name, file->text, file->len);
	image__damaged_file(file->name, file->path);
}

TEST(replay_damaged)
{
	test_hostile();
	images__each(image__test, 5);
}
