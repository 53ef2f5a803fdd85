/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What engines delivered in real runs (tests/streams), decoded and written: the same bytes as ever.
 */
#include <glob.h>

#include "../streams/stream.h"
#include "gzip.h"
#include "outputs_scene.h"
#include "profile/decode.h"

#define EXTENSION ".stream.gz"

static const char *const formats[] = {"rprof", "folded"};

/* Those of the stream that is played. */
static struct stream_process processes[1024];
static unsigned int nprocesses;

static struct stream_process *process__of(uint32_t serial, uint32_t pid)
{
	for (unsigned int i = 0; i < nprocesses; i++)
		if (processes[i].serial == serial)
			return &processes[i];
	tap__bail_if(nprocesses == COUNT(processes), "too many processes");
	processes[nprocesses] = (struct stream_process){.serial = serial, .pid = pid};
	return &processes[nprocesses++];
}

static struct profile_process process__profile(const struct stream_process *p)
{
	return (struct profile_process){.serial = p->serial, .pid = p->pid, .comm = p->comm};
}

static void on_sample(void *arg, const struct sample *s)
{
	const struct profile_process p = process__profile(process__of(s->serial, s->pid));

	tap__bail_if(sink__sample(&sink, &p, s), "%s", sink__why(&sink)->text);
}

static void on_process(void *arg, const struct xr_process *record)
{
	struct stream_process *p = process__of(record->serial, record->pid);

	memcpy(p->comm, record->comm, sizeof(p->comm));
}

static void play(struct decoder *d, const struct buf *stream)
{
	struct stream_process named;
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
			decoder__record(d, record, item.size);
			break;
		case STREAM_PROCESS:
			memcpy(&named, record, sizeof(named));
			memcpy(process__of(named.serial, named.pid)->comm, named.comm,
			       sizeof(named.comm));
			break;
		case STREAM_FORGET:
			memcpy(&serial, record, sizeof(serial));
			p = process__profile(process__of(serial, 0));
			decoder__forget(d, serial);
			tap__bail_if(sink__process(&sink, &p, PROFILE_ENDED), "%s",
				     sink__why(&sink)->text);
			break;
		default:
			tap__bail("no such item: %u", item.kind);
		}
	}
}

/* Write @stream, of the file @name, as @format to @path: the decoder's counts. */
static struct decoder_stats convert(const struct buf *stream, const char *name, const char *format,
				    const char *path)
{
	static const struct decoder_ops ops = {.sample = on_sample, .process = on_process};
	struct stream_head head = {0};
	struct decoder_stats st;
	struct decoder *d;

	if (stream->len >= sizeof(head))
		memcpy(&head, stream->data, sizeof(head));
	tap__bail_if(head.magic != STREAM_MAGIC, "%s is not a stream", name);
	nprocesses = 0;
	about.freq = head.freq;
	open_by((struct outputs_config){
		.format = formats__find(format),
		.writer = {.capture = head.capture, .roots = head.roots},
		.path = path,
	});
	tap__bail_if(decoder__new(&d, &ops, NULL, 0), "no memory");
	play(d, stream);
	st = *decoder__stats(d);
	tap__bail_if(finish(), "cannot write %s", path);
	decoder__free(d);
	return st;
}

/* The path of what the stream @path is decoded to; until the next call. */
static const char *decoded(const char *path, const char *format, const char *packed)
{
	size_t len = strlen(path), end = strlen(EXTENSION);
	static char text[512];

	tap__bail_if(len < end || strcmp(path + len - end, EXTENSION) != 0, "%s is not *%s", path,
		     EXTENSION);
	snprintf(text, sizeof(text), "%.*s.%s%s", (int)(len - end), path, format, packed);
	return text;
}

static void test_stream(const char *path)
{
	const char *out = tap__path("profile");
	static struct buf stream, want, got;
	struct decoder_stats st;

	tap__bail_if(!gzip__file(&stream, path), "cannot read %s", path);
	for (size_t i = 0; i < COUNT(formats); i++) {
		st = convert(&stream, path, formats[i], out);
		tap__bail_if(!gzip__file(&want, decoded(path, formats[i], "")) &&
				     !gzip__file(&want, decoded(path, formats[i], ".gz")),
			     "cannot read what %s is to be", path);
		tap__bail_if(!gzip__file(&got, out), "cannot read %s", out);
		tap__ok(want.len && want.len == got.len && !memcmp(want.data, got.data, want.len),
			"%s, %llu samples: the same bytes of %s as ever (%zu, and %zu are wanted)",
			path, (unsigned long long)st.samples, formats[i], got.len, want.len);
		tap__ok(!st.malformed && st.samples, "%s: nothing is malformed", path);
	}
}

TEST(streams)
{
	glob_t found;

	tap__bail_if(glob("tests/streams/*" EXTENSION, 0, NULL, &found),
		     "no streams (run it in the source tree)");
	scene__start();
	for (size_t i = 0; i < found.gl_pathc; i++)
		test_stream(found.gl_pathv[i]);
	tap__ok(found.gl_pathc >= 10, "there are ten streams");
	globfree(&found);
	scene__stop();
}

/* streams write FILE.stream.gz...: make what they are to be decoded to, FILE.rprof, FILE.folded. */
PROGRAM(streams)
{
	static struct buf stream;

	if (argc < 3 || strcmp(argv[1], "write") != 0)
		return 2;
	scene__start();
	for (int i = 2; i < argc; i++) {
		tap__bail_if(!gzip__file(&stream, argv[i]), "cannot read %s", argv[i]);
		for (size_t k = 0; k < COUNT(formats); k++)
			convert(&stream, argv[i], formats[k], decoded(argv[i], formats[k], ""));
	}
	return 0;
}
