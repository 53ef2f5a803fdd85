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

/* An image of the folder. */
struct image_file {
	const char *name;
	char path[PATH_MAX];
	char *text; /* @len bytes, as it was before @image was made of it */
	size_t len;
	struct recorded image;
};

static inline int images__is_one(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 3 && !strcmp(entry->d_name + len - 3, ".gz");
}

/* images__each - call @test with each @step-th image, in the order of their names. */
static inline void images__each(void (*test)(const struct image_file *file), int step)
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
		struct image_file file = {.name = entries[i]->d_name};
		int err = -EIO;

		if (i % step == 0) {
			snprintf(file.path, sizeof(file.path), "%s/%s", folder, file.name);
			file.text = recorded__text(file.path, &file.len);
			if (file.text)
				err = recorded__parse(&file.image, file.text, file.len);
			if (!err)
				test(&file);
			else
				tap__ok(false, "%s is read: line %u: %s", file.name,
					file.image.line_number,
					file.image.why ? file.image.why
						       : "damaged, or it is not there");
			if (!err)
				recorded__free(&file.image);
			free(file.text);
		}
		free(entries[i]);
	}
	free(entries);
}

#endif
