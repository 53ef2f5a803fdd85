/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a profile of pprof says of processes, as it is written and as it is read back. */
#include <zlib.h>

#include "output/encode.h"
#include "pprof.pb-c.h"
#include "profile/read.h"
#include "stack_maker.h"
#include "tap.h"

#define S UINT64_C(1000000000)

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
#define PROCESSES (sizeof(processes) / sizeof(processes[0]))

static const struct profile_label of_run[] = {
	{"host", "h1"}, {"env", "dev"}, {"pid", "7"}, {"host", "h2"}};

static struct aggregate *new_aggregate(const struct aggregate_config *config)
{
	const struct frame *f = stack__frame(FRAME_R, "f", NULL, 0);
	const struct frame *g = stack__frame(FRAME_R, "g", NULL, 0);
	struct aggregate *a;

	if (aggregate__new(&a, config))
		tap__bail("no memory");
	for (size_t i = 0; i < 2 * PROCESSES; i++) {
		const struct profile_process *p = &processes[i % PROCESSES];
		struct sample s = {.weight = 1 + i % PROCESSES, .tid = p->pid};

		s.stack = stack__of(1, i < PROCESSES ? &f : &g, NULL, 0);
		if (aggregate__add(a, p, &s))
			tap__bail("no room");
	}
	return a;
}

static const struct aggregate_config described = {
	.max = 16 << 20, .threads = true, .describe = true};

static void encode(const struct aggregate *a, const struct writer_config *config, struct buf *out)
{
	out->len = 0;
	if (encode__profile(out, formats__find("pprof"), config, a, NULL))
		tap__bail("not encoded");
}

static Pprof__Profile *unpacked(const struct buf *out)
{
	static uint8_t bytes[1 << 20];
	z_stream z = {.next_in = (unsigned char *)out->data, .avail_in = (uInt)out->len};
	Pprof__Profile *p;

	z.next_out = bytes;
	z.avail_out = sizeof(bytes);
	if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END)
		tap__bail("no whole gzip file");
	p = pprof__profile__unpack(NULL, z.total_out, bytes);
	inflateEnd(&z);
	if (!p)
		tap__bail("no profile");
	return p;
}

/* All labels of sample @i: "key=value;", in their order. */
static const char *labels_of(const Pprof__Profile *p, size_t i)
{
	static struct buf text;
	const Pprof__Sample *s = p->sample[i];

	text.len = 0;
	for (size_t k = 0; k < s->n_label; k++) {
		ProtobufCBinaryData key = p->string_table[s->label[k]->key];
		ProtobufCBinaryData value = p->string_table[s->label[k]->str];
		ProtobufCBinaryData unit = p->string_table[s->label[k]->num_unit];

		buf__printf(&text, "%.*s=%.*s", (int)key.len, (char *)key.data, (int)value.len,
			    (char *)value.data);
		if (s->label[k]->num)
			buf__printf(&text, "%lld%.*s", (long long)s->label[k]->num, (int)unit.len,
				    (char *)unit.data);
		buf__str(&text, ";");
	}
	buf__add(&text, "", 1);
	return text.data;
}

static void is(const char *got, const char *want, const char *what)
{
	if (!tap__ok(!strcmp(got, want), "%s", what))
		tap__diag("%s", got);
}

TEST(written)
{
	struct aggregate *a = new_aggregate(&described);
	struct writer_config config = {
		.about.freq = 100, .described = true, .labels = of_run, .nlabels = 4};
	struct buf out = {0};
	Pprof__Profile *p;
	char first[512];

	encode(a, &config, &out);
	p = unpacked(&out);
	is(labels_of(p, 0),
	   "pid=10;process=R;thread=10;container=c0ffee;r_version=4.2.2;"
	   "started=1795000000s since 1970;service=web;env=prod;"
	   "path=a\\x22b;c\\nd\\\\x22\\xff\\x1b[31m;host=h1;",
	   "all that is known, escaped; of the run what the process does not say itself");
	is(labels_of(p, 1), "pid=10;process=R;thread=10;service=batch;env=prod;host=h1;",
	   "nothing that is not known: no container that is empty");
	is(labels_of(p, 2), "pid=12;process=Rscript;thread=12;service=first;host=h1;env=dev;",
	   "no key twice, none that says something else");
	is(labels_of(p, 3), "pid=13;process=R;thread=13;host=h1;env=dev;",
	   "labels of the run alone");
	snprintf(first, sizeof(first), "%s", labels_of(p, 0));
	is(labels_of(p, 4), first, "all samples of a process have the same");
	pprof__profile__free_unpacked(p, NULL);
	config = (struct writer_config){.about.freq = 100};
	encode(a, &config, &out);
	p = unpacked(&out);
	is(labels_of(p, 0),
	   "pid=10;process=R;thread=10;container=c0ffee;service=web;env=prod;"
	   "path=a\\x22b;c\\nd\\\\x22\\xff\\x1b[31m;",
	   "what was not asked for is not there");
	pprof__profile__free_unpacked(p, NULL);
	buf__free(&out);
	aggregate__free(a);
}

static bool of_service(const void *arg, const struct aggregate_process *p)
{
	return process__label(p, "service") == arg;
}

TEST(part)
{
	struct aggregate *a = new_aggregate(&described);
	size_t n;
	const struct aggregate_process *all = aggregate__processes(a, &n);
	const char *service = process__label(&all[1], "service");
	struct profile_part part = {.wants = of_service, .arg = service};
	struct writer_config config = {.about.freq = 100, .part = &part};
	struct buf out = {0};
	Pprof__Profile *p;

	tap__ok(n == PROCESSES && service && !strcmp(service, "batch") &&
			process__label(&all[0], "env") == process__label(&all[1], "env") &&
			!process__label(&all[3], "service"),
		"labels are found, and equal texts are one");
	encode(a, &config, &out);
	p = unpacked(&out);
	tap__ok(p->n_sample == 2 && p->sample[0]->value[0] == 2 && p->sample[1]->value[0] == 2 &&
			!strcmp(labels_of(p, 1), "pid=10;process=R;thread=10;service=batch;"
						 "env=prod;"),
		"the samples of one service");
	pprof__profile__free_unpacked(p, NULL);
	buf__free(&out);
	aggregate__free(a);
}

/* --- read back --- */

struct taken {
	struct aggregate *aggregate;
	const struct buf *from;
	size_t at, told;
};

static int taken__begin(void *arg, const struct profile_about *about)
{
	(void)arg;
	(void)about;
	return 0;
}

static int taken__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct taken *t = arg;

	(void)event;
	t->told++;
	return aggregate__know(t->aggregate, p);
}

static int taken__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct taken *t = arg;

	return aggregate__add(t->aggregate, p, s);
}

static const struct errmsg *taken__why(void *arg)
{
	static const struct errmsg none;

	(void)arg;
	return &none;
}

static int taken__bytes(void *arg, void *to, size_t size)
{
	struct taken *t = arg;
	size_t left = t->from->len - t->at;

	size = size < left ? size : left;
	memcpy(to, t->from->data + t->at, size);
	t->at += size;
	return (int)size;
}

static void read_file(struct reader *r, struct taken *t)
{
	const struct read_input in = {.read = taken__bytes, .arg = t, .name = "it"};
	const struct read_process process = {0};
	struct read_result result;
	struct errmsg f;

	t->at = 0;
	if (reader__file(r, &in, &process, &result, &f))
		tap__bail("%s", f.text);
}

TEST(read_back)
{
	static const struct sink_ops ops = {.begin = taken__begin,
					    .process = taken__process,
					    .sample = taken__sample,
					    .why = taken__why};
	struct aggregate *a = new_aggregate(&described);
	struct writer_config config = {
		.about.freq = 100, .described = true, .labels = of_run, .nlabels = 1};
	struct buf out = {0}, again = {0};
	struct taken t = {.from = &out};
	const struct aggregate_process *all;
	const struct aggregate_row *rows;
	struct reader *r;
	uint64_t samples = 0;
	size_t n, nrows;

	encode(a, &config, &out);
	if (aggregate__new(&t.aggregate, &described) ||
	    reader__new(&r, &(struct reader_config){.to = {&ops, &t}}))
		tap__bail("no memory");
	read_file(r, &t);
	all = aggregate__processes(t.aggregate, &n);
	tap__ok(n == PROCESSES && t.told == n && all[0].pid == 10 && all[1].pid == 10 &&
			all[2].pid == 12,
		"two processes of one pid and name are two: %zu of %zu", n, PROCESSES);
	tap__ok(all[0].started == 1795000000 * S && !strcmp(all[0].r_version, "4.2.2") &&
			!strcmp(all[0].container->text, "c0ffee") && !all[1].container &&
			!all[1].started && !*all[1].r_version,
		"when it started, its R, its container");
	tap__ok(!strcmp(process__label(&all[0], "service"), "web") &&
			!strcmp(process__label(&all[1], "service"), "batch") &&
			!strcmp(process__label(&all[0], "path"), web[2].value) &&
			!strcmp(process__label(&all[3], "host"), "h1") && all[3].nlabels == 1,
		"its labels, as they were before they were escaped");
	config.nlabels = 0; /* they are its processes' now */
	encode(t.aggregate, &config, &again);
	read_file(r, &t);
	aggregate__processes(t.aggregate, &n);
	rows = aggregate__rows(t.aggregate, &nrows);
	for (size_t i = 0; i < nrows; i++)
		samples += rows[i].value;
	tap__ok(n == PROCESSES && t.told == n && samples == 2ul * 2 * (1 + 2 + 3 + 4),
		"read twice they are the same processes, with twice the samples");
	t.from = &again;
	read_file(r, &t);
	aggregate__processes(t.aggregate, &n);
	tap__ok(n == PROCESSES, "so they are when written once more");
	reader__free(r);
	aggregate__free(t.aggregate);
	aggregate__free(a);
	buf__free(&out);
	buf__free(&again);
}
