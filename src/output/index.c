/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "profile/attributes.h"

struct index {
	struct output *out;
	char path[4096]; /* borrowed by `out` */
};

int index__open(struct index **out, const struct output_config *to, const char *directory,
		struct errmsg *f)
{
	struct output_config config = *to;
	struct index *x = calloc(1, sizeof(*x));
	int err, len;

	*out = NULL;
	if (!x)
		return errmsg__set(f, -ENOMEM, "out of memory");
	len = snprintf(x->path, sizeof(x->path), "%s/index.jsonl", directory);
	if (len < 0 || (size_t)len >= sizeof(x->path)) {
		err = errmsg__set(f, -ENAMETOOLONG, "%s: the name is too long", directory);
		goto failed;
	}
	config.path = x->path;
	config.number_at = (size_t)len - strlen(".jsonl");
	err = output__open(&x->out, &config, f);
	if (err)
		goto failed;
	*out = x;
	return 0;
failed:
	free(x);
	return err;
}

/* The name in the directory: it may be moved elsewhere as a whole. */
static const char *path__base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

int index__describe(const struct profile_process *p, struct buf *out)
{
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	attributes__json(&j, p, NULL);
	json__object(&j, "labels");
	for (size_t i = 0; i < p->nlabels; i++)
		json__str(&j, p->labels[i].key, p->labels[i].value);
	json__close(&j);
	json__close(&j);
	out->len = 0;
	return json__end(&j, out);
}

/* `{...}` and `{...}` as one, which ends as the second one does. */
static int index__join(struct buf *first, const struct buf *second)
{
	int err;

	while (first->len && first->data[first->len - 1] != '}')
		first->len--;
	if (!first->len || second->len < 2)
		return -EINVAL;
	first->data[first->len - 1] = ',';
	err = buf__add(first, " ", 1);
	return err ? err : buf__add(first, second->data + 1, second->len - 1);
}

int index__add(struct index *x, const struct buf *about, const char *path, uint64_t samples)
{
	struct buf line = {0};
	struct json j;
	int err;

	json__begin(&j);
	json__object(&j, NULL);
	json__str(&j, "file", path__base(path));
	json__u64(&j, "samples", samples);
	json__close(&j);
	err = json__end(&j, &line);
	if (!err)
		err = index__join(&line, about);
	if (!err)
		err = output__write(x->out, line.data, line.len);
	if (!err)
		err = output__commit(x->out, 0);
	buf__free(&line);
	return err == OUTPUT_DROPPED ? -EFBIG : err;
}

int index__flush(struct index *x)
{
	return output__flush(x->out);
}

int index__close(struct index *x)
{
	int err;

	if (!x)
		return 0;
	err = output__finish(x->out);
	output__close(x->out, NULL);
	free(x);
	return err;
}
