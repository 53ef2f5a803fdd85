/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counts of memory before the lines of Rprof.out. */
#include "base/clock.h"
#include "layout.h"
#include "output/rprof_memory.h"
#include "output/writer.h"
#include "stack_maker.h"
#include "tap.h"

static struct writer *writer;
static struct output *out;
static struct buf text;
static struct budget files = {.max = 1 << 20};
static const struct writer_ops *rprof;

static void start(uint32_t capture)
{
	static struct writer_config config;

	config = (struct writer_config){
		.about = {.freq = 100}, .capture = capture | XR_ROW_MEMORY, .files = &files};
	text.len = 0;
	rprof = formats__find("rprof");
	tap__bail_if(!rprof || output__memory(&out, &text, 0) || rprof->open(&writer, out, &config),
		     "cannot open");
}

/* A sample of process @serial, in f(); @nodes 0: it has no counts. */
static void put(uint32_t serial, uint64_t ms, uint64_t weight, uint64_t nodes, uint64_t dups)
{
	const struct profile_process process = {.serial = serial, .pid = serial, .comm = "R"};
	const struct frame *f = stack__frame(FRAME_R, serial == 1 ? "f" : "g", "a.R", 3);
	struct sample s = {
		.time = NS_PER_S + ms * NS_PER_MS,
		.weight = weight,
		.serial = serial,
		.flags = nodes ? XR_F_MEMORY : 0,
		.memory = {80, 160, nodes, dups},
		.stack = stack__of(1, &f, NULL, 0),
	};

	if (!nodes)
		s.memory = (struct xr_memory){0};
	tap__bail_if(rprof->sample(writer, &process, &s), "a sample failed");
}

static void end(void)
{
	tap__bail_if(rprof->close(writer) || output__close(out, NULL), "close failed");
}

static const char *contents(void)
{
	static char copy[1 << 18];

	snprintf(copy, sizeof(copy), "%.*s", (int)text.len, text.data);
	return copy;
}

/* What is written is a part of the golden file. */
static void written(const char *what)
{
	end();
	tap__say("%s:\n%s\n", what, contents());
}

TEST(lines)
{
	start(XR_ROW_GC | XR_ROW_LINES);
	put(1, 0, 1, 5600, 3);
	put(1, 10, 3, 5656, 2);
	put(1, 20, 1, 0, 0);
	written("counts as R writes them; a sample of several lines; one that has none");
	tap__golden("memory_lines.out");
}

TEST(early)
{
	start(0);
	put(1, 0, 2, 0, 0);
	put(2, 5, 1, 112, 9);
	put(1, 10, 1, 0, 0);
	tap__is(contents(),
		"memory profiling: sample.interval=10000\n"
		":10:20:112:9:\"g\" \n",
		"what comes before the counts waits, another process does not");
	put(1, 20, 1, 56, 4);
	written("what comes before the counts waits, another process does not, until these are "
		"known");
	start(0);
	put(1, 0, 1, 0, 0);
	written("or to the end");
	start(XR_ROW_LINES);
	put(1, 0, 1, 0, 0);
	put(1, 30001, 1, 0, 0);
	put(1, 30002, 1, 56, 0);
	written("or for half a minute; files are announced before");
	tap__golden("memory_early.out");
}

TEST(room)
{
	size_t lines = 0, at = 0;

	start(0);
	for (uint64_t i = 0; i < 8000; i++)
		put(1, 0, 1, 0, 0);
	while (at < text.len)
		lines += text.data[at++] == '\n';
	tap__ok(lines > 4000, "or until there are many: %u lines", (unsigned int)lines);
	end();
	tap__ok(!files.used, "all that was taken is given back");
	start(0);
	files.used = files.max;
	put(1, 0, 1, 0, 0);
	files.used = 0;
	written("where there is no room to wait nothing waits");
	tap__golden("memory_room.out");
}
