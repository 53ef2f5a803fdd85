/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames that are not R's in pprof's format: each is of the same kind when it is read again. */
#include "output/writer.h"
#include "profile/names.h"
#include "profile/read.h"
#include "stack_maker.h"
#include "tap.h"

#define FRAMES 8

static char path[] = "/tmp/xrprof-pprof.XXXXXX";

static const struct name *name(const char *text)
{
	return text ? stacks__name(maker__stacks(), text, strlen(text)) : NULL;
}

static const struct frame *frame(enum frame_kind kind, const char *function, const char *module,
				 const char *build_id, uint64_t address)
{
	struct frame f = {.kind = kind, .address = address};

	f.function = name(function);
	f.module = name(module);
	f.build_id = name(build_id);
	return stacks__frame(maker__stacks(), &f);
}

static void write_out(struct aggregate *a)
{
	const struct writer_ops *ops = formats__find("pprof");
	struct writer_config config = {.about = {.freq = 99, .clock = "cpu"}};
	struct files *files;
	struct output *out;
	struct writer *w;

	if (files__start(&files, false, NULL) ||
	    output__open(&out, &(struct output_config){.files = files, .path = path}, NULL) ||
	    ops->open(&w, out, &config) || ops->profile(w, a, NULL) || ops->close(w) ||
	    output__finish(out) || output__close(out, NULL))
		tap__bail("cannot write");
	files__stop(files);
}

static struct {
	const struct frame *const *want;
	uint32_t nsamples, nframes, same;
} seen;

static bool name__same(const struct name *a, const struct name *b)
{
	return a && b ? !strcmp(a->text, b->text) : a == b;
}

static bool frame__same(const struct frame *a, const struct frame *b)
{
	return a->kind == b->kind && a->address == b->address &&
	       name__same(a->function, b->function) && name__same(a->module, b->module) &&
	       name__same(a->build_id, b->build_id);
}

static int on_begin(void *arg, const struct profile_about *about)
{
	(void)arg;
	(void)about;
	return 0;
}

static int on_process(void *arg, const struct profile_process *p, enum profile_event event)
{
	(void)arg;
	(void)p;
	(void)event;
	return 0;
}

static int on_sample(void *arg, const struct profile_process *p, const struct sample *sample)
{
	(void)arg;
	(void)p;
	seen.nsamples++;
	seen.nframes = sample->stack->nframes;
	for (uint32_t i = 0; i < seen.nframes && i < FRAMES; i++) {
		const struct frame *got = sample->stack->frames[i];

		if (frame__same(got, seen.want[i]))
			seen.same++;
		else
			tap__diag("frame %u: kind %d at %llx, %s of %s, was %d, %s", i, got->kind,
				  (unsigned long long)got->address, got->function->text,
				  got->module ? got->module->text : "nothing", seen.want[i]->kind,
				  seen.want[i]->function->text);
	}
	return 0;
}

static int file__read(void *arg, void *to, size_t size)
{
	ssize_t n = read(*(int *)arg, to, size);

	return n < 0 ? -errno : (int)n;
}

static void read_back(int fd)
{
	static const struct sink_ops ops = {
		.begin = on_begin, .process = on_process, .sample = on_sample};
	struct reader_config config = {.to = {.ops = &ops}, .memory = 16 << 20, .ordered = true};
	struct read_input in = {.read = file__read, .arg = &fd, .name = path};
	struct read_process process = {0};
	struct read_result result;
	struct reader *r;
	struct errmsg f;

	if (reader__new(&r, &config) || reader__file(r, &in, &process, &result, &f))
		tap__bail("it cannot be read: %s", f.text);
	reader__free(r);
}

TEST(pprof_native)
{
	static const struct profile_process one = {.serial = 1, .pid = 10, .comm = "R"};
	const struct frame *frames[FRAMES] = {
		frame(FRAME_KERNEL, "[kernel]", KERNEL_MODULE, NULL, 0),
		frame(FRAME_KERNEL, "vfs_read", KERNEL_MODULE, NULL, 0xffffffff81000000),
		frame(FRAME_NATIVE, "read", "/lib/libc.so.6", "c0ffee", 0x1000),
		frame(FRAME_BUILTIN, "readBin", "/lib/libR.so", "0123", 0x2000),
		stack__frame(FRAME_R, "f", NULL, 0),
		&mark_no_native,
		frame(FRAME_NATIVE, "file.so+0x12", "/file.so", NULL, 0x12),
		frame(FRAME_BUILTIN, "a\"b;c", "/lib/libR.so", "0123", 0x3000),
	};
	struct aggregate *a;
	struct sample s = {.time = 5, .weight = 3};
	int fd = mkstemp(path);

	if (fd < 0 || aggregate__new(&a, &(struct aggregate_config){.max = 16 << 20}))
		tap__bail("no memory, or no file in /tmp");
	s.stack = stack__of(FRAMES, frames, NULL, 0);
	if (aggregate__know(a, &one) || aggregate__add(a, &one, &s))
		tap__bail("no room");
	write_out(a);
	seen.want = frames;
	read_back(fd);
	tap__ok(seen.nsamples == 1 && seen.nframes == FRAMES, "a stack with frames of all kinds");
	tap__ok(seen.same == FRAMES, "all %u are what they were: %u", FRAMES, seen.same);
	close(fd);
	unlink(path);
	aggregate__free(a);
	stack__free_all();
}
