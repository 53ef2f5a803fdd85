/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles of pprof as others write them, and damaged.  Ours: tests/live/test_report.sh. */
#include "pprof.pb-c.h"
#include "read_scene.h"

static struct buf bytes;
static int64_t nstrings;

static int64_t string(const char *text)
{
	ProtobufCBinaryData data = {strlen(text), (uint8_t *)(uintptr_t)text};
	Pprof__Profile part = PPROF__PROFILE__INIT;
	static uint8_t packed[64 << 10];

	part.n_string_table = 1;
	part.string_table = &data;
	buf__add(&bytes, packed, pprof__profile__pack(&part, packed));
	return nstrings++;
}

static void add(const Pprof__Profile *part)
{
	uint8_t packed[4096];

	buf__add(&bytes, packed, pprof__profile__pack(part, packed));
}

static void begin(void)
{
	bytes.len = 0;
	nstrings = 0;
	string("");
}

static void type(int64_t name, int64_t unit)
{
	Pprof__ValueType t = PPROF__VALUE_TYPE__INIT, *types[] = {&t};
	Pprof__Profile part = PPROF__PROFILE__INIT;

	t.type = name;
	t.unit = unit;
	part.n_sample_type = 1;
	part.sample_type = types;
	add(&part);
}

static void period(int64_t value, int64_t unit)
{
	Pprof__ValueType t = PPROF__VALUE_TYPE__INIT;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	t.unit = unit;
	part.period_type = &t;
	part.period = value;
	add(&part);
}

static void function(uint64_t id, int64_t name, int64_t system, int64_t file, int64_t line)
{
	Pprof__Function f = PPROF__FUNCTION__INIT, *functions[] = {&f};
	Pprof__Profile part = PPROF__PROFILE__INIT;

	f.id = id;
	f.name = name;
	f.system_name = system;
	f.filename = file;
	f.start_line = line;
	part.n_function = 1;
	part.function = functions;
	add(&part);
}

/* A location with up to two lines, the innermost first; a function 0: none. */
static void location(uint64_t id, uint64_t address, uint64_t inner, uint64_t outer, int64_t at)
{
	Pprof__Line a = PPROF__LINE__INIT, b = PPROF__LINE__INIT, *lines[] = {&a, &b};
	Pprof__Location l = PPROF__LOCATION__INIT, *locations[] = {&l};
	Pprof__Profile part = PPROF__PROFILE__INIT;

	l.id = id;
	l.address = address;
	a.function_id = inner;
	b.function_id = outer;
	a.line = b.line = at;
	l.n_line = (inner != 0) + (outer != 0);
	l.line = lines;
	part.n_location = 1;
	part.location = locations;
	add(&part);
}

static void sample(uint64_t *ids, size_t n, int64_t *values, size_t nvalues, Pprof__Label *label)
{
	Pprof__Sample s = PPROF__SAMPLE__INIT, *samples[] = {&s};
	Pprof__Profile part = PPROF__PROFILE__INIT;

	s.n_location_id = n;
	s.location_id = ids;
	s.n_value = nvalues;
	s.value = values;
	s.n_label = label != NULL;
	s.label = &label;
	part.n_sample = 1;
	part.sample = samples;
	add(&part);
}

/* A sample with two labels. */
static void says(uint64_t *ids, int64_t *values, int64_t a, int64_t is_a, int64_t b, int64_t is_b)
{
	Pprof__Label one = PPROF__LABEL__INIT, two = PPROF__LABEL__INIT, *labels[] = {&one, &two};
	Pprof__Sample s = PPROF__SAMPLE__INIT, *samples[] = {&s};
	Pprof__Profile part = PPROF__PROFILE__INIT;

	one.key = a;
	one.str = is_a;
	two.key = b;
	two.str = is_b;
	s.n_location_id = s.n_value = 1;
	s.location_id = ids;
	s.value = values;
	s.n_label = 2;
	s.label = labels;
	part.n_sample = 1;
	part.sample = samples;
	add(&part);
}

static bool is(const char *wanted, const char *name)
{
	int err = scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){0});
	bool ok = tap__ok(!err && !strcmp(scene.text.data, wanted), "%s", name);

	if (!ok)
		tap__diag("%d %s: %s", err, scene.fault.text, scene.text.data);
	return ok;
}

/* Samples first, strings last, as any order is allowed; native code of another language. */
static void test_of_others(void)
{
	int64_t values[] = {3, 30000000};
	uint64_t ids[] = {1, 2, 3};
	Pprof__Label label = PPROF__LABEL__INIT;

	bytes.len = 0;
	nstrings = 0;
	type(1, 2);
	type(3, 4);
	label.key = 12;
	label.num = 77;
	sample(ids, 3, values, 2, NULL);
	sample(ids, 1, values, 2, &label);
	location(1, 0x1000, 1, 2, 7);
	location(2, 0x2000, 0, 0, 0);
	location(3, 0, 3, 0, 9);
	function(1, 5, 6, 7, 0);
	function(2, 8, 8, 7, 3);
	function(3, 9, 9, 10, 0);
	period(10000000, 4);
	string("");
	string("samples");
	string("count");
	string("cpu");
	string("nanoseconds");
	string("demangled(int)");
	string("_Z9demangledi");
	string("a.c");
	string("main.work");
	string("f");
	string("a.R");
	string("thread");
	string("pid");
	is("f (a.R:9);0x2000;main.work {a.c:3} (a.c:7);demangled(int) (a.c:7) 3\n"
	   "/77 main.work {a.c:3} (a.c:7);demangled(int) (a.c:7) 3\n",
	   "any order, inlined calls, code without a name, labels");
	tap__ok(scene.result.format == READ_PPROF && scene.result.interval_ns == 10000000 &&
			scene.about.freq == 100,
		"its period");
	scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){.gzip = true, .piece = 3});
	tap__ok(!scene.err && scene.ticks == 6, "compressed");
	is("f (a.R:9);0x2000;main.work {a.c:3} (a.c:7);demangled(int) (a.c:7) 3\n"
	   "/77 main.work {a.c:3} (a.c:7);demangled(int) (a.c:7) 3\n",
	   "and not");
}

/* A value of time, none of samples. */
static void test_time(void)
{
	int64_t values[] = {35000000}, below[] = {-35000000}, little[] = {5};
	uint64_t ids[] = {1};

	begin();
	string("cpu");
	string("nanoseconds");
	string("f");
	type(1, 2);
	period(10000000, 2);
	function(1, 3, 3, 0, 0);
	location(1, 0, 1, 0, 0);
	sample(ids, 1, values, 1, NULL);
	sample(ids, 1, below, 1, NULL);
	sample(ids, 1, little, 1, NULL);
	sample(ids, 1, NULL, 0, NULL);
	is("f 3\n", "time is counted by its period");
	tap__ok(scene.result.bad == 2 && scene.result.first == 2, "what cannot be is left out");
}

/* What the writer puts around names, and functions that are called as marks are. */
static void test_labels(void)
{
	static const struct {
		const char *label, *system, *is;
	} all[] = {
		{"stats::lm", "lm", "lm [stats] {b.R:4} 1\n"},
		{"stats::lm", "stats::lm", "stats::lm [stats] {b.R:4} 1\n"},
		{"pkg::FUN {b.R:3}", "FUN", "FUN [pkg] {b.R:4} 1\n"},
		{"<Anonymous> {b.R:3}", "<Anonymous>", "<Anonymous> {b.R:4} 1\n"},
		{"p::<Anonymous>", "<Anonymous>", "<Anonymous> [p] {b.R:4} 1\n"},
		{"\\x3cGC>", "<GC>", "<GC> {b.R:4} 1\n"},
		{"q::\\x3cGC>", "<GC>", "<GC> [q] {b.R:4} 1\n"},
		{"<GC>", "<GC>", "!<GC> 1\n"},
		{"<toplevel>", "<toplevel>", "TOP 1\n"},
		{"a\\nb", "a\\nb", "a\nb {b.R:4} 1\n"},
		{"", "g", "g {b.R:4} 1\n"},
		{"", "", " {b.R:4} 1\n"},
	};
	int64_t values[] = {1};
	uint64_t ids[] = {1};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		begin();
		string("samples");
		string("count");
		type(1, 2);
		function(1, string(all[i].label), string(all[i].system), string("b.R"), 4);
		location(1, 0, 1, 0, 0);
		sample(ids, 1, values, 1, NULL);
		is(all[i].is, all[i].label);
	}
}

static void test_damaged(void)
{
	int64_t values[] = {1};
	uint64_t ids[] = {1, 9};
	size_t whole, stopped = 0;

	begin();
	string("samples");
	string("count");
	string("f");
	type(1, 2);
	function(1, 3, 99, -1, 0);
	location(1, 0, 1, 0, 0);
	location(0, 0, 1, 0, 0);
	sample(ids, 1, values, 1, NULL);
	whole = bytes.len;
	is("f 1\n", "strings that are not there are empty");
	sample(ids, 2, values, 1, NULL);
	scene__refused(scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){0}),
		       "location that is not there", "a location that is not there");
	for (size_t cut = 1; cut < whole; cut++) {
		int err = scene__read_bytes(bytes.data, whole - cut, &(struct scene_how){0});

		stopped += err < 0 && *scene.fault.text;
	}
	tap__ok(stopped > whole / 2, "cut anywhere: %zu of %zu are errors, none a crash", stopped,
		whole);
	begin();
	scene__refused(scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){0}), "",
		       "a profile of nothing");
	begin();
	for (int i = 0; i < 3 << 20; i++)
		buf__add(&bytes, "\x32\0", 2);
	scene__refused(
		scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){.memory = 8 << 20}),
		"too large", "more strings than there is room for");
}

/* Names are in files as they are in an Rprof.out. */
static void test_names(void)
{
	Pprof__Label label = PPROF__LABEL__INIT;
	int64_t values[] = {1};
	uint64_t ids[] = {1};

	begin();
	string("samples");
	string("count");
	type(1, 2);
	function(1, string("f"), 0, 0, 0);
	location(1, 0, 1, 0, 0);
	label.key = string("process");
	label.str = string("a\\x22\\x22\\x22\\x22bcdefghij");
	sample(ids, 1, values, 1, &label);
	scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){.named = true});
	tap__ok(!strcmp(scene.text.data, "a\"\"\"\"bcdefghij/0 f 1\n"),
		"the name of a process is not escaped any more: %s", scene.text.data);
}

/* Samples of processes that there is no room for. */
static void test_crowd(void)
{
	enum { PROCESSES = 20000 };
	static char container[40 << 10];
	Pprof__Label label = PPROF__LABEL__INIT;
	struct scene_how how[2] = {{.memory = 4 << 20}, {.memory = 4 << 20}};
	unsigned int told = 0, untold = 0, lengths = 0;
	const char *files[2];
	int64_t values[] = {2};
	size_t sizes[2];
	uint64_t ids[] = {1}, nameless = 0;

	begin();
	string("samples");
	string("count");
	type(1, 2);
	function(1, string("f"), 0, 0, 0);
	location(1, 0, 1, 0, 0);
	label.key = string("pid");
	for (label.num = 1; label.num <= PROCESSES; label.num++)
		sample(ids, 1, values, 1, &label);
	scene__read_bytes(bytes.data, bytes.len, how);
	for (const char *at = scene.text.data; *at; at = strchr(at, '\n') + 1)
		nameless += *at == 'f' ? 2 : 0;
	tap__ok(!scene.err && scene.ticks == 2 * PROCESSES && nameless && nameless < scene.ticks &&
			scene.result.crowded == nameless,
		"no room for all processes: %" PRIu64 " samples are counted", nameless);

	/* of some length there is room for what tells it from others, and none for what it says */
	for (size_t len = 1 << 10; len < sizeof(container); len += 1 << 10) {
		memset(container, 0, sizeof(container));
		memset(container, 'c', len);
		begin();
		string("samples");
		string("count");
		type(1, 2);
		function(1, string("f"), 0, 0, 0);
		location(1, 0, 1, 0, 0);
		says(ids, values, string("process"), string("R"), string("container"),
		     string(container));
		for (int i = 0; i < 2; i++) {
			how[i] = (struct scene_how){.memory = 1 << 20, .named = true};
			files[i] = bytes.data;
			sizes[i] = bytes.len;
		}
		scene__read_all(files, sizes, how, 2);
		told += !strcmp(scene.text.data, "R/0 f 2\nR/0 f 2\n") && !scene.result.crowded;
		untold += !strcmp(scene.text.data, "f 2\nf 2\n") && scene.result.crowded == 2;
		lengths++;
	}
	tap__ok(told && untold && told + untold == lengths,
		"one that cannot be described is not found half described: %u are told, %u not",
		told, untold);
}

int main(void)
{
	test_of_others();
	test_names();
	test_crowd();
	test_time();
	test_labels();
	test_damaged();
	buf__free(&bytes);
	buf__free(&scene.text);
	return tap__done();
}
