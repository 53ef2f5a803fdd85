/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The page of format flamegraph.
 *
 *	test_flamegraph
 *	test_flamegraph page KIND STACKS PROCESSES FILE [FORMAT]	one to look at, or the same
 *profile in another format; KIND: many, hostile, empty, diff
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "output/flamegraph.h"
#include "page_profiles.h"

static struct files *files;

static const struct writer_config config = {
	.about = {.freq = 999,
		  .engine = "bpf",
		  .clock = "cpu",
		  .event = "cpu-clock",
		  .command = "xrprof-bpf -p 4711 -f flamegraph",
		  .host = "</script><b>host",
		  .began = 1000000000,
		  .began_real = 1700000000000000000},
};

/* Have one or the other written to @path. */
static void write_page(const char *path, const char *format, const struct aggregate *a,
		       const struct aggregate *before)
{
	const struct stats stats = {.ticks = 10, .written = 10, .seconds = 60};
	const struct writer_ops *ops = formats__find(format);
	struct writer *writer = NULL;
	struct output *out;
	struct errmsg f;
	int err;

	if (!ops || (!files && files__start(&files, FILES_NONE, &f)))
		tap__bail("no files or no format %s", format);
	if (output__open(&out, &(struct output_config){.files = files, .path = path}, &f))
		tap__bail("%s", f.text);
	if (before) {
		err = flamegraph__diff(out, &config, before, a);
	} else {
		err = ops->open(&writer, out, &config);
		err = err ? err : ops->profile(writer, a, &stats);
		ops->close(writer);
	}
	if (err || output__finish(out) || output__close(out, NULL))
		tap__bail("%s: %s", path, strerror(-err));
}

static int page(char **argv)
{
	uint32_t stacks = (uint32_t)atoi(argv[3]), processes = (uint32_t)atoi(argv[4]);
	struct aggregate *before = NULL, *a;

	if (!strcmp(argv[2], "hostile"))
		a = profile__hostile();
	else if (!strcmp(argv[2], "empty"))
		a = profile__new();
	else
		a = profile__many(stacks, processes);
	if (!strcmp(argv[2], "diff"))
		before = profile__many(stacks / 2, processes);
	write_page(argv[5], argv[6] ? argv[6] : "flamegraph", a, before);
	aggregate__free(a);
	aggregate__free(before);
	files__stop(files);
	stack__free_all();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 6 && !strcmp(argv[1], "page"))
		return page(argv);
	return 0;
}
