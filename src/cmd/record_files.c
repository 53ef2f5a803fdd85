/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/record.h"

#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "output/output.h"

#define STANDARD_ERROR "/dev/stderr"

int record_files__write(const struct files *others, const char *option, const char *path,
			const struct buf *text, struct errmsg *f)
{
	struct output_config to = {.path = path, .wait_ms = OUTPUT_STUCK_MS};
	struct output *out = NULL;
	struct os_identity id;
	int err;

	err = files__start(&to.files, files__given(to.path), f);
	if (err)
		return err;
	if (!files__identify(to.files, path, &id) && files__has_written(others, &id)) {
		files__stop(to.files);
		return errmsg__set(f, -EEXIST, "cannot write --%s %s: the profile is in that file",
				   option, path);
	}
	err = output__open(&out, &to, NULL);
	if (!err)
		err = output__write(out, text->data, text->len);
	if (!err)
		err = output__commit(out, 0);
	if (!err)
		err = output__finish(out);
	if (err)
		errmsg__set(f, err, "cannot write --%s %s: %s", option, path, os__reason(err));
	output__close(out, NULL);
	files__stop(to.files);
	return err;
}

/* A file that is written to, by what it was asked for with. */
struct written {
	const char *option, *path;
	bool known;
	struct os_identity id;
};

/* By 2>&1 the caller may have standard output and standard error in one file. */
static bool written__same(const struct written *a, const struct written *b)
{
	if (!a->known || !b->known || !os__same_file(&a->id, &b->id))
		return false;
	return strcmp(b->path, STANDARD_ERROR) != 0 || files__given(a->path) == FILES_NONE;
}

int record_files__check(const struct config *c, struct errmsg *f)
{
	struct written all[] = {
		{.option = "--output", .path = c->output},
		{.option = "--stats", .path = c->stats},
		{.option = "--ready", .path = c->ready},
		{.option = "standard error", .path = STANDARD_ERROR},
	};
	const size_t n = sizeof(all) / sizeof(all[0]);
	struct files *files;
	int err = files__start(&files, FILES_ANY, f);

	if (err)
		return err;
	for (size_t i = 0; i < n && err != -ETIMEDOUT; i++) {
		err = all[i].path ? files__identify(files, all[i].path, &all[i].id) : -ENOENT;
		all[i].known = !err;
	}
	files__stop(files);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (written__same(&all[i], &all[k]))
				return errmsg__set(f, -EINVAL,
						   "%s %s and %s %s are the same file: give two "
						   "different files",
						   all[i].option, all[i].path, all[k].option,
						   all[k].path);
	return 0;
}
