/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles of pprof as others write them, and damaged.  Ours: tests/live/test_report.sh. */
#include "pprof.pb-c.h"
#include "read_scene.h"

static struct buf bytes;
static int64_t nstrings;

/* A message with these members. */
#define MESSAGE(of, ...)                                                                           \
	{                                                                                          \
		.base = PROTOBUF_C_MESSAGE_INIT(&pprof__##of##__descriptor), __VA_ARGS__           \
	}

/* A part of the profile: one @member, which is @item. */
#define ADD(member, item)                                                                          \
	add(&(const Pprof__Profile)MESSAGE(profile, .n_##member = 1,                               \
					   .member = (__typeof__(item) *[]){&(item)}))

static void add(const Pprof__Profile *part)
{
	static uint8_t packed[64 << 10];

	buf__add(&bytes, packed, pprof__profile__pack(part, packed));
}

static int64_t string(const char *text)
{
	ProtobufCBinaryData data = {strlen(text), (uint8_t *)(uintptr_t)text};

	add(&(const Pprof__Profile)MESSAGE(profile, .n_string_table = 1, .string_table = &data));
	return nstrings++;
}

static void type(int64_t name, int64_t unit)
{
	Pprof__ValueType t = MESSAGE(value_type, .type = name, .unit = unit);

	ADD(sample_type, t);
}

static void period(int64_t value, int64_t unit)
{
	Pprof__ValueType t = MESSAGE(value_type, .unit = unit);

	add(&(const Pprof__Profile)MESSAGE(profile, .period_type = &t, .period = value));
}

static void function(uint64_t id, int64_t name, int64_t system, int64_t file, int64_t line)
{
	Pprof__Function f = MESSAGE(function, .id = id, .name = name, .system_name = system,
				    .filename = file, .start_line = line);

	ADD(function, f);
}

/* A location with up to two lines, the innermost first; a function 0: none. */
static void location(uint64_t id, uint64_t address, uint64_t inner, uint64_t outer, int64_t at)
{
	Pprof__Line a = MESSAGE(line, .function_id = inner, .line = at);
	Pprof__Line b = MESSAGE(line, .function_id = outer, .line = at);
	Pprof__Location l = MESSAGE(location, .id = id, .address = address,
				    .n_line = !!inner + !!outer, .line = (Pprof__Line *[]){&a, &b});

	ADD(location, l);
}

static uint64_t ids[] = {1, 2, 3}; /* of locations */

/* A sample in the first @depth of them, with up to two labels; a key of 0: none. */
static void labelled(size_t depth, const int64_t *values, size_t nvalues, Pprof__Label one,
		     Pprof__Label two)
{
	Pprof__Sample s = MESSAGE(sample, .n_location_id = depth, .location_id = ids,
				  .n_value = nvalues, .value = (int64_t *)(uintptr_t)values,
				  .n_label = one.key ? two.key ? 2 : 1 : 0,
				  .label = (Pprof__Label *[]){&one, &two});

	ADD(sample, s);
}

static Pprof__Label label(int64_t key, int64_t string, int64_t number)
{
	return (Pprof__Label)MESSAGE(label, .key = key, .str = string, .num = number);
}

#define VALUES(...) (const int64_t[]){__VA_ARGS__}, COUNT(((const int64_t[]){__VA_ARGS__}))
#define NO_LABEL    label(0, 0, 0)
#define SAMPLE(...) labelled(1, VALUES(__VA_ARGS__), NO_LABEL, NO_LABEL)

/* A new profile of "type unit" pairs, with function 1 at location 1; @name NULL: without. */
static void begin(const char *types, const char *name)
{
	char text[256], *at = text, *word;

	bytes.len = 0;
	nstrings = 0;
	string("");
	snprintf(text, sizeof(text), "%s", types);
	while ((word = strsep(&at, " ")) && *word) {
		int64_t of = string(word);

		type(of, string(strsep(&at, " ")));
	}
	if (name) {
		function(1, string(name), 0, 0, 0);
		location(1, 0, 1, 0, 0);
	}
}

/* The profile becomes @wanted; @types may be NULL. */
static void becomes(const char *wanted, struct read_types *types, const char *name)
{
	int err = scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){.types = types});

	tap__is(err ? scene.fault.text : scene.text.data, wanted, "%s", name);
}

static void is(const char *wanted, const char *name)
{
	becomes(wanted, NULL, name);
}

/* Samples first, strings last, as any order is allowed; native code of another language. */
TEST(of_others)
{
	char strings[] = "samples count cpu nanoseconds demangled(int) _Z9demangledi a.c main.work "
			 "f a.R thread pid";
	char *at = strings;
	static const char both[] =
		"f (a.R:9);0x2000;main.work {a.c:3} (a.c:7);demangled(int) (a.c:7) 3\n"
		"/77 main.work {a.c:3} (a.c:7);demangled(int) (a.c:7) 3\n";

	bytes.len = 0;
	nstrings = 0;
	type(1, 2);
	type(3, 4);
	labelled(3, VALUES(3, 30000000), NO_LABEL, NO_LABEL);
	labelled(1, VALUES(3, 30000000), label(12, 0, 77), NO_LABEL);
	location(1, 0x1000, 1, 2, 7);
	location(2, 0x2000, 0, 0, 0);
	location(3, 0, 3, 0, 9);
	function(1, 5, 6, 7, 0);
	function(2, 8, 8, 7, 3);
	function(3, 9, 9, 10, 0);
	period(10000000, 4);
	string("");
	for (const char *word; (word = strsep(&at, " "));)
		string(word);
	is(both, "any order, inlined calls, code without a name, labels");
	tap__ok(scene.result.format == READ_PPROF && scene.result.interval_ns == 10000000 &&
			scene.about.freq == 100,
		"its period");
	scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){.gzip = true, .piece = 3});
	tap__is(scene.text.data, both, "compressed, in pieces");
}

/* A value of time, none of samples. */
TEST(time)
{
	begin("cpu nanoseconds", "f");
	period(10000000, 2);
	SAMPLE(35000000);
	SAMPLE(-35000000);
	SAMPLE(5);
	labelled(1, NULL, 0, NO_LABEL, NO_LABEL);
	is("f 3\n", "time is counted by its period");
	tap__ok(scene.result.bad == 2 && scene.result.first == 2, "what cannot be is left out");
	begin("cpu milliseconds", "f");
	period(2500000, string("nanoseconds"));
	for (int i = 0; i < 6; i++)
		SAMPLE(1);
	SAMPLE(4);
	is("f 1\nf 1\nf 2\n", "a part of a period counts with the next sample");
}

/* Files of spans in any order, also one in a gap between others: how much of the time they cover.
 */
TEST(duration)
{
	const int64_t unit = 60000000000;
	struct read_types types = {0};
	uint32_t random = 1;

	for (int round = 0; round < 30; round++) {
		bool covered[64] = {false};
		uint64_t units = 0, got;

		types = (struct read_types){0};
		for (int file = 0; file < 12; file++) {
			int at, len;

			random = random * 1664525u + 1013904223u;
			at = (int)(random >> 8) % 58;
			len = 1 + (int)(random >> 20) % 6;
			begin("samples count", "f");
			add(&(const Pprof__Profile)MESSAGE(profile, .time_nanos = (1 + at) * unit,
							   .duration_nanos = len * unit));
			SAMPLE(1);
			scene__read_bytes(bytes.data, bytes.len,
					  &(struct scene_how){.types = &types});
			for (int i = at; i < at + len; i++)
				covered[i] = true;
		}
		for (size_t i = 0; i < COUNT(covered); i++)
			units += covered[i];
		got = types.made.duration_ns / (uint64_t)unit;
		if (round == 29 || got != units) {
			tap__ok(got == units, "spans of %" PRIu64 " min together: %" PRIu64, units,
				got);
			break;
		}
	}
}

static bool type_is(const struct read_types *t, uint32_t i, const char *name,
		    enum profile_unit unit)
{
	const struct profile_type of = about__type(&t->about, i);

	return of.name && !strcmp(of.name, name) && of.unit == unit;
}

/* As ours are: a count of all samples, and each has a value of one type beside it. */
TEST(types_ours)
{
	struct read_types types = {0};
	int64_t state, syscall;

	begin("samples count wall nanoseconds off_cpu nanoseconds alloc_space bytes "
	      "page-faults count",
	      "f");
	period(10000000, 4);
	SAMPLE(3, 30000000, 0, 0, 0);
	SAMPLE(2, 0, 45000000, 0, 0);
	SAMPLE(1, 0, 0, 4096, 0);
	SAMPLE(9, 0, 0, 0, 9);
	becomes("f 3\nf 45000000 type 1 sleeping\nf 4096 type 2\nf 9 type 3\n", &types,
		"each value is of its type");
	tap__ok(type_is(&types, 0, "wall", PROFILE_TICKS) &&
			type_is(&types, PROFILE_TYPE_OFF_CPU, "off_cpu", PROFILE_NANOSECONDS) &&
			type_is(&types, PROFILE_TYPE_ALLOC, "alloc_space", PROFILE_BYTES) &&
			type_is(&types, PROFILE_TYPE_EVENTS, "page-faults", PROFILE_COUNT) &&
			!about__type(&types.about, 4).name && types.about.interval_ns == 10000000,
		"by name and unit");
	tap__ok(scene.result.samples == 15 && scene.result.values[0] == 3 &&
			scene.result.values[1] == 45000000 && scene.result.values[2] == 4096 &&
			scene.result.values[3] == 9,
		"what they add up to");

	/* what a wait was, which is nothing about the process */
	begin("samples count off_cpu nanoseconds", "f");
	state = string("state");
	syscall = string("syscall");
	labelled(1, VALUES(2, 45000000), label(state, string("disk"), 0),
		 label(syscall, string("read"), 0));
	labelled(1, VALUES(2, 45000000), label(state, string("preempted"), 0),
		 label(syscall, string("no_such_call"), 0));
	labelled(1, VALUES(3, 30000000), label(state, string("disk"), 0),
		 label(string("process"), string("R"), 0));
	types = (struct read_types){0};
	becomes("f 45000000 type 1 disk in 6\nf 45000000 type 1 preempted\n"
		"f 30000000 type 1 disk\n",
		&types, "why a thread waited, and in what");
	tap__ok(types.about.no_ticks, "where all waited there are no ticks");
}

/* As Go's heap profiles are. */
TEST(types_of_others)
{
	struct read_types types = {0};
	int64_t values[20] = {1, 1, 1, 1, 1, 1};

	begin("alloc_objects count alloc_space bytes inuse_objects count inuse_space bytes",
	      "main.f");
	period(524288, 4);
	SAMPLE(5, 5120, 2, 2048);
	SAMPLE(5, 5120, -2, 0);
	SAMPLE(5, 5120, 2);
	becomes("main.f 5120 type 2\nmain.f 5 type 3\nmain.f 2 type 4\nmain.f 2048 type 5\n",
		&types, "all values of a sample");
	tap__ok(types.about.no_ticks && type_is(&types, 3, "alloc_objects", PROFILE_COUNT) &&
			type_is(&types, 4, "inuse_objects", PROFILE_COUNT) &&
			type_is(&types, 5, "inuse_space", PROFILE_BYTES) &&
			!scene.result.interval_ns,
		"their types");
	tap__ok(scene.result.bad == 2, "what is below zero, or is missing, is left out");

	/* another file: the same types, in another order, and one that is new */
	begin("inuse_space bytes", "main.f");
	type(string("a b\x1b[0m"), string("microseconds"));
	SAMPLE(5, 5120);
	becomes("main.f 5 type 5\nmain.f 5120000 type 6\n", &types,
		"a type has one number in all files");
	tap__ok(type_is(&types, 6, "a_b_[0m", PROFILE_NANOSECONDS), "their names are harmless: %s",
		types.names[6]);

	for (int wide = 0; wide < 2; wide++) {
		char name[READ_TYPE_LEN * 2];

		begin("", "main.f");
		for (int i = 0; i < 20; i++) {
			snprintf(name, sizeof(name), "e%0*d", wide ? (int)sizeof(name) - 2 : 1, i);
			type(string(name), string("count"));
		}
		labelled(1, values, 20, NO_LABEL, NO_LABEL);
		types = (struct read_types){0};
		scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){.types = &types});
		tap__bail_if(scene.err, "%s", scene.fault.text);
		if (!wide)
			tap__ok(type_is(&types, PROFILE_TYPES_MAX - 1, "e4", PROFILE_COUNT) &&
					scene.result.types_left == 15,
				"more than there is room for are left out, and counted: %" PRIu64,
				scene.result.types_left);
		else
			tap__ok(strlen(types.names[3]) == READ_TYPE_LEN - 1 &&
					type_is(&types, 3, types.names[3], PROFILE_COUNT) &&
					!strcmp(scene.text.data, "main.f 6 type 3\n"),
				"names that are too long are cut, and are then one");
	}
}

/* What the writer puts around names, and functions that are called as marks are. */
TEST(labels)
{
	/* a label, the name in the system, and what is read */
	static const char *const all[][3] = {
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
	for (size_t i = 0; i < COUNT(all); i++) {
		begin("samples count", NULL);
		function(1, string(all[i][0]), string(all[i][1]), string("b.R"), 4);
		location(1, 0, 1, 0, 0);
		SAMPLE(1);
		is(all[i][2], all[i][0]);
	}
}

TEST(damaged)
{
	const struct scene_how usual = {0}, small = {.memory = 8 << 20};
	size_t whole, stopped = 0;

	begin("samples count", NULL);
	function(1, string("f"), 99, -1, 0);
	location(1, 0, 1, 0, 0);
	location(0, 0, 1, 0, 0);
	SAMPLE(1);
	whole = bytes.len;
	is("f 1\n", "strings that are not there are empty");
	labelled(2, VALUES(1), NO_LABEL, NO_LABEL);
	scene__refused(scene__read_bytes(bytes.data, bytes.len, &usual),
		       "location that does not exist", "a location that does not exist");
	for (size_t cut = 1; cut < whole; cut++)
		stopped +=
			scene__read_bytes(bytes.data, whole - cut, &usual) < 0 && *scene.fault.text;
	tap__ok(stopped > whole / 2, "cut anywhere: %zu of %zu are errors, none a crash", stopped,
		whole);
	bytes.len = 0;
	string("");
	scene__refused(scene__read_bytes(bytes.data, bytes.len, &usual), "",
		       "a profile of nothing");
	for (int i = 0; i < 3 << 20; i++)
		buf__add(&bytes, "\x32\0", 2);
	scene__refused(scene__read_bytes(bytes.data, bytes.len, &small), "not fit into memory",
		       "more strings than there is room for");
}

TEST(names)
{
	begin("samples count", "f");
	labelled(1, VALUES(1),
		 label(string("process"), string("a\\x22\\x22\\x22\\x22bcdefghij"), 0), NO_LABEL);
	scene__read_bytes(bytes.data, bytes.len, &(struct scene_how){.named = true});
	tap__is(scene.text.data, "a\"\"\"\"bcdefghij/0 f 1\n",
		"the name of a process is not escaped any more");
}

/* Stacks are freed while a file is read.  A location makes its frame again then. */
TEST(freed)
{
	enum { FUNCTIONS = 2000, BETWEEN = 64 };
	static struct buf wanted;
	char name[1024];
	int err;

	begin("samples count", NULL);
	for (uint64_t i = 1; i <= FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "f%01000" PRIu64, i);
		function(i, string(name), 0, 0, 0);
		location(i, 0, i, 0, 0);
		ids[0] = i;
		SAMPLE(1);
		ids[0] = 1;
		buf__printf(&wanted, "%s 1\n", name);
		if (i % BETWEEN)
			continue;
		SAMPLE(1);
		buf__printf(&wanted, "f%01000d 1\n", 1);
	}
	err = scene__read_bytes(bytes.data, bytes.len,
				&(struct scene_how){.ordered = true, .memory = 8 << 20});
	tap__ok(!err && !strcmp(scene.text.data, wanted.data),
		"more names than fit: those that come again are read again");
}

TEST(crowd)
{
	enum { PROCESSES = 20000 };
	static char container[40 << 10];
	struct scene_how how[2] = {{.memory = 4 << 20}, {.memory = 4 << 20}};
	unsigned int told = 0, untold = 0, lengths = 0;
	const char *files[2];
	uint64_t nameless = 0;
	size_t sizes[2];
	int64_t pid;

	begin("samples count", "f");
	pid = string("pid");
	for (int i = 1; i <= PROCESSES; i++)
		labelled(1, VALUES(2), label(pid, 0, i), NO_LABEL);
	scene__read_bytes(bytes.data, bytes.len, how);
	for (const char *at = scene.text.data; *at; at = strchr(at, '\n') + 1)
		nameless += *at == 'f' ? 2 : 0;
	tap__ok(!scene.err && scene.ticks == 2 * PROCESSES && nameless && nameless < scene.ticks &&
			scene.result.crowded == nameless,
		"not all processes fit: %" PRIu64 " samples are counted", nameless);

	/* from some length on the process' key fits, and its description does not */
	for (size_t len = 1 << 10; len < sizeof(container); len += 1 << 10) {
		memset(container, 0, sizeof(container));
		memset(container, 'c', len);
		begin("samples count", "f");
		labelled(1, VALUES(2), label(string("process"), string("R"), 0),
			 label(string("container"), string(container), 0));
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
		"a process is described completely or not at all: %u are, %u are not", told,
		untold);
}
