/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read of R's srcfiles, in memory that is right, and in memory that is not. */
#include "target/source.h"

#include "lines_scene.h"

#define MAX 4096u

static struct scene s;
static uint64_t reads, breaks_at; /* the read of that number fails; 0: none */

static int memory__read(void *arg, uint64_t addr, void *to, size_t len)
{
	if (++reads == breaks_at)
		return -EFAULT;
	return image__read(&s.m, to, (uint32_t)len, addr) ? -EFAULT : 0;
}

BEFORE()
{
	scene__init(&s, layout_now());
}

static uint64_t binding(const char *name, uint64_t value, uint64_t next)
{
	return image__cell(&s.m, 2, value, next, image__symbol(&s.m, name));
}

static uint64_t strings(const char *const *texts, uint32_t n)
{
	uint64_t chars[16];

	for (uint32_t i = 0; i < n; i++)
		chars[i] = image__charsxp(&s.m, texts[i]);
	return image__vector(&s.m, R_STRSXP, n, chars, 8 * n);
}

static uint64_t srcfile(uint64_t list, const char *class)
{
	const char *const classes[] = {class, "srcfile"};
	uint64_t env = image__cell(&s.m, R_ENVSXP | 0x40, list, s.m.nil, s.m.nil);
	uint64_t attrib = image__cell(&s.m, 2, strings(classes, 2), s.m.nil, s.class);

	image__put64(&s.m, env + 8, attrib);
	return env;
}

/* srcfile(): no lines, but where and when. */
static uint64_t plain(void)
{
	const double time = 1600000000.25;
	uint64_t list = binding("wd", image__string(&s.m, "/home/me"), s.m.nil);

	list = binding("timestamp", image__vector(&s.m, R_REALSXP, 1, &time, sizeof(time)), list);
	list = binding("filename", image__string(&s.m, "R/a.R"), list);
	return srcfile(list, "srcfile");
}

/* srcfilecopy() */
static uint64_t copy(const char *name, const char *const *lines, uint32_t n)
{
	uint64_t list = binding("lines", strings(lines, n), s.m.nil);

	return srcfile(binding("filename", image__string(&s.m, name), list), "srcfilecopy");
}

static struct source_found found; /* at the last look */

static int look(uint64_t env, size_t max)
{
	static const struct mem_reader m = {.read = memory__read};

	reads = 0;
	source__free(&found);
	return source__read(&found, &s.row, &m, env, max);
}

static bool is(const struct buf *b, const char *text)
{
	return b->len == strlen(text) && (!b->len || !memcmp(b->data, text, b->len));
}

TEST(kinds)
{
	static const char *const lines[] = {"f <- function() {", "", "}"};
	static const char *const put[] = {"#line 1 \"R/a.R\"", "a", "#line 3 \"R/b.R\"", "b", "c",
					  "#line 4 \"R/a.R\"", "d"};
	uint64_t env, list;

	tap__ok(!look(plain(), MAX) && is(&found.name, "R/a.R") &&
			is(&found.directory, "/home/me") && !found.has_text &&
			found.time == 1600000000.25,
		"a file, where it was found and when it was changed");
	tap__ok(!look(copy("<text>", lines, 3), MAX) && is(&found.name, "<text>") &&
			found.has_text && is(&found.text, "f <- function() {\n\n}\n"),
		"lines that R keeps");
	env = copy("", lines, 3);
	tap__ok(!look(env, MAX) && !found.name.len && found.has_text, "of the console");
	tap__ok(look(env, 10) == -E2BIG && !found.has_text, "more than there is room for");
	list = binding("original", copy("all.R", put, 7), s.m.nil);
	env = srcfile(binding("filename", image__string(&s.m, "R/a.R"), list), "srcfilealias");
	tap__ok(!look(env, MAX) && found.has_text && is(&found.text, "a\n\n\nd\n"),
		"of a file that was put together, those of one");
}

TEST(wrong)
{
	static const char *const lines[] = {"a", "b"};
	uint64_t env = copy("<text>", lines, 2), right, loop, broken = 0;

	tap__ok(look(s.m.nil, MAX) == -EILSEQ, "nil is not a srcfile");
	tap__ok(look(image__cell(&s.m, R_ENVSXP, s.m.nil, s.m.nil, s.m.nil), MAX) < 0,
		"nor is another environment");
	tap__ok(look(image__string(&s.m, "x"), MAX) == -EILSEQ, "nor a string");
	loop = binding("filename", image__string(&s.m, "a.R"), s.m.nil);
	image__put64(&s.m, loop + 8 * R_CDR, loop);
	tap__ok(!look(srcfile(loop, "srcfile"), MAX) && is(&found.name, "a.R"),
		"variables without an end");
	tap__bail_if(look(env, MAX), "it cannot be read");
	right = reads;
	for (breaks_at = 1; breaks_at <= right; breaks_at++)
		broken += look(env, MAX) == -EFAULT;
	tap__ok(broken == right, "each of %d reads may fail: %d", (int)right, (int)broken);
}
