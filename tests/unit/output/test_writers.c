/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The writers: what they write for given samples, byte for byte. */
#include "aggregate_maker.h"
#include "base/clock.h"
#include "base/limits.h"
#include "layout.h"
#include "output/writer.h"

static const struct profile_process process = {.serial = 1, .pid = 4711, .comm = "R"};

static struct output *out;
static struct buf text; /* what was written */
static struct writer *writer;
static struct aggregate *aggregate; /* for a format that takes profiles; NULL: none */
static const struct writer_ops *ops;

static void start(const char *format, struct writer_config config)
{
	if (!config.about.freq)
		config.about.freq = 99;
	ops = formats__find(format);
	tap__bail_if(!ops, "no format %s", format);
	aggregate = ops->row ? AGGREGATE(.max = 64 << 20) : NULL;
	text.len = 0;
	tap__bail_if(output__memory(&out, &text, 0) || ops->open(&writer, out, &config),
		     "cannot open writer %s", ops->name);
}

static void put(const struct sample *s)
{
	int err = aggregate ? aggregate__add(aggregate, &process, s)
			    : ops->sample(writer, &process, s);

	if (err)
		tap__bail("%s: a sample failed: %s", ops->name, strerror(-err));
}

static int profile(void)
{
	const struct aggregate_row *rows;
	size_t n = 0;
	int err = 0;

	if (!aggregate)
		return 0;
	rows = aggregate__rows(aggregate, &n);
	for (size_t i = 0; i < n && !err; i++)
		err = ops->row(writer, aggregate, &rows[i]);
	aggregate__clear(aggregate);
	return err;
}

static void end(void)
{
	tap__bail_if(profile() || ops->close(writer) || output__close(out, NULL),
		     "%s: close failed", ops->name);
	aggregate__free(aggregate);
}

static const char *contents(void)
{
	buf__add(&text, "", 1);
	text.len--;
	return text.data;
}

/* What is written is a part of the golden file. */
static void written(const char *what)
{
	end();
	tap__say("%s, %s:\n%s\n", ops->name, what, contents());
}

static void writes(const char *format, struct writer_config config, const char *what,
		   const struct sample *const *samples, size_t n)
{
	start(format, config);
	for (size_t i = 0; i < n; i++)
		put(samples[i]);
	written(what);
}

#define SAMPLES(...)                                                                               \
	(const struct sample *const[]){__VA_ARGS__},                                               \
		COUNT(((const struct sample *const[]){__VA_ARGS__}))
#define USUAL ((struct writer_config){0})

#define F(...)	 stack__frame(FRAME_R, __VA_ARGS__)
#define FN(name) F(name, NULL, 0)
#define FRAMES(file, line, ...)                                                                    \
	stack__of(sizeof((const struct frame *[]){__VA_ARGS__}) / sizeof(void *),                  \
		  (const struct frame *[]){__VA_ARGS__}, file, line)
#define ONE(of) ((struct sample){.weight = 1, .stack = of})

static struct sample plain, three, top, top_gc, top_line, gc, cut, other, lined, lined_cut, hostile;

static void make_samples(void)
{
	static const char a_r[] = "a.R", b_r[] = "lib/b c.R";
	struct frame truncated = mark_truncated;

	truncated.place = stack__place(a_r, 20);
	plain = ONE(FRAMES(NULL, 0, FN("g"), FN("f")));
	three = ONE(FRAMES(NULL, 0, FN("f")));
	three.weight = 3;
	top = ONE(stack__of(0, NULL, NULL, 0));
	top_gc = ONE(FRAMES(NULL, 0, &mark_gc));
	top_line = ONE(stack__of(0, NULL, a_r, 3));
	gc = ONE(FRAMES(NULL, 0, &mark_gc, FN("g"), FN("f")));
	cut = ONE(FRAMES(NULL, 0, FN("g"), FN("f"), &mark_truncated));
	other = ONE(FRAMES(NULL, 0, &mark_other_thread));
	lined = ONE(FRAMES(a_r, 20, &mark_gc, F("h", b_r, 7), F("lapply", b_r, 12), FN("f")));
	lined_cut =
		ONE(FRAMES(NULL, 0, F("f", a_r, 2), stacks__frame(maker__stacks(), &truncated)));
	hostile = ONE(FRAMES(NULL, 0, FN("a\nb\"c\\n;\x1b"), FN("x[[\"k\"]]"), FN("\xe4;")));
}

static const struct sample *const all[] = {&plain, &three,   &gc,    &cut,	 &other, &lined,
					   &plain, &hostile, &lined, &lined_cut, &three, &top_gc};

BEFORE()
{
	make_samples();
}

TEST(rprof)
{
	writes("rprof", USUAL, "plain", SAMPLES(&plain, &three, &top, &gc, &lined, &cut, &other));
	writes("rprof", (struct writer_config){.about.freq = 50, .capture = XR_ROW_GC},
	       "with GC marks", SAMPLES(&gc, &plain, &top_gc));
	writes("rprof",
	       (struct writer_config){.about.freq = 999, .capture = XR_ROW_GC | XR_ROW_LINES},
	       "with lines", SAMPLES(&plain, &lined, &lined_cut, &top_line, &top));
	start("rprof", (struct writer_config){.about.freq = 1, .capture = XR_ROW_LINES});
	written("no sample: the header alone");
	writes("rprof", (struct writer_config){.about.freq = 4000000},
	       "hostile names stay in their line and quotes", SAMPLES(&hostile));
	tap__golden("writers.out");
}

TEST(folded)
{
	writes("folded", USUAL, "plain, equal stacks added up",
	       SAMPLES(&plain, &three, &top, &plain, &plain, &lined, &cut, &other));
	writes("folded", (struct writer_config){.capture = XR_ROW_GC | XR_ROW_LINES},
	       "with lines and GC marks", SAMPLES(&gc, &lined, &lined_cut, &top_line, &top_gc));
	writes("folded", (struct writer_config){.roots = true}, "the process as the root",
	       SAMPLES(&plain, &top, &cut));
	writes("folded", USUAL, "hostile names stay in their line and frame", SAMPLES(&hostile));

	start("folded", USUAL);
	put(&plain);
	profile();
	tap__is(contents(), "f;g 1\n", "folded: one profile after another");
	put(&plain);
	put(&plain);
	written("and counts begin at 0 again");
	tap__golden("writers.folded");
}

/* Names as long as they may be, and 32,768 of them: a line is bounded, and says where it is cut. */
TEST(long)
{
	static const char *const formats[] = {"rprof", "folded"};
	static const struct frame *frames[XR_CONTEXTS_MAX];
	static char evil[XR_NAME_MAX];
	struct sample s = {.weight = 1};
	uint64_t cut = 0;

	memset(evil, '\x01', sizeof(evil) - 1);
	frames[0] = FN(evil);
	for (uint32_t i = 1; i < XR_CONTEXTS_MAX; i++)
		frames[i] = frames[0];
	tap__ok(frames[0]->function->cut && frames[0]->function->safe_len <= LIMIT_NAME &&
			frames[0]->function->safe_len > LIMIT_NAME - 8,
		"%zu control characters are shown as %u bytes", strlen(evil),
		frames[0]->function->safe_len);
	s.stack = stack__of(XR_CONTEXTS_MAX, frames, NULL, 0);
	for (int i = 0; i < 2; i++) {
		cut = 0;
		start(formats[i], (struct writer_config){.cut = &cut});
		put(&s);
		put(&s);
		end();
		tap__ok(cut == 2 && text.len < (i ? 1 : 2) * (LIMIT_LINE + 1024) &&
				text.len > LIMIT_LINE - LIMIT_NAME - 1024,
			"%s: two such samples are %zu bytes, and counted as cut", formats[i],
			text.len);
		tap__ok(i ? !strncmp(text.data, "<truncated>;\\x01", 16)
			  : !memcmp(text.data + text.len - 16, " \"<truncated>\" \n", 16),
			"%s: a mark stands for the outer frames", formats[i]);
	}
}

/* No program of R has such a function; what pretends to be R may. */
TEST(nameless)
{
	struct sample s = {.weight = 1, .stack = stack__one("")};

	writes("rprof", USUAL, "a function without a name is a frame", SAMPLES(&s));
	writes("folded", USUAL, "a function without a name is a frame", SAMPLES(&s));
	tap__golden("writers_nameless.txt");
}

/* R's own name of what several texts are called, in its line. */
TEST(code_name)
{
	const struct frame *f = F("f", "<a\nb>#2", 3);
	struct sample s = {.weight = 1, .stack = stack__of(1, &f, NULL, 0)};

	start("rprof", (struct writer_config){.about.freq = 1, .capture = XR_ROW_LINES});
	put(&s);
	end();
	tap__is(contents(),
		"line profiling: sample.interval=1000000\n#File 1: <a\\nb>\n1#3 \"f\" \n",
		"the name of a text is escaped");
}

/* Functions whose names are reserved, and those that are only written like them. */
TEST(disguised)
{
	static const char *const names[] = {"<GC>", "<truncated>", "<toplevel>",	 "<0x12>",
					    "<-",   "<",	   "<reactive:plotObj>", "<0xyz>",
					    "<gc>"};
	const struct frame *frames[11];
	struct sample s = {.weight = 1};

	for (int i = 0; i < 9; i++)
		frames[i] = FN(names[i]);
	frames[9] = stack__frame(FRAME_ANON, "<Anonymous>", NULL, 0);
	frames[10] = stack__frame(FRAME_UNNAMED, "<0x12>", NULL, 0);
	s.stack = stack__of(11, frames, NULL, 0);
	writes("rprof", USUAL, "reserved names are escaped, and no others", SAMPLES(&s));
	writes("folded", USUAL, "reserved names are escaped, and no others", SAMPLES(&s));
	tap__golden("writers_disguised.txt");
}

/* What a frame is called in formats with packages, by what is known of its function. */
TEST(labels)
{
	static const struct {
		enum frame_kind kind;
		const char *function, *package, *file, *want;
	} rows[] = {
		{FRAME_R, "lm", "stats", NULL, "stats::lm"},
		{FRAME_R, "lm", "stats", "lm.R", "stats::lm"},
		{FRAME_R, "f", ".GlobalEnv", "a.R", "f"},
		{FRAME_R, "f", "package:datasets", "a.R", "f"},
		{FRAME_R, "f", "", "a.R", "f"},
		{FRAME_R, "f", NULL, "a.R", "f"},
		{FRAME_R, "stats::lm", "stats", NULL, "stats::lm"},
		{FRAME_R, "stats:::lm.fit", "stats", NULL, "stats:::lm.fit"},
		{FRAME_R, "dplyr::tibble", "tibble", NULL, "dplyr::tibble"},
		{FRAME_R, "::", "base", NULL, "base::::"},
		{FRAME_R, "self$run", "R6pkg", NULL, "R6pkg::self$run"},
		{FRAME_R, "FUN", "base", NULL, "base::FUN"},
		{FRAME_R, "FUN", ".GlobalEnv", "a b.R", "FUN {a b.R:7}"},
		{FRAME_R, "FUN", "p", "a;\"\n.R", "p::FUN {a\\x3b\\x22\\n.R:7}"},
		{FRAME_ANON, "<Anonymous>", "stats", "a.R", "stats::<Anonymous> {a.R:7}"},
		{FRAME_ANON, "<Anonymous>", NULL, "a.R", "<Anonymous> {a.R:7}"},
		{FRAME_ANON, "<Anonymous>", NULL, NULL, "<Anonymous>"},
		{FRAME_R, "<Anonymous>", NULL, "a.R", "<Anonymous>"},
		{FRAME_R, "<reactive:plotObj>", "shiny", NULL, "shiny::<reactive:plotObj>"},
		{FRAME_NATIVE, "<GC>", NULL, NULL, "\\x3cGC>"},
		{FRAME_R, "<GC>", "p", NULL, "p::\\x3cGC>"},
		{FRAME_R, "f;g", "p;\x1b", NULL, "p\\x3b\\x1b::f\\x3bg"},
		{FRAME_UNNAMED, "<0x12>", "p", "a.R", "<0x12>"},
		{FRAME_BUILTIN, "c", "p", "a.R", "c"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct frame *frame = MADE(.kind = rows[i].kind, .function = rows[i].function,
						 .package = rows[i].package,
						 .defined = rows[i].file, .defined_line = 7);
		struct buf line = {0};

		tap__bail_if(frame__label(&line, frame, NAME_FIELD), "no memory");
		tap__ok(frame__label_size(frame, NAME_FIELD) >= line.len, "there is room for %zu",
			i);
		buf__add(&line, "", 1);
		tap__is(line.data, rows[i].want, "the label of %zu", i);
		buf__free(&line);
	}
}

static struct budget files = {.max = 1 << 20}; /* of lines that wait for their counts */

static void start_counts(uint32_t capture)
{
	start("rprof", (struct writer_config){.about.freq = 100,
					      .capture = capture | XR_ROW_MEMORY,
					      .files = &files});
}

/* A sample of process @serial, in f(); @nodes 0: it has no counts. */
static void put_count(uint32_t serial, uint64_t ms, uint64_t weight, uint64_t nodes, uint64_t dups)
{
	const struct profile_process of = {.serial = serial, .pid = serial, .comm = "R"};
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
	tap__bail_if(ops->sample(writer, &of, &s), "a sample failed");
}

/* What is written is a part of the golden file. */
static void counted(const char *what)
{
	end();
	tap__say("%s:\n%s\n", what, contents());
}

/* The counts of memory before the lines of Rprof.out. */
TEST(counts)
{
	start_counts(XR_ROW_GC | XR_ROW_LINES);
	put_count(1, 0, 1, 5600, 3);
	put_count(1, 10, 3, 5656, 2);
	put_count(1, 20, 1, 0, 0);
	counted("counts as R writes them; a sample of several lines; one that has none");
	tap__golden("memory_lines.out");
}

TEST(counts_early)
{
	start_counts(0);
	put_count(1, 0, 2, 0, 0);
	put_count(2, 5, 1, 112, 9);
	put_count(1, 10, 1, 0, 0);
	tap__is(contents(),
		"memory profiling: sample.interval=10000\n"
		":10:20:112:9:\"g\" \n",
		"what comes before the counts waits, another process does not");
	put_count(1, 20, 1, 56, 4);
	counted("what comes before the counts waits, another process does not, until these are "
		"known");
	start_counts(0);
	put_count(1, 10, 1, 0, 0);
	put_count(1, 9, 1, 0, 0); /* of another CPU */
	put_count(1, 20, 1, 56, 4);
	end();
	tap__is(contents(),
		"memory profiling: sample.interval=10000\n"
		":10:20:56:0:\"f\" \n:10:20:56:0:\"f\" \n:10:20:56:4:\"f\" \n",
		"one that is a little older than the first waits, too");
	start_counts(0);
	put_count(1, 0, 1, 0, 0);
	counted("or to the end");
	start_counts(XR_ROW_LINES);
	put_count(1, 0, 1, 0, 0);
	put_count(1, 30001, 1, 0, 0);
	put_count(1, 30002, 1, 56, 0);
	counted("or for half a minute; files are announced before");
	tap__golden("memory_early.out");
}

TEST(counts_room)
{
	size_t lines = 0, at = 0;

	start_counts(0);
	for (uint64_t i = 0; i < 8000; i++)
		put_count(1, 0, 1, 0, 0);
	while (at < text.len)
		lines += text.data[at++] == '\n';
	tap__ok(lines > 4000, "or until there are many: %u lines", (unsigned int)lines);
	end();
	tap__ok(!files.used, "all that was taken is given back");
	start_counts(0);
	files.used = files.max;
	put_count(1, 0, 1, 0, 0);
	files.used = 0;
	counted("where there is no room to wait nothing waits");
	tap__golden("memory_room.out");
}

/* samples RPROF FOLDED [lines]: one set of samples both ways, to compare stackcollapse-Rprof.R. */
PROGRAM(samples)
{
	const bool lines = argc > 3;

	if (argc < 3)
		return 2;
	make_samples();
	for (int i = 0; i < 2; i++) {
		start(i ? "folded" : "rprof",
		      (struct writer_config){.capture = XR_ROW_GC | (lines ? XR_ROW_LINES : 0)});
		for (size_t n = 0; n < COUNT(all); n++)
			put(all[n]);
		if (lines)
			put(&top_line);
		end();
		tap__write(argv[1 + i], text.data, text.len);
	}
	stack__free_all();
	return 0;
}
