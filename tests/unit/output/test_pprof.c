/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pprof's format: what is written is read back, gzip and protobuf by their own libraries. */
#include <zlib.h>

#include "output/writer.h"
#include "pprof.pb-c.h"
#include "stack_maker.h"
#include "tap.h"

static const struct profile_process one = {
	.serial = 1, .pid = 10, .comm = "R", .container = "c0ffee", .r_version = "4.2.2"};
static const struct profile_process two = {.serial = 2, .pid = 11, .comm = "Rscript"};

static char path[] = "/tmp/xrprof-pprof.XXXXXX";
static uint8_t bytes[1 << 20];

/* The file as it is read; to be freed. */
static Pprof__Profile *read_back(void)
{
	gzFile file = gzopen(path, "rb");
	int n = file ? gzread(file, bytes, sizeof(bytes)) : -1;
	Pprof__Profile *p = n >= 0 ? pprof__profile__unpack(NULL, (size_t)n, bytes) : NULL;

	if (!p)
		tap__bail("%s cannot be read", path);
	gzclose(file);
	return p;
}

static const char *string(const Pprof__Profile *p, int64_t i)
{
	static char text[8][20000];
	static int next;
	char *to = text[next++ % 8];

	if (i < 0 || (size_t)i >= p->n_string_table || p->string_table[i].len >= sizeof(text[0]))
		tap__bail("string %lld of %zu", (long long)i, p->n_string_table);
	memcpy(to, p->string_table[i].data, p->string_table[i].len);
	to[p->string_table[i].len] = '\0';
	return to;
}

static bool string_is(const Pprof__Profile *p, int64_t i, const char *wanted)
{
	return !strcmp(string(p, i), wanted);
}

static const Pprof__Function *function_of(const Pprof__Profile *p, uint64_t location)
{
	const Pprof__Location *l = p->location[location - 1];

	return p->function[l->line[0]->function_id - 1];
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

static const Pprof__Label *label(const Pprof__Profile *p, size_t sample, const char *key)
{
	const Pprof__Sample *s = p->sample[sample];

	for (size_t i = 0; i < s->n_label; i++)
		if (string_is(p, s->label[i]->key, key))
			return s->label[i];
	return NULL;
}

static void add(struct aggregate *a, const struct profile_process *p, const struct stack *stack,
		uint64_t weight)
{
	struct sample s = {.time = 5, .weight = weight, .tid = p->pid + 1, .stack = stack};

	if (aggregate__know(a, p) || aggregate__add(a, p, &s))
		tap__bail("no room");
}

/* Have @a written, @freq samples a second. */
static void write_out(struct aggregate *a, uint32_t freq, const struct stats *stats)
{
	const struct writer_ops *ops = formats__find("pprof");
	struct writer_config config = {
		.about = {
			.freq = freq, .clock = "cpu", .command = "the command", .began_real = 77}};
	struct files *files;
	struct output *out;
	struct writer *w;
	struct errmsg f;

	if (files__start(&files, false, &f) ||
	    output__open(&out, &(struct output_config){.files = files, .path = path}, &f) ||
	    ops->open(&w, out, &config))
		tap__bail("cannot open");
	if (ops->profile(w, a, stats) || ops->close(w) || output__finish(out) ||
	    output__close(out, NULL))
		tap__bail("cannot write");
	files__stop(files);
}

static struct aggregate *new_aggregate(void)
{
	struct aggregate *a;

	if (aggregate__new(&a, &(struct aggregate_config){.max = 16 << 20, .threads = true}))
		tap__bail("no memory");
	return a;
}

/* A frame of package @package whose definition begins at line @line of @file. */
static const struct frame *defined(const char *function, const char *package, const char *file,
				   uint32_t line, uint32_t at)
{
	struct frame frame = {.kind = FRAME_R, .place = stack__place(file, at)};

	frame.defined = stack__place(file, line);
	frame.package = stacks__name(maker__stacks(), package, strlen(package));
	frame.function = stacks__name(maker__stacks(), function, strlen(function));
	return stacks__frame(maker__stacks(), &frame);
}

static void test_profile(void)
{
	const struct frame *f12 = defined("f", "pkg", "f.R", 10, 12);
	const struct frame *f13 = defined("f", "pkg", "f.R", 10, 13);
	const struct frame *g = stack__frame(FRAME_R, "g", NULL, 0);
	const struct frame *a_stack[] = {f12, g}, *b_stack[] = {&mark_gc, f13, g};
	const struct stats stats = {.written = 9, .seconds = 2};
	struct aggregate *a = new_aggregate();
	Pprof__Profile *p;
	uint64_t weight = 0;

	add(a, &one, stack__of(2, a_stack, NULL, 0), 3);
	add(a, &one, stack__of(3, b_stack, NULL, 0), 1);
	add(a, &two, stack__of(2, a_stack, NULL, 0), 4);
	add(a, &two, stack__of(0, NULL, NULL, 0), 1);
	write_out(a, 100, &stats);
	p = read_back();
	tap__ok(sound(p), "all that is referred to is there");
	tap__ok(p->n_sample_type == 2 && string_is(p, p->sample_type[0]->type, "samples") &&
			string_is(p, p->sample_type[0]->unit, "count") &&
			string_is(p, p->sample_type[1]->type, "cpu") &&
			string_is(p, p->sample_type[1]->unit, "nanoseconds"),
		"sample types");
	tap__ok(p->period == 10000000 && string_is(p, p->period_type->type, "cpu") &&
			p->time_nanos == 77 && p->duration_nanos == 2000000000,
		"period, time, duration");
	for (size_t i = 0; i < p->n_sample; i++)
		weight += (uint64_t)p->sample[i]->value[0];
	tap__ok(p->n_sample == 4 && weight == 9, "four rows, nine samples");
	tap__ok(p->sample[0]->value[0] == 3 && p->sample[0]->value[1] == 30000000,
		"a sample of three ticks");
	tap__ok(p->n_location == 5 && p->n_function == 4,
		"f is one function in two places: %zu locations, %zu functions", p->n_location,
		p->n_function);
	tap__ok(string_is(p, function_of(p, p->sample[0]->location_id[0])->name, "pkg::f") &&
			string_is(p, function_of(p, 1)->system_name, "f") &&
			string_is(p, function_of(p, 1)->filename, "f.R") &&
			function_of(p, 1)->start_line == 10 && p->location[0]->line[0]->line == 12,
		"innermost first; name, package, definition, line");
	tap__ok(string_is(p, function_of(p, p->sample[1]->location_id[0])->name, "<GC>"),
		"the collector is innermost");
	tap__ok(string_is(p, function_of(p, p->sample[3]->location_id[0])->name, "<toplevel>"),
		"top level is shown");
	tap__ok(label(p, 0, "pid")->num == 10 && label(p, 2, "pid")->num == 11 &&
			string_is(p, label(p, 2, "process")->str, "Rscript") &&
			label(p, 0, "thread")->num == 11 &&
			string_is(p, label(p, 0, "container")->str, "c0ffee") &&
			!label(p, 2, "container"),
		"labels");
	tap__ok(p->n_comment >= 3 && string_is(p, p->comment[1], "command: the command"),
		"comments");
	tap__ok(p->n_mapping == 1 && string_is(p, p->mapping[0]->filename, "R") &&
			p->mapping[0]->has_functions,
		"one mapping: nobody looks for its symbols");
	pprof__profile__free_unpacked(p, NULL);
	write_out(a, 0, NULL);
	p = read_back();
	tap__ok(sound(p) && p->n_sample_type == 1 && !p->period, "without a rate there is no time");
	pprof__profile__free_unpacked(p, NULL);
	aggregate__free(a);
}

static void test_empty(void)
{
	struct aggregate *a = new_aggregate();
	Pprof__Profile *p;

	write_out(a, 99, NULL);
	p = read_back();
	tap__ok(sound(p) && !p->n_sample && p->n_sample_type == 2, "an empty profile is one");
	pprof__profile__free_unpacked(p, NULL);
	aggregate__free(a);
}

static void test_names(void)
{
	static char long_name[10001];
	const char *const names[] = {"a\"b",	 "</script>", "line\nbreak", "\x1b[31mred",
				     "\xff\xfe", "é",	      "<GC>",	     "p::q",
				     "a;b",	 "",	      "\\x3c",	     long_name};
	struct aggregate *a = new_aggregate();
	size_t n = sizeof(names) / sizeof(names[0]);
	bool clean = true;
	Pprof__Profile *p;

	memset(long_name, 'x', sizeof(long_name) - 1);
	for (size_t i = 0; i < n; i++) {
		const struct frame *frame = stack__frame(FRAME_R, names[i], NULL, 0);

		add(a, &one, stack__of(1, &frame, NULL, 0), 1);
	}
	write_out(a, 99, NULL);
	p = read_back();
	for (size_t i = 0; i < p->n_function; i++)
		for (const char *c = string(p, p->function[i]->name); *c; c++)
			clean &= *c >= 0 ? *c >= ' ' && *c != '"' : (unsigned char)*c < 0xf8;
	tap__ok(sound(p) && p->n_function == n && p->n_sample == n, "each hostile name is one");
	tap__ok(clean, "and acts on nobody");
	pprof__profile__free_unpacked(p, NULL);
	aggregate__free(a);
}

TEST(pprof)
{
	int fd = mkstemp(path);

	if (fd < 0)
		tap__bail("no file in /tmp");
	close(fd);
	test_profile();
	test_empty();
	test_names();
	unlink(path);
	stack__free_all();
}
