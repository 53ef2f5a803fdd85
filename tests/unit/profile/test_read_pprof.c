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

static size_t says_values = 1;

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
	s.n_location_id = 1;
	s.n_value = says_values;
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
TEST(of_others)
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
TEST(time)
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

static bool type_is(const struct read_types *t, uint32_t i, const char *name,
		    enum profile_unit unit)
{
	const struct profile_type of = about__type(&t->about, i);

	return of.name && !strcmp(of.name, name) && of.unit == unit;
}

static void read_into(struct read_types *types)
{
	scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){.types = types});
	if (scene.err)
		tap__diag("%s", scene.fault.text);
}

/* As ours are: a count of all samples, and each has a value of one type beside it. */
TEST(types_ours)
{
	int64_t ticks[] = {3, 30000000, 0, 0, 0}, waits[] = {2, 0, 45000000, 0, 0};
	int64_t bytes_of[] = {1, 0, 0, 4096, 0}, faults[] = {9, 0, 0, 0, 9};
	struct read_types types = {0};
	uint64_t ids[] = {1};
	int64_t ns, state, syscall;

	begin();
	ns = string("nanoseconds");
	type(string("samples"), string("count"));
	type(string("wall"), ns);
	type(string("off_cpu"), ns);
	type(string("alloc_space"), string("bytes"));
	type(string("page-faults"), string("count"));
	period(10000000, ns);
	function(1, string("f"), 0, 0, 0);
	location(1, 0, 1, 0, 0);
	sample(ids, 1, ticks, 5, NULL);
	sample(ids, 1, waits, 5, NULL);
	sample(ids, 1, bytes_of, 5, NULL);
	sample(ids, 1, faults, 5, NULL);
	read_into(&types);
	tap__ok(!strcmp(scene.text.data, "f 3\nf 45000000 type 1 sleeping\nf 4096 type 2\n"
					 "f 9 type 3\n"),
		"each value is of its type");
	tap__ok(type_is(&types, 0, "wall", PROFILE_TICKS) &&
			type_is(&types, PROFILE_TYPE_OFF_CPU, "off_cpu", PROFILE_NANOSECONDS) &&
			type_is(&types, PROFILE_TYPE_ALLOC, "alloc_space", PROFILE_BYTES) &&
			type_is(&types, PROFILE_TYPE_EVENTS, "page-faults", PROFILE_COUNT) &&
			!about__type(&types.about, 4).name && types.about.interval_ns == 10000000,
		"by name and unit");
	tap__ok(scene.result.samples == 6 && scene.result.values[0] == 3 &&
			scene.result.values[1] == 45000000 && scene.result.values[2] == 4096 &&
			scene.result.values[3] == 9,
		"what they add up to");

	/* what a wait was, which is nothing about the process */
	begin();
	ns = string("nanoseconds");
	type(string("samples"), string("count"));
	type(string("off_cpu"), ns);
	function(1, string("f"), 0, 0, 0);
	location(1, 0, 1, 0, 0);
	state = string("state");
	syscall = string("syscall");
	waits[1] = 45000000;
	says_values = 2;
	says(ids, waits, state, string("disk"), syscall, string("read"));
	says(ids, waits, state, string("preempted"), syscall, string("no_such_call"));
	says(ids, ticks, state, string("disk"), string("process"), string("R"));
	says_values = 1;
	types = (struct read_types){0};
	read_into(&types);
	tap__ok(!strcmp(scene.text.data, "f 45000000 type 1 disk in 6\n"
					 "f 45000000 type 1 preempted\nf 30000000 type 1 disk\n"),
		"why a thread waited, and in what");
	tap__ok(types.about.no_ticks, "where all waited there are no ticks");
}

/* As Go's heap profiles are. */
TEST(types_of_others)
{
	int64_t heap[] = {5, 5120, 2, 2048}, negative[] = {5, 5120, -2, 0};
	struct read_types types = {0};
	uint64_t ids[] = {1};
	int64_t count, space;

	begin();
	count = string("count");
	space = string("bytes");
	type(string("alloc_objects"), count);
	type(string("alloc_space"), space);
	type(string("inuse_objects"), count);
	type(string("inuse_space"), space);
	period(524288, space);
	function(1, string("main.f"), 0, 0, 0);
	location(1, 0, 1, 0, 0);
	sample(ids, 1, heap, 4, NULL);
	sample(ids, 1, negative, 4, NULL);
	sample(ids, 1, heap, 3, NULL);
	read_into(&types);
	tap__ok(!strcmp(scene.text.data, "main.f 5120 type 2\nmain.f 5 type 3\n"
					 "main.f 2 type 4\nmain.f 2048 type 5\n"),
		"all values of a sample");
	tap__ok(types.about.no_ticks && type_is(&types, 3, "alloc_objects", PROFILE_COUNT) &&
			type_is(&types, 4, "inuse_objects", PROFILE_COUNT) &&
			type_is(&types, 5, "inuse_space", PROFILE_BYTES) &&
			!scene.result.interval_ns,
		"their types");
	tap__ok(scene.result.bad == 2, "what is below zero, or is missing, is left out");

	/* another file: the same types, in another order, and one that is new */
	begin();
	type(string("inuse_space"), string("bytes"));
	type(string("a b\x1b[0m"), string("microseconds"));
	function(1, string("main.f"), 0, 0, 0);
	location(1, 0, 1, 0, 0);
	sample(ids, 1, heap, 2, NULL);
	read_into(&types);
	tap__ok(!strcmp(scene.text.data, "main.f 5 type 5\nmain.f 5120000 type 6\n"),
		"a type has one number in all files");
	tap__ok(type_is(&types, 6, "a_b_[0m", PROFILE_NANOSECONDS), "their names are harmless: %s",
		types.names[6]);

	begin();
	for (int i = 0; i < 20; i++) {
		char name[READ_TYPE_LEN * 2];

		snprintf(name, sizeof(name), "%0*d", (int)sizeof(name) - 1, i);
		type(string(name), string("count"));
	}
	function(1, string("main.f"), 0, 0, 0);
	location(1, 0, 1, 0, 0);
	sample(ids, 1, (int64_t[20]){1, 1, 1, 1, 1, 1}, 20, NULL);
	types = (struct read_types){0};
	read_into(&types);
	tap__ok(!scene.err && strlen(types.names[3]) == READ_TYPE_LEN - 1 &&
			type_is(&types, 3, types.names[3], PROFILE_COUNT) &&
			!strcmp(scene.text.data, "main.f 6 type 3\n"),
		"names that are too long are cut, and are then one");

	begin();
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "e%d", i);
		type(string(name), string("count"));
	}
	function(1, string("main.f"), 0, 0, 0);
	location(1, 0, 1, 0, 0);
	sample(ids, 1, (int64_t[20]){1, 1, 1, 1, 1, 1}, 20, NULL);
	types = (struct read_types){0};
	read_into(&types);
	tap__ok(!scene.err && type_is(&types, PROFILE_TYPES_MAX - 1, "e4", PROFILE_COUNT) &&
			scene.result.types_left == 15,
		"more than there is room for are left out, and counted: %" PRIu64,
		scene.result.types_left);
}

/* What the writer puts around names, and functions that are called as marks are. */
TEST(labels)
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
		{"\\x3ctoplevel>", "<toplevel>", "<toplevel> {b.R:4} 1\n"},
		{"shiny::<reactive:f()>", "<reactive:f()>", "<reactive:f()> [shiny] {b.R:4} 1\n"},
		{"<GC>", "<GC>", "!<GC> 1\n"},
		{"<toplevel>", "<toplevel>", "TOP 1\n"},
		{"a\\nb", "a\\nb", "a\nb {b.R:4} 1\n"},
		{"", "g", "g {b.R:4} 1\n"},
		{"", "", " {b.R:4} 1\n"},
	};
	int64_t values[] = {1};
	uint64_t ids[] = {1};

	for (size_t i = 0; i < COUNT(all); i++) {
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

TEST(damaged)
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
TEST(names)
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

/* Stacks are freed while a file is read.  A location makes its frame again then. */
TEST(freed)
{
	enum { FUNCTIONS = 2000, BETWEEN = 64 };
	struct buf wanted = {0};
	int64_t values[] = {1};
	char name[1024];
	int err;

	begin();
	string("samples");
	string("count");
	type(1, 2);
	for (uint64_t i = 1; i <= FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "f%01000" PRIu64, i);
		function(i, string(name), 0, 0, 0);
		location(i, 0, i, 0, 0);
		sample(&i, 1, values, 1, NULL);
		buf__printf(&wanted, "%s 1\n", name);
		if (i % BETWEEN)
			continue;
		sample(&(uint64_t){1}, 1, values, 1, NULL);
		buf__printf(&wanted, "f%01000d 1\n", 1);
	}
	err = scene__read_bytes(bytes.data, bytes.len,
				&(struct scene_how){.ordered = true, .memory = 8 << 20});
	tap__ok(!err && !strcmp(scene.text.data, wanted.data),
		"more names than fit: those that come again are read again");
	buf__free(&wanted);
}

/* Samples of processes that there is no room for. */
TEST(crowd)
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
