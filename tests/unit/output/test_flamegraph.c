/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of format flamegraph. */
#include "abi.h"
#include "aggregate_maker.h"
#include "base/clock.h"
#include "base/version.h"
#include "clock.h"
#include "output/flamegraph.h"
#include "profile/sources.h"

static struct files *files;
static const char *path; /* of the page */

static struct source_texts texts; /* of the page that is written */

static struct writer_config config = {
	.about = {.freq = 999,
		  .engine = "bpf",
		  .clock = "cpu",
		  .event = "cpu-clock",
		  .command = "xrprof-bpf -p 4711 -f flamegraph",
		  .host = "</script><b>host",
		  .began = 1000000000,
		  .began_real = 1700000000000000000},
};

/* Have it written: @a in @format, or what is different from @before. */
static void write_as(const char *format, const struct aggregate *a, const struct aggregate *before)
{
	const struct stats stats = {.ticks = 10, .written = 10, .seconds = 60};
	const struct writer_ops *ops = formats__find(format);
	struct output *out;
	struct errmsg f;
	int err;

	config.sources = before ? NULL : &texts;
	tap__bail_if(!ops || (!files && files__start(&files, FILES_NONE, &f)),
		     "no files or no format %s", format);
	tap__bail_if(output__open(&out, &(struct output_config){.files = files, .path = path}, &f),
		     "%s", f.text);
	err = before ? flamegraph__diff(out, &config, before, a)
		     : ops->profile(out, &config, a, &stats);
	if (err || output__finish(out) || output__close(out, NULL))
		tap__bail("%s: %s", path, strerror(-err));
}

/* The page of @a, or of what is different from @before; until the next call. */
static char *page_text(const struct aggregate *a, const struct aggregate *before)
{
	const char *text;

	write_as("flamegraph", a, before);
	text = tap__read(path, NULL);
	tap__bail_if(!text || !*text, "no page in %s", path);
	return (char *)(uintptr_t)text;
}

/* Its data: from after the element's start to before its end. */
static const char *page_data(const struct aggregate *a, const struct aggregate *before)
{
	static const char start[] = "<script type=\"application/json\" id=\"profile\">\n";
	char *data = strstr(page_text(a, before), start), *end;

	tap__bail_if(!data, "no data in %s", path);
	data += strlen(start);
	end = strstr(data, "</script>");
	tap__bail_if(!end, "the data has no end");
	*end = '\0';
	return data;
}

/* The data is as in golden file @name, a member a line, without this program's version. */
static void page_is(const char *name, const struct aggregate *a, const struct aggregate *before)
{
	const char *data = page_data(a, before), *version = strstr(data, "\"" XR_VERSION "\"");

	for (; *data; data++) {
		if (data == version)
			data += strlen("\"" XR_VERSION "\"");
		tap__say(*data == ',' && data[1] == '"' ? ",\n" : "%c", *data);
	}
	tap__golden(name);
}

static struct aggregate *profile__new(void)
{
	return AGGREGATE(.timeline = true, .calls = true, .given = true);
}

static void has(const char *text, const char *what, const char *name)
{
	if (!tap__ok(strstr(text, what), "%s", name))
		tap__diag("no %s in %.2000s", what, text);
}

static const struct profile_process p = {.serial = 1,
					 .pid = 7,
					 .parent_pid = 1,
					 .comm = "R",
					 .r_version = "4.2.2",
					 .cpu_ns = 1500000000,
					 .elapsed_ns = 3000000000};
static const struct profile_process q = {.serial = 2, .pid = 8, .comm = "Rscript"};

/* f called g twice from different lines, and itself; two processes; 5 ticks. */
static struct aggregate *small(void)
{
	const struct frame *f = stack__frame(FRAME_R, "f", "a.R", 1);
	const struct frame *g = stack__frame(FRAME_R, "g", "a.R", 2);
	const struct frame *eval = stack__frame(FRAME_R, "eval", NULL, 0);
	const struct stack *fg = stack__of(2, (const struct frame *[]){g, f}, NULL, 0);
	const struct stack *feg = stack__of(3, (const struct frame *[]){g, eval, f}, NULL, 0);
	const struct stack *gc = stack__of(1, (const struct frame *[]){&mark_gc}, NULL, 0);
	const uint64_t time = 2000000000, later = time + 5 * TIMELINE_WIDTH;
	struct aggregate *a = profile__new();

	tap__bail_if(aggregate__know(a, &p) || aggregate__know(a, &q), "no memory");
	aggregate__put(a, &p, (struct sample){.weight = 1, .time = time, .stack = fg});
	aggregate__put(a, &q, (struct sample){.weight = 1, .time = time, .stack = fg});
	aggregate__put(a, &p, (struct sample){.weight = 1, .time = later, .stack = feg});
	aggregate__put(a, &p,
		       (struct sample){.weight = 1, .time = later, .stack = stack__named("")});
	aggregate__put(a, &p, (struct sample){.weight = 3, .time = later, .stack = gc});
	return a;
}

static size_t times(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text += strlen(what);
	}
	return n;
}

BEFORE()
{
	clock__run(CLOCK_SLOW);
	path = tap__path("page.html");
}

AFTER()
{
	files__stop(files);
}

TEST(small)
{
	struct aggregate *a = small();

	/* nodes in the order of hashes, the same in each run: <toplevel>, <GC> in it; f, in it g
	 * and eval, in that g */
	tap__ok(!strpbrk(page_data(a, NULL), "<>&"), "nothing in it is markup");
	page_is("page_small.json", a, NULL);
	config.about.began = 0;
	config.about.began_real = NS_PER_S;
	has(page_data(a, NULL), "\"time\":{\"begin\":1,",
	    "of files, too, the first sample may be late");
	aggregate__free(a);
}

static void show_types(void)
{
	config.about.types[PROFILE_TYPE_OFF_CPU] =
		(struct profile_type){"off_cpu", PROFILE_NANOSECONDS};
}

/* CPU time, and waiting in another function. */
static struct aggregate *typed(void)
{
	struct aggregate *a = small();
	const struct frame *f = stack__frame(FRAME_R, "f", "a.R", 1);
	const struct frame *sleeps = stack__frame(FRAME_R, "Sys.sleep", NULL, 0);

	aggregate__put(a, &p,
		       (struct sample){.type = PROFILE_TYPE_OFF_CPU,
				       .time = 2000000000 + 4 * TIMELINE_WIDTH,
				       .weight = 4 * TIMELINE_WIDTH,
				       .stack = stack__of(2, (const struct frame *[]){sleeps, f},
							  NULL, 0)});
	return a;
}

TEST(types)
{
	struct aggregate *a = typed();

	show_types();
	/* a wait is where it was, over the time it took */
	page_is("page_types.json", a, NULL);
	aggregate__free(a);
}

static void call_sample(struct aggregate *a, const struct profile_call *call, const char *name,
			uint64_t time, uint32_t type, uint64_t weight)
{
	struct profile_process p = {.serial = 1 + (call ? call->id % 2 : 0), .comm = "R"};
	struct sample s = {.type = type, .weight = weight, .time = time, .call = call};
	char names[32];

	p.pid = 100 + p.serial;
	snprintf(names, sizeof(names), "%s%s", name, call ? " serve" : "");
	s.stack = stack__named(names);
	aggregate__put(a, &p, s);
}

/*
 * @n calls of serve(), 100 ms after each other, in two processes in turn.  Each computes 10 ticks
 * in parse(); each tenth also waits for 300 ms in a call of query().  The first had begun before
 * the profile and the last still runs.  Between them 10 ticks are in no call.
 */
static struct aggregate *called(uint32_t n)
{
	struct aggregate *a = profile__new();

	for (uint32_t i = 0; i < n; i++) {
		const bool slow = i % 10 == 0;
		const uint64_t began = 2 * NS_PER_S + i * 100 * NS_PER_MS;
		struct profile_call call = {.id = i + 1, .name = "serve", .began = began};
		struct profile_call inner = {.id = n + i + 1, .outer = &call, .name = "<i>query"};

		call.request = slow ? "GET /<slow>" : "GET /fast";
		call.ended = i == n - 1 ? 0 : began + (slow ? 400 : 10) * NS_PER_MS + i * NS_PER_US;
		call.seen = began + 10 * NS_PER_MS;
		call.error = 5 * NS_PER_MS;
		call.cut = !i;
		inner.began = began + 50 * NS_PER_MS;
		inner.ended = began + 350 * NS_PER_MS;
		inner.id += i % 2 == inner.id % 2; /* in the same process */
		call_sample(a, &call, "parse", began, PROFILE_TYPE_TICKS, 10);
		if (slow)
			call_sample(a, &inner, "query", began, PROFILE_TYPE_OFF_CPU,
				    300 * NS_PER_MS);
	}
	call_sample(a, NULL, "idles", 2 * NS_PER_S, PROFILE_TYPE_TICKS, 10);
	return a;
}

TEST(calls)
{
	struct aggregate *a = called(3);

	show_types();
	page_is("page_calls.json", a, NULL);
	tap__ok(!strstr(page_data(a, a), "\"calls\""), "a difference of profiles has no calls");
	aggregate__free(a);
}

/*
 * The 7 ticks of small(); process 7 has 2 for route /a in a call, and process 8 has 3 for a hostile
 * route in another call.  @more routes /v0, /v1, ... have a tick more each than the next one.
 */
static struct aggregate *labelled(uint32_t more)
{
	static const struct profile_label first[] = {{"route", "/a"}, {"user", "u"}};
	static const struct profile_label second[] = {{"route", "</script><b>"}};
	const struct frame *f = stack__frame(FRAME_R, "f", "a.R", 1);
	struct profile_call call = {.id = 1, .name = "serve", .began = 2 * NS_PER_S};
	struct sample s = {.weight = 2, .time = 2000000000, .labels = first, .nlabels = 2};
	struct aggregate *a = small();

	call.ended = call.began + 100 * NS_PER_MS;
	s.call = &call;
	s.stack = stack__of(1, &f, NULL, 0);
	aggregate__put(a, &p, s);
	call.id = 2;
	s.weight = 3;
	s.labels = second;
	s.nlabels = 1;
	aggregate__put(a, &q, s);
	s.call = NULL;
	for (uint32_t i = 0; i < more; i++) {
		char name[16];
		const struct profile_label route = {"route", name};

		snprintf(name, sizeof(name), "/v%u", i);
		s.labels = &route;
		s.weight = 4 + more - i;
		aggregate__put(a, &p, s);
	}
	return a;
}

TEST(labels)
{
	struct aggregate *a = labelled(0);

	page_is("page_labels.json", a, NULL);
	aggregate__free(a);
}

TEST(page)
{
	struct aggregate *a = profile__new();
	const char *text = page_text(a, NULL);

	tap__ok(!strncmp(text, "<!doctype html>\n", 16), "a page begins like one");
	has(text, "default-src 'none'; script-src 'sha256-", "its policy lets nothing in or out");
	tap__ok(!strstr(text, "{{"), "all parts are in it");
	tap__ok(times(text, "<script") == 2 && times(text, "</script>") == 2,
		"it has its data and its script, no more");
	tap__ok(!strcmp(text + strlen(text) - 8, "</html>\n"), "and it ends");
	has(page_data(a, NULL), "\"nodes\":[],\"rows\":[],\"time\":null",
	    "a profile without samples");
	aggregate__free(a);
}

TEST(diff)
{
	struct aggregate *before = small(), *after = small();

	aggregate__put(after, &p,
		       (struct sample){.weight = 4, .time = 2000000000, .stack = stack__one("h")});
	page_is("page_diff.json", after, before);
	aggregate__free(before);
	aggregate__free(after);
}

static void source_put(const char *name, const char *text)
{
	tap__write(tap__path(name), text, strlen(text));
}

/* R knows of file @name that it is @text, or @path as it was changed last. */
static void source_known(const char *name, const char *text, const char *path)
{
	struct profile_source source = {.file = name, .text = text, .path = path};
	struct stat st;

	if (path && !stat(path, &st))
		source.time = (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec;
	tap__bail_if(source_texts__add(&texts, 1, &source), "no memory");
}

/* A sample in a function of @file. */
static void source_sample(struct aggregate *a, const struct profile_process *p, const char *file)
{
	const struct frame *frame = stack__frame(FRAME_R, "f", file, 1);

	aggregate__put(
		a, p,
		(struct sample){.weight = 1, .time = 5, .stack = stack__of(1, &frame, NULL, 0)});
}

TEST(sources)
{
	const char *absolute = tap__path("here.R");
	const char *const names[] = {"here.R", "key.pem", "zero.R", "none.R", "evil.Rmd", absolute};
	struct profile_process p = {.serial = 1,
				    .pid = 7,
				    .comm = "R",
				    .directory = tap__folder(),
				    .uid = (uint32_t)getuid()};
	struct aggregate *a = profile__new();
	const char *data;

	source_put("here.R", "f <- function() \"<here>\"\n");
	source_put("key.pem", "a key");
	source_put("evil.Rmd", "</script><script>alert(1)</script>");
	tap__write(tap__path("zero.R"), "a", 2);
	for (size_t i = 0; i < COUNT(names); i++) {
		source_sample(a, &p, names[i]);
		source_known(names[i], NULL, *names[i] == '/' ? names[i] : tap__path(names[i]));
	}
	data = strstr(page_data(a, NULL), "\"sources\"");
	tap__ok(times(data, "f \\u003c- function() \\\"\\u003chere\\u003e\\\"") == 2,
		"a source is in the page, under both of its names");
	has(data, "\\u003c/script\\u003e\\u003cscript\\u003ealert(1)", "a hostile one is harmless");
	tap__ok(!strstr(data, "a key"), "what is not called like a source is not read");
	tap__ok(times(data, "\"text\":") == 3 && times(data, "\"why\":") == 3,
		"nor is what has a zero byte, or is not there");
	tap__ok(texts.without == 3 && strstr(texts.why, "no source of ") &&
			strstr(texts.why, "; nor of 2 more"),
		"what is not is noted: %s", texts.why);
	source_put("here.R", "# edited\n");
	data = strstr(page_data(a, NULL), "\"sources\"");
	tap__ok(!strstr(data, "# edited") &&
			times(data, "the file was changed after R had read it") == 2,
		"a file that was edited since R read it is not shown, and why");
	source_texts__free(&texts);
	tap__ok(times(page_data(a, NULL), "\"why\":\"the process ended before") == 6,
		"files of which nothing is known are not read");
	source_known("key.pem", "of R", NULL);
	source_known("none.R", "one", NULL);
	source_known("none.R", "another", NULL);
	data = strstr(page_data(a, NULL), "\"sources\"");
	tap__ok(times(data, "\"text\":\"of R\"") == 1 && times(data, "R parsed several texts") == 1,
		"lines that R keeps are shown, whatever their name is, if they are one text");
	source_texts__free(&texts);
	source_known(absolute, NULL, absolute);
	aggregate__free(a);

	a = profile__new();
	p.directory = NULL;
	source_sample(a, &p, absolute);
	has(page_data(a, NULL), "or R sees other files",
	    "nothing is read for a process that sees other files");
	source_texts__free(&texts);
	aggregate__free(a);
}

static uint64_t profile__chance(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static const struct frame *profile__function(const char *package, const char *name, uint32_t line)
{
	return MADE(.function = name, .package = package, .file = "R/model.R", .line = line);
}

/* @stacks different stacks, of 8 to 40 frames, in @processes processes, over a minute. */
static struct aggregate *profile__many(uint32_t stacks, uint32_t processes)
{
	static const char *const packages[] = {"base",	"stats",      "utils",	 "data.table",
					       "dplyr", ".GlobalEnv", "ggplot2", "shiny"};
	static const char *const wrappers[] = {"tryCatch", "lapply", "eval", "withCallingHandlers"};
	const struct frame *frames[64];
	struct aggregate *a = profile__new();
	uint64_t chance = 42;
	char name[64], comm[16];

	for (uint32_t i = 0; i < stacks; i++) {
		uint32_t n = 8 + (uint32_t)(profile__chance(&chance) % 33), at = i;
		struct profile_process p = {.serial = 1 + i % processes};
		struct sample s = {.weight = 1};

		/* outermost first: the further out, the fewer there are to choose from */
		for (uint32_t level = 0; level < n; level++) {
			uint32_t which = level < 3 ? 0 : level < 20 ? at % 5 : at % 40;
			const char *package = packages[(which + level) % 8];
			bool wraps = level % 5 == 4;

			snprintf(name, sizeof(name), "%s%u_%u", "step", level, which);
			frames[n - 1 - level] = profile__function(
				wraps ? "base" : package, wraps ? wrappers[level % 4] : name,
				1 + (which * 7 + level) % 300);
			at = level < 3 ? at : at / 3 + (uint32_t)profile__chance(&chance) % 2;
		}
		snprintf(name, sizeof(name), "leaf%u", i % 997);
		frames[0] = profile__function(packages[i % 8], name, 1 + i / 997);
		p.pid = 1000 + p.serial;
		snprintf(comm, sizeof(comm), "worker%u", p.serial);
		p.comm = comm;
		p.r_version = "4.2.2";
		p.cpu_ns = p.serial == 3 ? 60000000 : 40000000000;
		p.elapsed_ns = 60000000000;
		s.stack = stack__of(n, frames, NULL, 0);
		s.time = 1000000000ull + i * (60000000000ull / stacks);
		aggregate__put(a, &p, s);
		if (i % 10 == 0)
			aggregate__put(a, &p, s);
	}
	return a;
}

/*
 * page KIND STACKS PROCESSES FILE [FORMAT]: one to look at, or the same profile in another format;
 * KIND: many, empty, diff, types, typediff, calls (STACKS of them), labels (with STACKS more
 * routes).
 */
PROGRAM(page)
{
	uint32_t stacks, processes;
	struct aggregate *before = NULL, *a;

	if (argc < 5)
		return 2;
	stacks = (uint32_t)atoi(argv[2]);
	processes = (uint32_t)atoi(argv[3]);
	path = argv[4];
	if (strstr(argv[1], "type") || !strcmp(argv[1], "calls"))
		show_types();
	if (!strcmp(argv[1], "empty"))
		a = profile__new();
	else if (!strcmp(argv[1], "calls"))
		a = called(stacks);
	else if (!strcmp(argv[1], "labels"))
		a = labelled(stacks);
	else if (strstr(argv[1], "type"))
		a = typed();
	else
		a = profile__many(stacks, processes);
	if (!strcmp(argv[1], "diff"))
		before = profile__many(stacks / 2, processes);
	if (!strcmp(argv[1], "typediff"))
		before = typed();
	write_as(argv[5] ? argv[5] : "flamegraph", a, before);
	aggregate__free(a);
	aggregate__free(before);
	files__stop(files);
	stack__free_all();
	return 0;
}
