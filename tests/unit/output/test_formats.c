/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names that strangers made up, in every format: one table of names, all writers. */
#include "base/utf8.h"
#include "encode_scene.h"
#include "layout.h"
#include "outputs_scene.h"

static char long_name[10001], deep[3001];
static const char *const names[] = {
	"plain",
	"</script><script>window.hacked=1</script>",
	"<!--",
	"]]>",
	"<img src=x onerror=window.hacked=1>",
	"a\"b",
	"a'b",
	"a\\b",
	"a\\",
	"\\u003c/script>",
	"a;b",
	"a b 7",
	"a,b",
	"a&b&amp;",
	"{\"a\": [1]}",
	"line\nbreak",
	"return\rhere",
	"tab\there",
	"\x1b[31mred\x1b[0m",
	"\x01\x02\x7f",
	"bell\a",
	"\xff\xfe\x80",
	"\xc0\xaf",
	"\xed\xa0\x80",
	"caf\xc3\xa9",
	"\xe6\x97\xa5\xe6\x9c\xac",
	"\xf0\x9f\x98\x80",
	"\xe2\x80\xae"
	"gnirts",
	"a\xe2\x80\xa8"
	"b",
	"\xef\xbb\xbf"
	"bom",
	"<GC>",
	"<truncated>",
	"<other-thread>",
	"<toplevel>",
	"pkg::f",
	"pkg:::f",
	"a[[\"b\"]]",
	"#File 1: x",
	"1#2",
	"sample.interval=1",
	"%s%n%d",
	"${x}`x`$(x)",
	"__proto__",
	"constructor",
	"toString",
	"",
	" ",
	long_name,
	deep,
};

#define NAMES (COUNT(names))

/* A file name is as much of a stranger as a function's name. */
static const struct stack *stack_of(const char *name)
{
	const char *file = *name ? name : "f.R";
	const struct frame *frames[] = {
		MADE(.function = name, .package = name, .file = file, .line = 7, .defined = file,
		     .defined_line = 7),
		stack__frame(FRAME_R, "outer", "outer.R", 3),
	};

	return stack__of(2, frames, NULL, 0);
}

/* All names in the format of @ops, into @path. */
static void write_names(const struct writer_ops *ops, const char *path)
{
	const struct profile_process process = {.serial = 1, .pid = 10, .comm = "</script>\"\n;x"};

	open_by((struct outputs_config){
		.format = ops,
		.path = path,
		.writer = {.capture = XR_ROW_LINES | XR_ROW_GC,
			   .about = {.command = names[1], .host = names[4]}},
	});
	for (size_t i = 0; i < NAMES; i++) {
		struct sample s = {.time = i + 1, .weight = i + 1, .serial = 1, .pid = 10};

		s.flags = XR_F_LINES;
		s.stack = stack_of(names[i]);
		tap__bail_if(sink__sample(&sink, &process, &s), "%s: %s", ops->name,
			     sink__why(&sink)->text);
	}
	tap__bail_if(finish(), "%s: cannot write %s", ops->name, path);
}

/* How often @what is in @text, whatever the case of its letters. */
static unsigned int times(const char *text, const char *what)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += !strncasecmp(text, what, strlen(what));
	return n;
}

static bool harmless(const char *text, size_t size)
{
	for (size_t i = 0, len; i < size; i += len) {
		len = utf8__length(text + i);
		if (!len || (utf8__acts(text + i, len) && text[i] != '\n' && text[i] != '\t'))
			return false;
	}
	return true;
}

/* Each name is a function, and acts on no terminal; @len bytes at @data. */
static void test_pprof(const char *data, size_t len)
{
	const struct buf bytes = {.data = (char *)(uintptr_t)data, .len = len};
	const Pprof__Profile *p = scene__pprof(&bytes);
	bool clean = true;

	for (size_t i = 0; i < p->n_function; i++) {
		const char *text = scene__text(p, p->function[i]->name);

		clean &= harmless(text, strlen(text)) && !strpbrk(text, "\n\t");
	}
	tap__ok(p->n_function == NAMES + 1 && p->n_sample == NAMES, "pprof: %zu functions of %zu",
		p->n_function, p->n_sample);
	tap__ok(clean, "pprof: no name acts on a terminal");
}

static void test_format(const struct writer_ops *ops)
{
	static struct buf text;
	const char *data;
	char name[64];
	size_t len;

	snprintf(name, sizeof(name), "names%s", ops->suffix);
	write_names(ops, tap__path(name));
	tap__bail_if(!gzip__file(&text, tap__path(name)), "cannot read %s", name);
	tap__ok(text.len > 0, "%s: %zu bytes", ops->name, text.len);
	if (!ops->binary)
		tap__ok(harmless(text.data, text.len), "%s: nothing acts on who shows it",
			ops->name);
	data = tap__read(tap__path(name), &len);
	if (!strcmp(ops->name, "pprof"))
		test_pprof(data, len);
	buf__add(&text, "", 1);
	if (!strcmp(ops->suffix, ".html")) {
		tap__ok(times(text.data, "<script") == times(text.data, "</script"),
			"%s: no name ends a script, or begins one", ops->name);
		tap__ok(!strstr(text.data, "<img"), "%s: no name is an element", ops->name);
	}
}

BEFORE()
{
	memset(long_name, 'x', sizeof(long_name) - 1);
	for (size_t i = 0; i < sizeof(deep) - 1; i++)
		deep[i] = "\"<\\\n\x1b;"[i % 6];
	scene__start();
	about = (struct profile_about){.freq = 100, .engine = "made up", .clock = "cpu"};
}

AFTER()
{
	scene__stop();
}

TEST(formats)
{
	for (const struct writer_ops *const *ops = formats__all(); *ops; ops++)
		test_format(*ops);
}

/*
 * formats DIR: DIR/names.SUFFIX in each format, for readers elsewhere: the stack of each name is
 * it, called by outer(), sampled as often as its place in the table.
 */
PROGRAM(formats)
{
	char path[512];

	if (argc != 2)
		return 2;
	tap__before();
	for (const struct writer_ops *const *ops = formats__all(); *ops; ops++) {
		snprintf(path, sizeof(path), "%s/names%s", argv[1], (*ops)->suffix);
		write_names(*ops, path);
	}
	printf("%zu\n", NAMES);
	tap__after();
	return 0;
}
