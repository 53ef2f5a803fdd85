/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file of the directory as requests: the same that could be made before it became a file. */
#include "serve/linux/push_profile.h"

#include "output/encode_scene.h"
#include "output/otlp.h"
#include "os/os.h"
#include "profile/names.h"

#define MEMORY (64u << 20)

static const struct profile_label labels[] = {{"host", "h 1"}, {"dc", "a,b"}};
static struct aggregate *a;
static struct writer_config config = {
	.about = {.freq = 19,
		  .engine = "bpf",
		  .clock = "cpu",
		  .event = "cycles",
		  .began_real = 1700000000000000000},
	.roots = true,
	.labels = labels,
	.nlabels = 2,
	.described = true,
};
static struct stats stats = {.lost = 3, .truncated = 2, .unreadable = 1, .seconds = 60};
static struct push_profile *p;
static struct errmsg why;

static int open_file(enum push_kind kind, const struct buf *file)
{
	push_profile__close(p);
	return push_profile__open(&p, kind, "a file", file, MEMORY, &why);
}

/* The aggregate as the file that the directory gets. */
static void through_file(enum push_kind kind)
{
	static struct buf file;

	file.len = 0;
	config.series = "{host=h_1}";
	tap__bail_if(encode__profile(&file, formats__find("pprof"), &config, a, &stats),
		     "not encoded");
	config.series = NULL;
	tap__bail_if(open_file(kind, &file), "%s", why.text);
}

BEFORE()
{
	a = AGGREGATE(.max = MEMORY, .labels = XR_F_WAIT, .threads = true, .details = true);
}

/* A sample of process @pid. */
static void add(uint32_t pid, const char *service, const struct stack *stack, struct sample s)
{
	const struct profile_label of[] = {{"service", service}, {"tier", "b\"\xff"}};
	const struct profile_process process = {.serial = pid,
						.pid = pid,
						.comm = "R",
						.r_version = "4.2.2",
						.container = "c0ffee",
						.started = 1600000000000000000,
						.labels = of,
						.nlabels = service ? 2 : 0};

	s.tid = pid + 1;
	s.stack = stack;
	stats.written += s.type == PROFILE_TYPE_ALLOC ? 0 : s.type ? 1 : s.weight;
	aggregate__put(a, &process, s);
}

static const struct stack *stack_of(const char *function)
{
	const struct frame *frame = stack__frame(FRAME_R, function, "f.R", 3);

	return stack__of(1, &frame, NULL, 0);
}

/* All that a frame can have. */
static const struct stack *rich_stack(void)
{
	const struct frame *frames[] = {
		&mark_gc,
		MADE(.kind = FRAME_KERNEL, .function = "read", .module = KERNEL_MODULE,
		     .address = 0xffffffff81000000),
		MADE(.kind = FRAME_NATIVE, .function = "memcpy", .module = "/lib/libc.so.6",
		     .build_id = "c89b11", .hash = "600dcafe4a110000f2bf38c493f5fb92",
		     .address = 0x1234),
		MADE(.kind = FRAME_BUILTIN, .function = "lapply", .module = "/lib/libc.so.6",
		     .build_id = "c89b11", .hash = "600dcafe4a110000f2bf38c493f5fb92",
		     .address = 0x5678),
		MADE(.function = "f;x", .package = "pkg", .file = "f.R", .line = 12,
		     .defined = "f.R", .defined_line = 10),
		stack__frame(FRAME_ANON, "<Anonymous>", NULL, 0),
	};

	return stack__of(6, frames, NULL, 0);
}

/* The request is what an encoder makes of @from before it is a file, byte for byte. */
static void is_as_direct(const struct writer_ops *format, const char *what)
{
	struct push_part part;
	struct buf direct = {0};

	tap__bail_if(encode__profile(&direct, format, &config, a, &stats), "not encoded");
	through_file(format == &writer_otlp ? PUSH_OTLP : PUSH_PYROSCOPE);
	tap__bail_if(push_profile__next(p, &part) != 1, "no request");
	tap__ok(part.size == direct.len && !memcmp(part.data, direct.data, direct.len),
		"%s: the same bytes, %zu of %zu", what, part.size, direct.len);
	tap__ok(!push_profile__next(p, &part) && !part.left_out, "%s: all of it", what);
	buf__free(&direct);
}

TEST(same)
{
	config.about.types[PROFILE_TYPE_OFF_CPU] =
		(struct profile_type){"off_cpu", PROFILE_NANOSECONDS};
	config.about.types[PROFILE_TYPE_ALLOC] =
		(struct profile_type){"alloc_space", PROFILE_BYTES};
	config.about.types[PROFILE_TYPE_EVENTS] =
		(struct profile_type){"page-faults", PROFILE_COUNT};
	add(10, "web", rich_stack(), (struct sample){.weight = 5});
	add(10, "web", stacks__none(), (struct sample){.weight = 1});
	add(10, "web", stack_of("<GC>"), (struct sample){.weight = 1});
	add(10, "web", stack__of(0, NULL, NULL, 0), (struct sample){.weight = 1});
	for (int i = 0; i < 3; i++)
		add(10, "web", stack_of("wait"),
		    (struct sample){.weight = 1000,
				    .type = PROFILE_TYPE_OFF_CPU,
				    .flags = XR_F_DISK,
				    .detail = os__syscall_detail("read", 4)});
	add(10, "web", stack_of("wait"),
	    (struct sample){.weight = 4096, .type = PROFILE_TYPE_ALLOC});
	add(10, "web", stack_of("wait"), (struct sample){.weight = 2, .type = PROFILE_TYPE_EVENTS});
	is_as_direct(&writer_otlp, "OTLP");
	is_as_direct(formats__find("pprof"), "pprof");
}

/* With --clock wall a tick may be a wait. */
TEST(wall)
{
	config.about.clock = "wall";
	add(10, NULL, stack_of("f"), (struct sample){.weight = 5});
	add(10, NULL, stack_of("f"), (struct sample){.weight = 2, .flags = XR_F_STOPPED});
	add(10, NULL, stack_of("f"),
	    (struct sample){.weight = 3, .detail = os__syscall_detail("read", 4)});
	is_as_direct(&writer_otlp, "OTLP");
	is_as_direct(formats__find("pprof"), "pprof");
}

TEST(services)
{
	struct push_part part;

	add(1, "odd", stack_of("f"), (struct sample){.weight = 1});
	add(2, "even", stack_of("f"), (struct sample){.weight = 2});
	add(3, "odd", stack_of("f"), (struct sample){.weight = 3});
	add(4, NULL, stack_of("f"), (struct sample){.weight = 4});
	through_file(PUSH_PYROSCOPE);
	tap__ok(push_profile__next(p, &part) == 1 && !strcmp(part.service, "odd") &&
			!strcmp(part.series, "{host=h_1}") && part.samples == 4,
		"a request for each service");
	tap__ok(push_profile__next(p, &part) == 1 && !strcmp(part.service, "even") &&
			part.samples == 2,
		"for each one");
	tap__ok(push_profile__next(p, &part) == 1 && !strcmp(part.service, "R") &&
			part.samples == 4,
		"a process without one has its name");
	tap__ok(!push_profile__next(p, &part), "no more");
}

/* More than the 16,000 samples that Pyroscope accepts at a time. */
TEST(parts)
{
	struct push_part part;
	char name[32];

	for (int i = 0; i < 16001; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		add(2, "web", stack_of(name), (struct sample){.weight = 1});
	}
	through_file(PUSH_PYROSCOPE);
	tap__ok(push_profile__next(p, &part) == 1 && part.samples == 16000, "the first part");
	tap__ok(push_profile__next(p, &part) == 1 && part.samples == 1, "and the rest");
	tap__ok(!push_profile__next(p, &part), "no more");
}

TEST(damaged)
{
	char junk[] = "\x1f\x8b\x08junk";

	tap__ok(open_file(PUSH_OTLP, &(struct buf){junk, 7, 7}) < 0 && !p && why.text[0],
		"a damaged file: %s", why.text);
	tap__ok(open_file(PUSH_OTLP, &(struct buf){0}) < 0 && !p, "an empty one: %s", why.text);
}
