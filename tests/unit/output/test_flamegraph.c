/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of format flamegraph. */
#include "base/clock.h"
#include "output/flamegraph.h"
#include "profile/sources.h"
#include "page_profiles.h"

static struct files *files;

static const struct writer_config config = {
	.about = {.freq = 999,
		  .engine = "bpf",
		  .clock = "cpu",
		  .event = "cpu-clock",
		  .command = "xrprof-bpf -p 4711 -f flamegraph",
		  .host = "</script><b>host",
		  .began = 1000000000,
		  .began_real = 1700000000000000000},
};

static const struct writer_config *shown = &config;

/* Have one or the other written to @path. */
static struct source_texts texts; /* of the page that is written */

static void write_page(const char *path, const char *format, const struct aggregate *a,
		       const struct aggregate *before)
{
	const struct stats stats = {.ticks = 10, .written = 10, .seconds = 60};
	const struct writer_ops *ops = format ? formats__find(format) : NULL;
	struct writer_config config = *shown;
	struct output *out;
	struct errmsg f;
	int err;

	config.sources = &texts;
	tap__bail_if((!before && !ops) || (!files && files__start(&files, FILES_NONE, &f)),
		     "no files or no format %s", format);
	tap__bail_if(output__open(&out, &(struct output_config){.files = files, .path = path}, &f),
		     "%s", f.text);
	if (before) {
		err = flamegraph__diff(out, shown, before, a);
	} else {
		err = ops->profile(out, &config, a, &stats);
	}
	if (err || output__finish(out) || output__close(out, NULL))
		tap__bail("%s: %s", path, strerror(-err));
}

static struct aggregate *typed(void);
static struct aggregate *called(uint32_t n);
static struct aggregate *labelled(void);
static const struct writer_config *config_of_types(void);

/*
 * page KIND STACKS PROCESSES FILE [FORMAT]: one to look at, or the same profile in another format;
 * KIND: many, empty, diff, types, typediff, calls (STACKS of them), labels.
 */
PROGRAM(page)
{
	uint32_t stacks, processes;
	struct aggregate *before = NULL, *a;

	if (argc < 5)
		return 2;
	stacks = (uint32_t)atoi(argv[2]);
	processes = (uint32_t)atoi(argv[3]);
	if (strstr(argv[1], "type") || !strcmp(argv[1], "calls"))
		shown = config_of_types();
	if (!strcmp(argv[1], "empty"))
		a = profile__new();
	else if (!strcmp(argv[1], "calls"))
		a = called(stacks);
	else if (!strcmp(argv[1], "labels"))
		a = labelled();
	else if (strstr(argv[1], "type"))
		a = typed();
	else
		a = profile__many(stacks, processes);
	if (!strcmp(argv[1], "diff"))
		before = profile__many(stacks / 2, processes);
	if (!strcmp(argv[1], "typediff"))
		before = typed();
	write_page(argv[4], argv[5] ? argv[5] : "flamegraph", a, before);
	aggregate__free(a);
	aggregate__free(before);
	files__stop(files);
	stack__free_all();
	return 0;
}

static const char *dir, *path;

/* The page at @path, whole; until the next call. */
static char *page_text(void)
{
	const char *text = tap__read(path, NULL);

	tap__bail_if(!text || !*text, "no page in %s", path);
	return (char *)(uintptr_t)text;
}

/* Its data: from after the element's start to before its end. */
static const char *page_data(void)
{
	static const char start[] = "<script type=\"application/json\" id=\"profile\">\n";
	char *data = strstr(page_text(), start), *end;

	tap__bail_if(!data, "no data in %s", path);
	data += strlen(start);
	end = strstr(data, "</script>");
	tap__bail_if(!end, "the data has no end");
	*end = '\0';
	return data;
}

static void has(const char *text, const char *what, const char *name)
{
	if (!tap__ok(strstr(text, what), "%s", name))
		tap__diag("no %s in %.2000s", what, text);
}

/* f called g twice from different lines, and itself; two processes; 5 ticks. */
static struct aggregate *small(void)
{
	struct profile_process p = {.serial = 1,
				    .pid = 7,
				    .parent_pid = 1,
				    .comm = "R",
				    .r_version = "4.2.2",
				    .cpu_ns = 1500000000,
				    .elapsed_ns = 3000000000};
	struct profile_process q = {.serial = 2, .pid = 8, .comm = "Rscript"};
	const struct frame *f = stack__frame(FRAME_R, "f", "a.R", 1);
	const struct frame *g = stack__frame(FRAME_R, "g", "a.R", 2);
	const struct frame *eval = stack__frame(FRAME_R, "eval", NULL, 0);
	const struct stack *fg = stack__of(2, (const struct frame *[]){g, f}, NULL, 0);
	const struct stack *feg = stack__of(3, (const struct frame *[]){g, eval, f}, NULL, 0);
	const struct stack *top = stack__of(0, NULL, NULL, 0);
	const struct stack *gc = stack__of(1, (const struct frame *[]){&mark_gc}, NULL, 0);
	struct aggregate *a = profile__new();
	struct sample s = {.weight = 1, .time = 2000000000, .stack = fg};
	int err = aggregate__know(a, &p) || aggregate__know(a, &q);

	err = err || aggregate__add(a, &p, &s) || aggregate__add(a, &q, &s);
	s.stack = feg;
	s.time += 5 * TIMELINE_WIDTH;
	err = err || aggregate__add(a, &p, &s);
	s.stack = top;
	err = err || aggregate__add(a, &p, &s);
	s.stack = gc;
	s.weight = 3;
	err = err || aggregate__add(a, &p, &s);
	tap__bail_if(err, "no memory for a sample");
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
	dir = tap__folder();
	path = tap__path("page.html");
}

AFTER()
{
	files__stop(files);
}

TEST(small)
{
	struct aggregate *a = small();
	const char *data;

	write_page(path, "flamegraph", a, NULL);
	data = page_data();
	has(data, "\"command\":\"xrprof-bpf -p 4711 -f flamegraph\"", "the command");
	has(data, "\"host\":\"\\u003c/script\\u003e\\u003cb\\u003ehost\"", "the host, harmless");
	has(data,
	    "\"freq\":999,\"types\":[{\"name\":\"cpu\",\"unit\":\"samples\"},{},{},{},{},{},{},{}],"
	    "\"began\":1700000000000,\"diff\":false",
	    "the rate, what there is, and the time");
	has(data, "\"counts\":{\"seconds\":60,\"processes\":0,\"ticks\":10,", "counts");
	has(data,
	    "{\"pid\":7,\"parent\":1,\"comm\":\"R\",\"r\":\"4.2.2\",\"container\":null,\"cpu\":1.5,"
	    "\"elapsed\":3,\"before\":false}",
	    "a process");
	/* in the order of hashes, the same in each run: <toplevel>, <GC> in it; f, in it g and
	 * eval, in that g */
	has(data, "\"nodes\":[0,1,0,2,2,3,0,4,1,5,0,4],", "the tree of calls");
	has(data, "\"rows\":[1,0,1,0,1,0,3,0,2,0,1,0,0,1,1,0,2,0,1,0],",
	    "rows, with their processes");
	has(data, "\"begin\":1,\"width\":0.001048576,\"entries\":[0,2,1,0,3,1,5,4,1,0,0,1,0,1,3]",
	    "time, by sorted rows");
	tap__ok(times(data, "\"strings\":[\"\",\"\\u003ctoplevel\\u003e\"") == 1, "strings");
	has(data, "\"sources\":[{\"file\":4,\"why\":", "no source of unknown processes");
	tap__ok(!strpbrk(data, "<>&"), "nothing in it is markup");
	aggregate__free(a);
}

static const struct writer_config *config_of_types(void)
{
	static struct writer_config two;

	two = config;
	two.about.types[PROFILE_TYPE_OFF_CPU] =
		(struct profile_type){"off_cpu", PROFILE_NANOSECONDS};
	return &two;
}

/* CPU time, and waiting in another function. */
static struct aggregate *typed(void)
{
	struct aggregate *a = small();
	struct profile_process p = {.serial = 1, .pid = 7, .comm = "R"};
	const struct frame *f = stack__frame(FRAME_R, "f", "a.R", 1);
	const struct frame *sleeps = stack__frame(FRAME_R, "Sys.sleep", NULL, 0);
	struct sample s = {.type = PROFILE_TYPE_OFF_CPU, .time = 2000000000 + 4 * TIMELINE_WIDTH};

	s.weight = 4 * TIMELINE_WIDTH;
	s.stack = stack__of(2, (const struct frame *[]){sleeps, f}, NULL, 0);
	tap__bail_if(aggregate__add(a, &p, &s), "no memory for a sample");
	return a;
}

TEST(types)
{
	struct aggregate *a = typed();
	const char *data;

	shown = config_of_types();
	write_page(path, "flamegraph", a, NULL);
	shown = &config;
	data = page_data();
	has(data,
	    "\"types\":[{\"name\":\"cpu\",\"unit\":\"samples\"},{\"name\":\"off_cpu\",\"unit\":"
	    "\"ns\"},{},",
	    "two types");
	has(data, ",0,4194304,1", "a row is of one of them");
	tap__ok(times(data, ",1048576") == 4, "a wait is where it was, over the time it took");
	aggregate__free(a);
}

static void call_sample(struct aggregate *a, const struct profile_call *call, const char *name,
			uint64_t time, uint32_t type, uint64_t weight)
{
	const struct frame *serve = stack__frame(FRAME_R, "serve", NULL, 0);
	const struct frame *frames[] = {stack__frame(FRAME_R, name, NULL, 0), serve};
	struct profile_process p = {.serial = 1 + (call ? call->id % 2 : 0), .comm = "R"};
	struct sample s = {.type = type, .weight = weight, .time = time, .call = call};

	p.pid = 100 + p.serial;
	s.stack = call ? stack__of(2, frames, NULL, 0) : stack__of(1, frames, NULL, 0);
	tap__bail_if(aggregate__know(a, &p) || aggregate__add(a, &p, &s), "no memory for a sample");
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
	const char *data;

	shown = config_of_types();
	write_page(path, "flamegraph", a, NULL);
	data = page_data();
	has(data,
	    "\"calls\":{\"list\":[1,2,1000000,400000,5000,2,0,3,0,1050000,300000,0,0,1,"
	    "1,4,1100000,10001,5000,0,0,1,4,1200000,10000,5000,1,0]",
	    "calls: when, how long, and which is in which");
	has(data, "\"texts\":[\"\",\"serve\",\"GET /\\u003cslow\\u003e\",\"\\u003ci\\u003equery\"",
	    "their names, harmless");
	has(data, "\"rows\":[1,", "rows");
	write_page(path, NULL, a, a);
	tap__ok(!strstr(page_data(), "\"calls\""), "a difference of profiles has no calls");
	shown = &config;
	aggregate__free(a);
}

/*
 * The 7 ticks of small(); process 7 has 2 for route /a in a call, and process 8 has 3 for a hostile
 * route in another call.
 */
static struct aggregate *labelled(void)
{
	static const struct profile_label first[] = {{"route", "/a"}, {"user", "u"}};
	static const struct profile_label second[] = {{"route", "</script><b>"}};
	const struct profile_process p = {.serial = 1, .pid = 7, .comm = "R"};
	const struct profile_process q = {.serial = 2, .pid = 8, .comm = "Rscript"};
	const struct frame *f = stack__frame(FRAME_R, "f", "a.R", 1);
	struct profile_call call = {.id = 1, .name = "serve", .began = 2 * NS_PER_S};
	struct sample s = {.weight = 2, .time = 2000000000, .labels = first, .nlabels = 2};
	struct aggregate *a = small();
	int err;

	call.ended = call.began + 100 * NS_PER_MS;
	s.call = &call;
	s.stack = stack__of(1, &f, NULL, 0);
	err = aggregate__add(a, &p, &s);
	call.id = 2;
	s.weight = 3;
	s.labels = second;
	s.nlabels = 1;
	err = err || aggregate__add(a, &q, &s);
	tap__bail_if(err, "no memory for a sample");
	return a;
}

TEST(labels)
{
	struct aggregate *a = labelled();
	const char *data;

	write_page(path, "flamegraph", a, NULL);
	data = page_data();
	has(data,
	    "\"labels\":{\"rows\":[0,0,1,2,0,0,0],\"sets\":[[[\"route\",\"/a\"],[\"user\",\"u\"]],"
	    "[[\"route\",\"\\u003c/script\\u003e\\u003cb\\u003e\"]]]}",
	    "the set of labels of each row, and the texts, harmless");
	aggregate__free(a);
	a = small();
	write_page(path, "flamegraph", a, NULL);
	tap__ok(!strstr(page_data(), "\"labels\""), "without labels nothing is written for them");
	aggregate__free(a);
}

TEST(page)
{
	struct aggregate *a = profile__new();
	const char *text;

	write_page(path, "flamegraph", a, NULL);
	text = page_text();
	tap__ok(!strncmp(text, "<!doctype html>\n", 16), "a page begins like one");
	has(text, "default-src 'none'; script-src 'sha256-", "its policy lets nothing in or out");
	tap__ok(!strstr(text, "{{"), "all parts are in it");
	tap__ok(times(text, "<script") == 2 && times(text, "</script>") == 2,
		"it has its data and its script, no more");
	tap__ok(!strcmp(text + strlen(text) - 8, "</html>\n"), "and it ends");
	has(page_data(), "\"nodes\":[],\"rows\":[],\"time\":null", "a profile without samples");
	aggregate__free(a);
}

TEST(diff)
{
	struct aggregate *before = small(), *after = small();
	struct profile_process p = {.serial = 1, .pid = 7, .comm = "R"};
	struct sample s = {.weight = 4, .time = 2000000000};
	const struct frame *h = stack__frame(FRAME_R, "h", NULL, 0);
	const char *data;

	s.stack = stack__of(1, &h, NULL, 0);
	tap__bail_if(aggregate__add(after, &p, &s), "no memory for a sample");
	write_page(path, NULL, after, before);
	data = page_data();
	has(data, "\"diff\":true", "the page of a difference is marked");
	has(data,
	    "\"comm\":\"R\",\"r\":\"4.2.2\",\"container\":null,\"cpu\":1.5,\"elapsed\":3,"
	    "\"before\":"
	    "true",
	    "processes of before");
	has(data, "\"nodes\":[0,1,0,2,2,3,0,4,1,5,0,4,3,6]", "calls that both have are there once");
	has(data, "\"rows\":[1,0,1,0,0,2,1,0,", "what there is now of one, and what was");
	has(data, "\"time\":null", "two profiles have no common time");
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

TEST(sources)
{
	static const char *const names[] = {"here.R", "key.pem", "zero.R", "none.R", "evil.Rmd"};
	const char *absolute = tap__path("here.R");
	struct profile_process p = {
		.serial = 1, .pid = 7, .comm = "R", .directory = dir, .uid = (uint32_t)getuid()};
	struct aggregate *a = profile__new();
	const struct frame *frame;
	struct sample s = {.weight = 1, .time = 5};
	const char *data;

	source_put("here.R", "f <- function() \"<here>\"\n");
	source_put("key.pem", "a key");
	source_put("evil.Rmd", "</script><script>alert(1)</script>");
	tap__write(tap__path("zero.R"), "a", 2);
	for (size_t i = 0; i <= COUNT(names); i++) {
		frame = stack__frame(FRAME_R, "f", i < 5 ? names[i] : absolute, 1);
		s.stack = stack__of(1, &frame, NULL, 0);
		tap__bail_if(aggregate__know(a, &p) || aggregate__add(a, &p, &s),
			     "no memory for a sample");
		source_known(i < 5 ? names[i] : absolute, NULL,
			     i < 5 ? tap__path(names[i]) : absolute);
	}
	write_page(path, "flamegraph", a, NULL);
	data = strstr(page_data(), "\"sources\"");
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
	write_page(path, "flamegraph", a, NULL);
	data = strstr(page_data(), "\"sources\"");
	tap__ok(!strstr(data, "# edited") &&
			times(data, "the file was changed after R had read it") == 2,
		"a file that was edited since R read it is not shown, and why");
	source_texts__free(&texts);
	write_page(path, "flamegraph", a, NULL);
	tap__ok(times(page_data(), "\"why\":\"the process ended before") == 6,
		"files of which nothing is known are not read");
	source_known("key.pem", "of R", NULL);
	source_known("none.R", "one", NULL);
	source_known("none.R", "another", NULL);
	write_page(path, "flamegraph", a, NULL);
	data = strstr(page_data(), "\"sources\"");
	tap__ok(times(data, "\"text\":\"of R\"") == 1 && times(data, "R parsed several texts") == 1,
		"lines that R keeps are shown, whatever their name is, if they are one text");
	source_texts__free(&texts);
	source_known(absolute, NULL, absolute);
	aggregate__free(a);

	a = profile__new();
	p.directory = NULL;
	frame = stack__frame(FRAME_R, "f", absolute, 1);
	s.stack = stack__of(1, &frame, NULL, 0);
	tap__bail_if(aggregate__know(a, &p) || aggregate__add(a, &p, &s), "no memory for a sample");
	write_page(path, "flamegraph", a, NULL);
	has(page_data(), "or R sees other files",
	    "nothing is read for a process that sees other files");
	source_texts__free(&texts);
	aggregate__free(a);
}
