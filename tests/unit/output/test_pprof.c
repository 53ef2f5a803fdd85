/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pprof's format: what is written, of stacks, frames and processes, and what is read back. */
#include "encode_scene.h"
#include "profile/names.h"
#include "profile/read.h"

#define S      UINT64_C(1000000000)
#define FRAMES 8

static struct aggregate *a;

static void start(void)
{
	aggregate__free(a);
	a = AGGREGATE(.threads = true);
}

/* Its values, its frames as "name(system file:start)@line". */
static void say_sample(const Pprof__Profile *p, const Pprof__Sample *s)
{
	for (size_t k = 0; k < s->n_value; k++)
		tap__say("%lld ", (long long)s->value[k]);
	for (size_t k = 0; k < s->n_location_id; k++) {
		const Pprof__Line *l = p->location[s->location_id[k] - 1]->line[0];
		const Pprof__Function *f = p->function[l->function_id - 1];

		tap__say("%s%s", k ? " < " : "", scene__text(p, f->name));
		tap__say("(%s", scene__text(p, f->system_name));
		if (f->filename)
			tap__say(" %s:%lld", scene__text(p, f->filename), (long long)f->start_line);
		tap__say(")@%lld", (long long)l->line);
	}
	tap__say("\n");
}

/* All of it but its functions: a part of the golden file. */
static void say(const Pprof__Profile *p)
{
	for (size_t i = 0; i < p->n_sample_type; i++) {
		tap__say("%s in ", scene__text(p, p->sample_type[i]->type));
		tap__say("%s, ", scene__text(p, p->sample_type[i]->unit));
	}
	tap__say("period %lld of %s, at %lld for %lld\n", (long long)p->period,
		 p->period_type ? scene__text(p, p->period_type->type) : "none",
		 (long long)p->time_nanos, (long long)p->duration_nanos);
	for (size_t i = 0; i < p->n_sample; i++) {
		const Pprof__Sample *s = p->sample[i];

		say_sample(p, s);
		tap__say("  ");
		for (size_t k = 0; k < s->n_label; k++) {
			tap__say("%s=", scene__text(p, s->label[k]->key));
			tap__say("%s", scene__text(p, s->label[k]->str));
			if (s->label[k]->num)
				tap__say("%lld", (long long)s->label[k]->num);
			tap__say("%s;", scene__text(p, s->label[k]->num_unit));
		}
		tap__say("\n");
	}
}

/* Ids begin at 1 and have no gaps, and everything that is referred to is there. */
static bool sound(const Pprof__Profile *p)
{
	bool good = p->n_string_table && !p->string_table[0].len;

	for (size_t i = 0; i < p->n_location && good; i++)
		good = p->location[i]->id == i + 1 && p->location[i]->n_line == 1 &&
		       p->location[i]->line[0]->function_id - 1 < p->n_function &&
		       p->location[i]->mapping_id - 1 < p->n_mapping;
	for (size_t i = 0; i < p->n_function && good; i++)
		good = p->function[i]->id == i + 1 &&
		       (uint64_t)p->function[i]->name < p->n_string_table;
	for (size_t i = 0; i < p->n_sample && good; i++) {
		good = p->sample[i]->n_value == p->n_sample_type && p->sample[i]->n_location_id;
		for (size_t k = 0; k < p->sample[i]->n_location_id && good; k++)
			good = p->sample[i]->location_id[k] - 1 < p->n_location;
	}
	return good;
}

/* A frame of f in a package, whose definition begins at line 10 of f.R. */
static const struct frame *defined(uint32_t at)
{
	return MADE(.function = "f", .package = "pkg", .file = "f.R", .line = at, .defined = "f.R",
		    .defined_line = 10);
}

TEST(profile)
{
	static const struct profile_process one = {
		.serial = 1, .pid = 10, .comm = "R", .container = "c0ffee", .r_version = "4.2.2"};
	static const struct profile_process two = {.serial = 2, .pid = 11, .comm = "Rscript"};
	struct writer_config config = {
		.about = {.freq = 100, .clock = "cpu", .command = "the command", .began_real = 77}};
	const struct frame *g = stack__frame(FRAME_R, "g", NULL, 0);
	const struct frame *a_stack[] = {defined(12), g};
	const struct frame *b_stack[] = {&mark_gc, defined(13), g};
	const struct stats stats = {.written = 9, .seconds = 2};
	const Pprof__Profile *p;

	start();
	scene__add(a, &one, stack__of(2, a_stack, NULL, 0), 3);
	scene__add(a, &one, stack__of(3, b_stack, NULL, 0), 1);
	scene__add(a, &two, stack__of(2, a_stack, NULL, 0), 4);
	scene__add(a, &two, stack__of(0, NULL, NULL, 0), 1);
	config.part = &(struct profile_part){.depth = 2};
	p = scene__encode(a, &config, &stats);
	say_sample(p, p->sample[1]);
	say_sample(p, p->sample[2]);
	tap__said("1 10000000 <GC>(<GC>)@0 < <truncated>(<truncated>)@0\n"
		  "4 40000000 pkg::f(f f.R:10)@12 < g(g)@0\n",
		  "a stack of three frames is cut to two, one of two is not");
	config.part = NULL;
	p = scene__encode(a, &config, &stats);
	tap__ok(sound(p), "all that is referred to is there");
	say(p);
	tap__ok(p->n_location == 5 && p->n_function == 4,
		"f is one function in two places: %zu locations, %zu functions", p->n_location,
		p->n_function);
	tap__is(p->n_comment >= 3 ? scene__text(p, p->comment[1]) : NULL, "command: the command",
		"comments");
	tap__ok(p->n_mapping == 1 && !strcmp(scene__text(p, p->mapping[0]->filename), "R") &&
			p->mapping[0]->has_functions,
		"one mapping: no reader looks for its symbols");
	config.about.freq = 0;
	p = scene__encode(a, &config, NULL);
	say(p);
	start();
	config.about.freq = 99;
	p = scene__encode(a, &config, NULL);
	tap__ok(sound(p), "an empty profile is one");
	say(p);
	tap__golden("pprof.txt");
}

/* The release of R is that of the profile if it is that of all. */
TEST(versions)
{
	static const char *const of[] = {"4.2.2", "4.2.2", "4.6.0", "4.6.0"};
	const struct writer_config config = {.about.freq = 99};

	start();
	for (uint32_t i = 0; i < COUNT(of); i++) {
		const struct profile_process one = {
			.serial = i + 1, .pid = i + 1, .comm = "R", .r_version = of[i]};

		scene__add(a, &one, stack__one("f"), 1);
		tap__ok(scene__commented(scene__encode(a, &config, NULL), "R: 4.2.2") == (i < 2),
			"%s: %s", of[i], i < 2 ? "all of R 4.2.2" : "not all");
	}
	tap__ok(!scene__commented(scene__encode(a, &config, NULL), "R: 4.6.0"),
		"nor of the last one's");
}

static const struct profile_label web[] = {
	{"service", "web"}, {"env", "prod"}, {"path", "a\"b;c\nd\\x22\xff\x1b[31m"}};
static const struct profile_label batch[] = {{"service", "batch"}, {"env", "prod"}};
/* keys that would say something else, or twice */
static const struct profile_label bad[] = {
	{"pid", "1"},	      {"process", "x"},	 {"thread", "x"}, {"container", "x"},
	{"r_version", "9.9"}, {"started", "x"},	 {"", "x"},	  {"pprof::base", "x"},
	{"service", "first"}, {"service", "no"},
};

static const struct profile_process processes[] = {
	{.serial = 1,
	 .pid = 10,
	 .comm = "R",
	 .container = "c0ffee",
	 .r_version = "4.2.2",
	 .started = 1795000000 * S + 5,
	 .command = "R --file=plumber.R",
	 .labels = web,
	 .nlabels = 3},
	{.serial = 2, .pid = 10, .comm = "R", .container = "", .labels = batch, .nlabels = 2},
	{.serial = 3, .pid = 12, .comm = "Rscript", .labels = bad, .nlabels = 10},
	{.serial = 4, .pid = 13, .comm = "R"},
};
#define PROCESSES (COUNT(processes))

static const struct profile_label of_run[] = {
	{"host", "h1"}, {"env", "dev"}, {"pid", "7"}, {"host", "h2"}};

static void start_described(void)
{
	a = AGGREGATE(.threads = true, .describe = true);
	for (size_t i = 0; i < 2 * PROCESSES; i++) {
		const struct profile_process *p = &processes[i % PROCESSES];
		struct sample s = {.weight = 1 + i % PROCESSES, .tid = p->pid};

		s.stack = stack__one(i < PROCESSES ? "f" : "g");
		tap__bail_if(aggregate__add(a, p, &s), "no room");
	}
}

TEST(labels)
{
	struct writer_config config = {
		.about.freq = 100, .described = true, .labels = of_run, .nlabels = 4};
	const Pprof__Profile *p;

	start_described();
	p = scene__encode(a, &config, NULL);
	say(p);
	/* what was not asked for is not there */
	say(scene__encode(a, &(struct writer_config){.about.freq = 100}, NULL));
	tap__golden("pprof_labels.txt");
}

static struct aggregate *taken;
static struct sink takes;
static struct reader *reader;
static const struct buf *from;
static size_t at, told;

/* How often a process is begun; all goes to `takes`. */
static int taken__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	told++;
	return sink__process(&takes, p, event);
}

static int taken__bytes(void *arg, void *to, size_t size)
{
	size = size < from->len - at ? size : from->len - at;
	memcpy(to, from->data + at, size);
	at += size;
	return (int)size;
}

/* Read @bytes into `taken`; the number of processes it has then. */
static size_t read_back(const struct buf *bytes)
{
	static const struct sink_ops ops = {.process = taken__process};
	const struct reader_config config = {.to = {.ops = &ops, .to = &takes}};
	const struct read_input in = {.read = taken__bytes, .name = "it"};
	const struct read_process process = {0};
	struct read_result result;
	struct errmsg f;
	size_t n;

	if (!reader) {
		taken = AGGREGATE(.threads = true, .describe = true);
		takes = aggregate__sink(taken);
		tap__bail_if(reader__new(&reader, &config), "no memory");
	}
	from = bytes;
	at = 0;
	tap__bail_if(reader__file(reader, &in, &process, &result, &f), "%s", f.text);
	aggregate__processes(taken, &n);
	return n;
}

static void encode(const struct aggregate *a, const struct writer_config *config, struct buf *out)
{
	tap__bail_if(encode__profile(out, formats__find("pprof"), config, a, NULL), "not encoded");
}

TEST(read_back)
{
	static struct buf out, again;
	struct writer_config config = {
		.about.freq = 100, .described = true, .labels = of_run, .nlabels = 1};
	const struct profile_process *all;
	const struct aggregate_row *rows;
	uint64_t samples = 0;
	size_t n, nrows;

	start_described();
	encode(a, &config, &out);
	n = read_back(&out);
	all = aggregate__processes(taken, &n);
	tap__ok(n == PROCESSES && told == n && all[0].pid == 10 && all[1].pid == 10 &&
			all[2].pid == 12,
		"two processes of one pid and name are two: %zu of %zu", n, PROCESSES);
	tap__ok(all[0].started == 1795000000 * S && !strcmp(all[0].r_version, "4.2.2") &&
			!strcmp(all[0].container, "c0ffee") && !all[1].container &&
			!all[1].started && !all[1].r_version,
		"when it started, its R, its container");
	tap__ok(!strcmp(process__label(&all[0], "service"), "web") &&
			!strcmp(process__label(&all[1], "service"), "batch") &&
			!strcmp(process__label(&all[0], "path"), web[2].value) &&
			!strcmp(process__label(&all[3], "host"), "h1") && all[3].nlabels == 1,
		"its labels, as they were before they were escaped");
	config.nlabels = 0; /* they are its processes' now */
	encode(taken, &config, &again);
	n = read_back(&out);
	rows = aggregate__rows(taken, &nrows);
	for (size_t i = 0; i < nrows; i++)
		samples += rows[i].value;
	tap__ok(n == PROCESSES && told == n && samples == 2ul * 2 * (1 + 2 + 3 + 4),
		"read twice they are the same processes, with twice the samples");
	tap__ok(read_back(&again) == PROCESSES, "so they are when written again");
	reader__free(reader);
}

#define NATIVE(kind_of, name, of, id, at)                                                          \
	MADE(.kind = kind_of, .function = name, .module = of, .build_id = id, .address = at)

static bool name__same(const struct name *a, const struct name *b)
{
	return a && b ? !strcmp(a->text, b->text) : a == b;
}

/* Each frame that is not R's is of the same kind when it is read again. */
TEST(native)
{
	static const struct profile_process one = {.serial = 1, .pid = 10, .comm = "R"};
	static struct buf out;
	const struct frame *frames[FRAMES] = {
		NATIVE(FRAME_KERNEL, "[kernel]", KERNEL_MODULE, NULL, 0),
		NATIVE(FRAME_KERNEL, "vfs_read", KERNEL_MODULE, NULL, 0xffffffff81000000),
		NATIVE(FRAME_NATIVE, "read", "/lib/libc.so.6", "c0ffee", 0x1000),
		NATIVE(FRAME_BUILTIN, "readBin", "/lib/libR.so", "0123", 0x2000),
		stack__frame(FRAME_R, "f", NULL, 0),
		&mark_no_native,
		NATIVE(FRAME_NATIVE, "file.so+0x12", "/file.so", NULL, 0x12),
		NATIVE(FRAME_BUILTIN, "a\"b;c", "/lib/libR.so", "0123", 0x3000),
	};
	const struct aggregate_row *rows;
	const struct stack *stack;
	size_t n;

	start();
	scene__add(a, &one, stack__of(FRAMES, frames, NULL, 0), 3);
	encode(a, &(struct writer_config){.about = {.freq = 99, .clock = "cpu"}}, &out);
	read_back(&out);
	rows = aggregate__rows(taken, &n);
	stack = rows[0].stack;
	tap__ok(n == 1 && stack->nframes == FRAMES, "a stack with frames of all kinds");
	for (uint32_t i = 0; i < FRAMES; i++) {
		const struct frame *got = stack->frames[i], *was = frames[i];

		tap__ok(got->kind == was->kind && got->address == was->address &&
				name__same(got->function, was->function) &&
				name__same(got->module, was->module) &&
				name__same(got->build_id, was->build_id),
			"frame %u is %s, of kind %d", i, got->function->text, got->kind);
	}
	reader__free(reader);
}
