/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What engines delivered in real runs (tests/streams), decoded and written: the same bytes as ever.
 */
#include <dirent.h>

#include "../streams/stream.h"
#include "clock.h"
#include "gzip.h"
#include "output/outputs.h"
#include "profile/decode.h"

#define FOLDER	  "tests/streams"
#define EXTENSION ".stream.gz"

static struct files *files;

static const char *const formats[] = {"rprof", "folded"};

/* A run of the profiler, from its engine on. */
struct replay {
	struct decoder *decoder;
	struct outputs *outputs;
	struct sink sink;
	struct stream_process processes[1024];
	unsigned int nprocesses;
};

static struct stream_process *replay__process(struct replay *r, uint32_t serial, uint32_t pid)
{
	for (unsigned int i = 0; i < r->nprocesses; i++)
		if (r->processes[i].serial == serial)
			return &r->processes[i];
	tap__bail_if(r->nprocesses == COUNT(r->processes), "too many processes");
	r->processes[r->nprocesses] = (struct stream_process){.serial = serial, .pid = pid};
	return &r->processes[r->nprocesses++];
}

static void on_sample(void *arg, const struct sample *s)
{
	struct replay *r = arg;
	struct stream_process *its = replay__process(r, s->serial, s->pid);
	const struct profile_process p = {
		.serial = its->serial, .pid = its->pid, .comm = its->comm};

	tap__bail_if(sink__sample(&r->sink, &p, s), "%s", sink__why(&r->sink)->text);
}

static void on_process(void *arg, const struct xr_process *record)
{
	struct stream_process *p = replay__process(arg, record->serial, record->pid);

	memcpy(p->comm, record->comm, sizeof(p->comm));
}

static void replay__begin(struct replay *r, const struct stream_head *head, const char *format,
			  const char *path)
{
	static const struct decoder_ops ops = {.sample = on_sample, .process = on_process};
	const struct outputs_config config = {
		.format = formats__find(format),
		.writer = {.capture = head->capture, .roots = head->roots},
		.path = path,
		.files = files,
	};

	*r = (struct replay){0};
	tap__bail_if(decoder__new(&r->decoder, &ops, r, 0), "no memory");
	tap__bail_if(outputs__new(&r->outputs, &config), "no memory");
	r->sink = outputs__sink(r->outputs);
	tap__bail_if(sink__begin(&r->sink, &(struct profile_about){.freq = head->freq}), "%s",
		     sink__why(&r->sink)->text);
}

static void replay__play(struct replay *r, const struct buf *stream)
{
	struct stream_process *its, named;
	struct stream_item item;
	struct profile_process p;
	static uint64_t record[131072];
	uint32_t serial;

	for (size_t at = sizeof(struct stream_head); at < stream->len; at += item.size) {
		memcpy(&item, stream->data + at, sizeof(item));
		at += sizeof(item);
		tap__bail_if(item.size > sizeof(record) || item.size > stream->len - at,
			     "a stream is cut");
		memcpy(record, stream->data + at, item.size);
		switch (item.kind) {
		case STREAM_RECORD:
			decoder__record(r->decoder, record, item.size);
			break;
		case STREAM_PROCESS:
			memcpy(&named, record, sizeof(named));
			its = replay__process(r, named.serial, named.pid);
			memcpy(its->comm, named.comm, sizeof(its->comm));
			break;
		case STREAM_FORGET:
			memcpy(&serial, record, sizeof(serial));
			its = replay__process(r, serial, 0);
			p = (struct profile_process){
				.serial = serial, .pid = its->pid, .comm = its->comm};
			decoder__forget(r->decoder, serial);
			tap__bail_if(r->sink.ops && sink__process(&r->sink, &p, PROFILE_ENDED),
				     "%s", sink__why(&r->sink)->text);
			break;
		default:
			tap__bail("no such item: %u", item.kind);
		}
	}
}

static void replay__end(struct replay *r)
{
	struct stats stats = {.decoder = *decoder__stats(r->decoder)};

	tap__bail_if(sink__finish(&r->sink, &stats), "%s", sink__why(&r->sink)->text);
	outputs__free(r->outputs);
	decoder__free(r->decoder);
}

/* @stream must hold the stream of @path. */
static const struct stream_head *head_of(const struct buf *stream, const char *path)
{
	static struct stream_head head;

	if (stream->len >= sizeof(head))
		memcpy(&head, stream->data, sizeof(head));
	tap__bail_if(stream->len < sizeof(head) || head.magic != STREAM_MAGIC, "%s is not a stream",
		     path);
	return &head;
}

/* Write @stream as @format to @path: the decoder's counts. */
static struct decoder_stats convert(const struct buf *stream, const char *name, const char *format,
				    const char *path)
{
	static struct replay r;
	struct decoder_stats st;

	replay__begin(&r, head_of(stream, name), format, path);
	replay__play(&r, stream);
	st = *decoder__stats(r.decoder);
	replay__end(&r);
	return st;
}

/* What is expected of stream @name in @format, packed or not. */
static void expected(const char *name, const char *format, struct buf *b)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.%s", FOLDER, name, format);
	if (gzip__file(b, path))
		return;
	snprintf(path, sizeof(path), "%s/%s.%s.gz", FOLDER, name, format);
	tap__bail_if(!gzip__file(b, path), "cannot read %s", path);
}

static void test_stream(const char *name, const char *dir)
{
	static struct buf stream, want, got;
	char path[512], out[512];
	struct decoder_stats st;
	size_t same;

	snprintf(path, sizeof(path), "%s/%s%s", FOLDER, name, EXTENSION);
	tap__bail_if(!gzip__file(&stream, path), "cannot read %s", path);
	snprintf(out, sizeof(out), "%s/profile", dir);
	for (int i = 0; i < 2; i++) {
		st = convert(&stream, path, formats[i], out);
		expected(name, formats[i], &want);
		tap__bail_if(!gzip__file(&got, out), "cannot read %s", out);
		for (same = 0; same < want.len && same < got.len; same++)
			if (want.data[same] != got.data[same])
				break;
		tap__ok(want.len == got.len && same == got.len && want.len,
			"%s, %llu samples: the same bytes of %s as ever", name,
			(unsigned long long)st.samples, formats[i]) ||
			(tap__diag("byte %zu differs, of %zu wanted and %zu got", same, want.len,
				   got.len),
			 0);
		tap__ok(!st.malformed && st.samples, "%s: nothing is malformed", name);
	}
	unlink(out);
}

static int each_stream(void (*f)(const char *name, const char *arg), const char *arg)
{
	struct dirent **list;
	int n = scandir(FOLDER, &list, NULL, alphasort), streams = 0;

	tap__bail_if(n < 0, "%s: %s (run it in the source tree)", FOLDER, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *end = strstr(list[i]->d_name, EXTENSION);

		if (end) {
			*end = '\0';
			f(list[i]->d_name, arg);
			streams++;
		}
		free(list[i]);
	}
	free(list);
	return streams;
}

static int write_expected(int n, char **paths)
{
	static struct buf stream;
	char out[512];

	for (int i = 0; i < n; i++) {
		size_t stem = strlen(paths[i]) - strlen(EXTENSION);

		tap__bail_if(strlen(paths[i]) < strlen(EXTENSION) || !gzip__file(&stream, paths[i]),
			     "cannot read %s", paths[i]);
		for (int k = 0; k < 2; k++) {
			snprintf(out, sizeof(out), "%.*s.%s", (int)stem, paths[i], formats[k]);
			convert(&stream, paths[i], formats[k], out);
		}
	}
	return 0;
}

TEST(streams)
{
	tap__bail_if(files__start(&files, false, NULL), "cannot start what writes files");
	clock__run(CLOCK_SLOW);
	tap__ok(each_stream(test_stream, tap__folder()) >= 10, "there are ten streams");
	files__stop(files);
}

/* streams write FILE.stream.gz...: make what they are to be decoded to, FILE.rprof, FILE.folded. */
PROGRAM(streams)
{
	tap__bail_if(files__start(&files, false, NULL), "cannot start what writes files");
	if (argc > 2 && !strcmp(argv[1], "write"))
		return write_expected(argc - 2, argv + 2);
	return 2;
}
