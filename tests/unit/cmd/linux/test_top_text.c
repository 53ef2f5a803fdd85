/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lines of `top`, in any width, whatever is in the names. */
#include "cmd/linux/top_text.h"

#include "base/limits.h"
#include "os/linux/columns.h"
#include "top_scene.h"

static struct top_view view;
static char text[8192];

static const struct stats stats = {.seconds = 2, .written = 30, .lost = 1, .unreadable = 2};

static const char *all(void)
{
	struct buf b = {0};

	if (top_text__all(&b, &view, &stats, "01:02:03", 20) || buf__add(&b, "", 1))
		tap__bail("no memory");
	snprintf(text, sizeof(text), "%s", b.data);
	buf__free(&b);
	return text;
}

static void open_view(void)
{
	begin(LIMIT_MEMORY, 5);
	top_view__init(&view, model);
}

static void update(void)
{
	second();
	if (top_view__update(&view))
		tap__bail("no memory");
}

static void close_view(void)
{
	top_view__free(&view);
	end();
}

static void test_all(void)
{
	open_view();
	take(&one, "a main", 3);
	take(&one, "b main", 1);
	update();
	top_model__command(model, one.pid, "/usr/lib/R/bin/exec/R -f x.R");
	update();
	tap__ok(!strcmp(all(), "xrprof-bpf top - 01:02:03, bpf, cpu clock, 99 Hz\n"
			       "30 samples in 2.0 s, 15.0 a second; 3 lost\n"
			       "    PID   CPU%  SAMPLES  COMMAND\n"
			       "2147483632    0.0        4  R -f x.R\n"
			       "4 samples in the last 2 s\n"
			       "*SELF%  TOTAL%     SELF    TOTAL  FUNCTION\n"
			       "  75.0    75.0        3        3  a\n"
			       "  25.0    25.0        1        1  b\n"
			       "   0.0   100.0        0        4  main\n"),
		"plain text");
	tap__diag("%zu bytes", strlen(text));
	close_view();
}

/* No line is wider than asked for, and nothing in it acts. */
static void test_widths(void)
{
	const struct profile_process odd = {
		.serial = 7, .pid = 0x7ffffff7, .comm = "\x1b[2J\n\xe5\xad\x97\xff"};
	static const unsigned int widths[] = {1, 5, 19, 39, 59, 60, 79, 200};
	bool narrow = true, tame = true;

	open_view();
	take(&odd,
	     "\x1b[2J\xe5\xad\x97\xe5\xad\x97\xe5\xad\x97\xe5\xad\x97\xe5\xad\x97 \xff\n main", 3);
	update();
	view.scope.serial = 7;
	snprintf(view.filter, sizeof(view.filter), "\x1b\xff");
	view.ncallers = 1;
	view.callers[0] = (struct top_caller){.depth = 200, .samples = 1};
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		unsigned int w = widths[i];

		for (int what = 0; what < 9; what++) {
			struct buf b = {0};
			int err = 0;

			switch (what) {
			case 0:
				err = top_text__title(&b, &view, "01:02:03", w);
				break;
			case 1:
				err = top_text__counts(&b, &view, &stats, w);
				break;
			case 2:
				err = top_text__process_head(&b, w);
				break;
			case 3:
				err = top_text__process(&b, view.processes[0], w);
				break;
			case 4:
				err = top_text__scope(&b, &view, w);
				break;
			case 5:
				err = top_text__function_head(&b, &view, w);
				break;
			case 6:
				err = top_text__function(&b, &view, &(struct top_line){0}, w);
				break;
			case 7:
				err = top_text__callers_head(&b, &view, w);
				break;
			case 8:
				err = top_text__caller(&b, &view, &view.callers[0], w);
				break;
			}
			if (err || buf__add(&b, "", 1))
				tap__bail("no memory");
			narrow = narrow && columns__of(b.data) <= w;
			tame = tame && !strpbrk(b.data, "\x1b\n\xff");
			if (columns__of(b.data) > w)
				tap__diag("%u: '%s'", w, b.data);
			buf__free(&b);
		}
	}
	tap__ok(narrow, "no line is wider than it may be");
	tap__ok(tame, "and nothing in it acts on a terminal");
	close_view();
}

static void test_help(void)
{
	size_t n = 0;

	while (top_text__help(n))
		n++;
	tap__ok(n > 10 && strlen(top_text__keys(&view)) > 10, "keys are explained");
}

int main(void)
{
	test_all();
	test_widths();
	setenv("LC_ALL", "C.UTF-8", 1);
	columns__locale();
	test_widths();
	test_help();
	return tap__done();
}
