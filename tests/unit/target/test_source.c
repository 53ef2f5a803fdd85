/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read of R's srcfiles, in memory that is right, and in memory that is not. */
#include "target/source.h"

#include "lines_scene.h"

#define MAX 4096u

static uint64_t reads, breaks_at; /* the read of that number fails; 0: none */

static int memory__read(void *arg, uint64_t addr, void *to, size_t len)
{
	if (++reads == breaks_at)
		return -EFAULT;
	return image__read(arg, to, (uint32_t)len, addr) ? -EFAULT : 0;
}

static uint64_t binding(struct scene *s, const char *name, uint64_t value, uint64_t next)
{
	return image__cell(&s->m, 2, value, next, image__symbol(&s->m, name));
}

static uint64_t strings(struct scene *s, const char *const *texts, uint32_t n)
{
	uint64_t chars[16];

	for (uint32_t i = 0; i < n; i++)
		chars[i] = image__charsxp(&s->m, texts[i]);
	return image__vector(&s->m, R_STRSXP, n, chars, 8 * n);
}

static uint64_t srcfile(struct scene *s, uint64_t list, const char *class)
{
	const char *const classes[] = {class, "srcfile"};
	uint64_t env = image__cell(&s->m, R_ENVSXP | 0x40, list, s->m.nil, s->m.nil);
	uint64_t attrib = image__cell(&s->m, 2, strings(s, classes, 2), s->m.nil, s->class);

	image__put64(&s->m, env + 8, attrib);
	return env;
}

/* srcfile(): no lines, but where and when. */
static uint64_t plain(struct scene *s)
{
	const double time = 1600000000.25;
	uint64_t list = binding(s, "wd", image__string(&s->m, "/home/me"), s->m.nil);

	list = binding(s, "timestamp", image__vector(&s->m, R_REALSXP, 1, &time, sizeof(time)),
		       list);
	list = binding(s, "filename", image__string(&s->m, "R/a.R"), list);
	return srcfile(s, list, "srcfile");
}

/* srcfilecopy() */
static uint64_t copy(struct scene *s, const char *name, const char *const *lines, uint32_t n)
{
	uint64_t list = binding(s, "lines", strings(s, lines, n), s->m.nil);

	return srcfile(s, binding(s, "filename", image__string(&s->m, name), list), "srcfilecopy");
}

static int look(struct scene *s, uint64_t env, size_t max, struct source_found *found)
{
	const struct mem_reader m = {.read = memory__read, .arg = &s->m};

	reads = 0;
	*found = (struct source_found){0};
	return source__read(found, &s->row, &m, env, max);
}

static bool is(const struct buf *b, const char *text)
{
	return b->len == strlen(text) && (!b->len || !memcmp(b->data, text, b->len));
}

static void test_kinds(struct scene *s)
{
	static const char *const lines[] = {"f <- function() {", "", "}"};
	static const char *const put[] = {"#line 1 \"R/a.R\"", "a", "#line 3 \"R/b.R\"", "b", "c",
					  "#line 4 \"R/a.R\"", "d"};
	struct source_found found;
	uint64_t env, list;
	int err = look(s, plain(s), MAX, &found);

	tap__ok(!err && is(&found.name, "R/a.R") && is(&found.directory, "/home/me") &&
			!found.has_text && found.time == 1600000000.25,
		"a file, where it was found and when it was changed: %d", err);
	source__free(&found);
	err = look(s, copy(s, "<text>", lines, 3), MAX, &found);
	tap__ok(!err && is(&found.name, "<text>") && found.has_text &&
			is(&found.text, "f <- function() {\n\n}\n"),
		"lines that R keeps: %d", err);
	source__free(&found);
	env = copy(s, "", lines, 3);
	err = look(s, env, MAX, &found);
	tap__ok(!err && !found.name.len && found.has_text, "of the console: %d", err);
	source__free(&found);
	err = look(s, env, 10, &found);
	tap__ok(err == -E2BIG && !found.has_text, "more than there is room for: %d", err);
	source__free(&found);
	list = binding(s, "original", copy(s, "all.R", put, 7), s->m.nil);
	env = srcfile(s, binding(s, "filename", image__string(&s->m, "R/a.R"), list),
		      "srcfilealias");
	err = look(s, env, MAX, &found);
	tap__ok(!err && found.has_text && is(&found.text, "a\n\n\nd\n"),
		"of a file that was put together, those of one: %d", err);
	source__free(&found);
}

static void test_wrong(struct scene *s)
{
	static const char *const lines[] = {"a", "b"};
	uint64_t env = copy(s, "<text>", lines, 2), right, loop;
	struct source_found found;
	int err = look(s, s->m.nil, MAX, &found), broken = 0;

	tap__ok(err == -EILSEQ, "nil is not a srcfile: %d", err);
	source__free(&found);
	err = look(s, image__cell(&s->m, R_ENVSXP, s->m.nil, s->m.nil, s->m.nil), MAX, &found);
	tap__ok(err < 0, "nor is another environment: %d", err);
	source__free(&found);
	err = look(s, image__string(&s->m, "x"), MAX, &found);
	tap__ok(err == -EILSEQ, "nor a string: %d", err);
	source__free(&found);
	loop = binding(s, "filename", image__string(&s->m, "a.R"), s->m.nil);
	image__put64(&s->m, loop + 8 * R_CDR, loop);
	err = look(s, srcfile(s, loop, "srcfile"), MAX, &found);
	tap__ok(!err && is(&found.name, "a.R"), "variables without an end: %d", err);
	source__free(&found);
	err = look(s, env, MAX, &found);
	right = reads;
	source__free(&found);
	for (breaks_at = 1; breaks_at <= right; breaks_at++) {
		broken += look(s, env, MAX, &found) == -EFAULT;
		source__free(&found);
	}
	breaks_at = 0;
	tap__ok(!err && broken == (int)right, "each of %d reads may fail: %d", (int)right, broken);
}

TEST(source)
{
	struct scene s;

	scene__init(&s, layout_now());
	test_kinds(&s);
	test_wrong(&s);
	scene__free(&s);
}
