/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folder of the recorded images, for the tests that play them back.  XRPROF_RECORDED: another
 * folder, instead of the tree's.
 */
#ifndef XR_TEST_IMAGES_H
#define XR_TEST_IMAGES_H

#include <dirent.h>
#include <limits.h>

#include "replay/recorded.h"
#include "tap.h"

static inline int images__is_one(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 3 && !strcmp(entry->d_name + len - 3, ".gz");
}

/* images__each - call @test with each image, in the order of their names. */
static inline void images__each(void (*test)(const char *name, const struct recorded *image))
{
	const char *folder = getenv("XRPROF_RECORDED");
	struct dirent **entries;
	int n;

	if (!folder)
		folder = "tests/images-recorded";
	n = scandir(folder, &entries, images__is_one, alphasort);
	tap__bail_if(n < 0, "no folder %s: run this from the top of the tree", folder);
	tap__ok(n > 0, "there are images");
	for (int i = 0; i < n; i++) {
		struct recorded image;
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (recorded__read(&image, path))
			tap__ok(false, "%s is read: line %u", path, image.line_number + 1);
		else
			test(entries[i]->d_name, &image);
		recorded__free(&image);
		free(entries[i]);
	}
	free(entries);
}

#endif
