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

	tap__bail_if(top_text__all(&b, &view, &stats, "01:02:03", 20) || buf__add(&b, "", 1),
		     "no memory");
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
	tap__bail_if(top_view__update(&view), "no memory");
}

static void close_view(void)
{
	top_view__free(&view);
	end();
}

TEST(all)
{
	open_view();
	take(&one, "a main", 3);
	take(&one, "b main", 1);
	update();
	top_model__command(model, one.pid, "/usr/lib/R/bin/exec/R -f x.R");
	update();
	tap__is(all(),
		"xrprof-bpf top - 01:02:03, bpf, cpu clock, 99 Hz\n"
		"30 samples in 2.0 s, 15.0 a second; 3 lost\n"
		"    PID   CPU%  SAMPLES  COMMAND\n"
		"2147483632    0.0        4  R -f x.R\n"
		"4 samples in the last 2 s\n"
		"*SELF%  TOTAL%     SELF    TOTAL  FUNCTION\n"
		"  75.0    75.0        3        3  a\n"
		"  25.0    25.0        1        1  b\n"
		"   0.0   100.0        0        4  main\n",
		"plain text");
	tap__diag("%zu bytes", strlen(text));
	close_view();
}

/* A call that began @ago before now, and a sample in it. */
static struct profile_call call_of(uint64_t id, const char *name, uint64_t ago,
				   const struct profile_call *outer)
{
	const struct profile_call call = {
		.id = id, .name = name, .began = now - ago, .outer = outer};
	struct sample s = {.time = now, .weight = 1, .serial = one.serial, .call = &call};
	const struct frame *f = stack__frame(FRAME_R, "f", NULL, 0);

	s.stack = stack__of(1, &f, NULL, 0);
	tap__bail_if(sink__sample(&sink, &one, &s), "no memory");
	return call;
}

TEST(calls)
{
	struct profile_call young, outer, inner;
	const char *shown;

	open_view();
	view.calls = true;
	young = call_of(3, "serve", 200 * NS_PER_MS, NULL);
	outer = call_of(1, "a\x1b[1m", 2 * NS_PER_S, NULL);
	outer.request = "GET /slow";
	outer.cut = true;
	inner = call_of(2, "inner", NS_PER_S, &outer);
	update();
	shown = strstr(all(), "    PID       FOR  CALLS IN PROGRESS");
	tap__ok(shown && strstr(shown,
				" (3)\n"
				"2147483632    3.00 s+ a\\x1b[1m GET /slow\n"
				"2147483632    2.00 s  inner\n"
				"2147483632    1.20 s  serve\n"
				"    PID    LASTED  SLOWEST CALLS OF THE LAST MINUTE (0 ended)\n"
				"3 samples in the last 1 s\n"),
		"those that run, the oldest first, and what is outside of one that was met");
	young.ended = young.began + 300 * NS_PER_MS;
	inner.ended = inner.began + 1500 * NS_PER_MS;
	tap__bail_if(sink__call(&sink, &one, &young) || sink__call(&sink, &one, &inner), "failed");
	update();
	tap__ok(strstr(all(), "CALLS IN PROGRESS (1)\n"
			      "2147483632    4.00 s+ a\\x1b[1m GET /slow\n"
			      "    PID    LASTED  SLOWEST CALLS OF THE LAST MINUTE (2 ended)\n"
			      "2147483632    1.50 s  inner\n"
			      "2147483632    300 ms  serve\n"),
		"those that ended, the slowest first");
	for (uint64_t i = 0; i < 30; i++) {
		struct profile_call more = {
			.id = 10 + i, .name = "more", .began = now, .ended = now + i * NS_PER_MS};

		tap__bail_if(sink__call(&sink, &one, &more), "failed");
	}
	update();
	shown = all();
	tap__ok(strstr(shown, "(32 ended)") && strstr(shown, " 22.0 ms  more\n") &&
			!strstr(shown, " 21.0 ms  more\n"),
		"ten of them");
	for (uint32_t i = 0; i < 61; i++)
		second();
	tap__ok(strstr(all(), "(32 ended)\n3 samples") || strstr(all(), "(32 ended)\n0 samples"),
		"a minute later they are forgotten");
	for (uint64_t i = 0; i < 2 * TOP_CALLS_RUNNING; i++)
		call_of(100 + i, "many", NS_PER_S, NULL);
	second();
	tap__ok(strstr(all(), "CALLS IN PROGRESS (1024)\n"), "of very many some are kept");
	close_view();
}

/* Two sample types: the head of the table says which. */
TEST(types)
{
	waiting = (struct profile_type){"off_cpu", PROFILE_NANOSECONDS};
	open_view();
	take(&one, "a main", 3);
	take(&one, "wait main", 2);
	update();
	tap__ok(strstr(all(), "3 samples in the last 1 s\n"
			      "*SELF%  TOTAL%     SELF    TOTAL  FUNCTION by CPU time\n"
			      " 100.0   100.0        3        3  a\n"),
		"CPU time");
	top_view__key(&view, 'v');
	tap__ok(strstr(all(), "2.00 s waiting in the last 1 s\n"
			      "*SELF%  TOTAL%     SELF    TOTAL  FUNCTION by waiting\n"
			      " 100.0   100.0   2.00 s   2.00 s  wait\n"
			      "   0.0   100.0        0   2.00 s  main\n"),
		"v: waiting");
	tap__ok(strstr(top_text__keys(&view), "v sample type"), "which the keys list");
	top_view__key(&view, 'v');
	tap__ok(strstr(all(), "FUNCTION by CPU time\n"), "and back");
	close_view();
}

/* Events in place of ticks: counts, however many digits they have, and bytes. */
TEST(events)
{
	events[0] = (struct profile_type){"cycles", PROFILE_COUNT};
	events[1] = (struct profile_type){"gc", PROFILE_BYTES};
	open_view();
	take_of(&one, PROFILE_TYPE_EVENTS, 3000000000, "a main", 3);
	take_of(&one, PROFILE_TYPE_EVENTS, 1000000000, "b main", 1);
	take_of(&one, PROFILE_TYPE_EVENTS + 1, 3 << 20, "alloc main", 1);
	update();
	view.scope.type = top_model__next_type(model, PROFILE_TYPES_MAX - 1);
	update();
	tap__ok(strstr(all(), "xrprof-bpf top - 01:02:03, bpf, at cycles,gc\n"), "the title");
	tap__ok(strstr(all(), "        5  one\n"), "samples of a process are samples");
	tap__ok(strstr(all(), "10000000000 cycles in the last 2 s\n"
			      "*SELF%  TOTAL%        SELF       TOTAL  FUNCTION by cycles\n"
			      "  90.0    90.0  9000000000  9000000000  a\n"
			      "  10.0    10.0  1000000000  1000000000  b\n"
			      "   0.0   100.0           0 10000000000  main\n"),
		"counts");
	top_view__key(&view, 'v');
	tap__ok(strstr(all(), "3.0 MiB gc in the last 2 s\n"
			      "*SELF%  TOTAL%     SELF    TOTAL  FUNCTION by gc\n"
			      " 100.0   100.0  3.0 MiB  3.0 MiB  alloc\n"
			      "   0.0   100.0        0  3.0 MiB  main\n"),
		"v: bytes");
	top_view__key(&view, 'v');
	tap__ok(strstr(all(), "FUNCTION by cycles\n"), "and back");
	close_view();
}

/* No line is wider than asked for, and nothing in it acts. */
static void widths(void)
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
	for (size_t i = 0; i < COUNT(widths); i++) {
		unsigned int w = widths[i];

		struct buf b[9] = {0};

		tap__bail_if(top_text__title(&b[0], &view, "01:02:03", w) ||
				     top_text__counts(&b[1], &view, &stats, w) ||
				     top_text__process_head(&b[2], w) ||
				     top_text__process(&b[3], view.processes[0], w) ||
				     top_text__scope(&b[4], &view, w) ||
				     top_text__function_head(&b[5], &view, w) ||
				     top_text__function(&b[6], &view, &(struct top_line){0}, w) ||
				     top_text__callers_head(&b[7], &view, w) ||
				     top_text__caller(&b[8], &view, &view.callers[0], w),
			     "no memory");
		for (size_t k = 0; k < COUNT(b); k++) {
			buf__add(&b[k], "", 1);
			narrow = narrow && columns__of(b[k].data) <= w;
			tame = tame && !strpbrk(b[k].data, "\x1b\n\xff");
			if (columns__of(b[k].data) > w)
				tap__diag("%u: '%s'", w, b[k].data);
			buf__free(&b[k]);
		}
	}
	tap__ok(narrow, "no line is wider than it may be");
	tap__ok(tame, "and nothing in it acts on a terminal");
	close_view();
}

TEST(widths)
{
	widths();
	setenv("LC_ALL", "C.UTF-8", 1);
	columns__locale();
	widths();
}

TEST(help)
{
	size_t n = 0;

	open_view();
	while (top_text__help(n))
		n++;
	tap__ok(n > 10 && strlen(top_text__keys(&view)) > 10, "keys are explained");
	close_view();
}
