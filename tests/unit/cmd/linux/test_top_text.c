/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lines of `top`, in any width, whatever is in the names. */
#include "cmd/linux/top_text.h"
#include "os/linux/columns.h"
#include "top_scene.h"

static const struct stats stats = {.seconds = 2, .written = 30, .lost = 1, .unreadable = 2};

static const char *all(void)
{
	static struct buf b;

	b.len = 0;
	tap__bail_if(top_text__all(&b, &view, &stats, "01:02:03", 20) || buf__add(&b, "", 1),
		     "no memory");
	return b.data;
}

/* What is shown is a part of the golden file. */
static void say(const char *what)
{
	tap__say("%s:\n%s\n", what, all());
}

AFTER()
{
	end();
}

TEST(all)
{
	begin_view();
	take(&one, "a main", 3);
	take(&one, "b main", 1);
	update();
	top_model__command(model, one.pid, "/usr/lib/R/bin/exec/R -f x.R");
	update();
	say("a plain one");
	snprintf(view.filter, sizeof(view.filter), "b");
	view.scope.fold = view.scope.merge = true;
	update();
	say("functions with a text, and what else the scope says");
	tap__golden("top.txt");
}

/* A call that began @ago before now, and a sample in it. */
static struct profile_call call_of(uint64_t id, const char *name, uint64_t ago,
				   const struct profile_call *outer)
{
	const struct profile_call call = {
		.id = id, .name = name, .began = now - ago, .outer = outer};
	const struct sample s = {.time = now,
				 .weight = 1,
				 .serial = one.serial,
				 .call = &call,
				 .stack = stack__one("f")};

	tap__bail_if(sink__sample(&sink, &one, &s), "no memory");
	return call;
}

TEST(calls)
{
	struct profile_call young, outer, inner;

	begin_view();
	view.calls = true;
	young = call_of(3, "serve", 200 * NS_PER_MS, NULL);
	outer = call_of(1, "a\x1b[1m", 2 * NS_PER_S, NULL);
	outer.request = "GET /slow";
	outer.cut = true;
	inner = call_of(2, "inner", NS_PER_S, &outer);
	update();
	say("those that run, the oldest first, and what is outside of one that was met");
	young.ended = young.began + 300 * NS_PER_MS;
	inner.ended = inner.began + 1500 * NS_PER_MS;
	tap__bail_if(sink__call(&sink, &one, &young) || sink__call(&sink, &one, &inner), "failed");
	update();
	say("those that ended, the slowest first");
	for (uint64_t i = 0; i < 30; i++) {
		struct profile_call more = {
			.id = 10 + i, .name = "more", .began = now, .ended = now + i * NS_PER_MS};

		tap__bail_if(sink__call(&sink, &one, &more), "failed");
	}
	update();
	say("ten of them");
	for (uint32_t i = 0; i < 61; i++)
		second();
	say("a minute later they are forgotten");
	for (uint64_t i = 0; i < 2 * TOP_CALLS_RUNNING; i++)
		call_of(100 + i, "many", NS_PER_S, NULL);
	second();
	tap__ok(strstr(all(), "CALLS IN PROGRESS (1024)\n"), "of very many some are kept");
	tap__golden("top_calls.txt");
}

/* Two sample types: the head of the table says which. */
TEST(types)
{
	waiting = (struct profile_type){"off_cpu", PROFILE_NANOSECONDS};
	begin_view();
	take(&one, "a main", 3);
	take(&one, "wait main", 2);
	update();
	say("CPU time");
	top_view__key(&view, 'v');
	say("v: waiting");
	tap__ok(strstr(top_text__keys(&view), "v sample type"), "which the keys list");
	top_view__key(&view, 'v');
	say("v: and back");
	tap__golden("top_types.txt");
}

/* Events in place of ticks: counts, however many digits they have, and bytes. */
TEST(events)
{
	events[0] = (struct profile_type){"cycles", PROFILE_COUNT};
	events[1] = (struct profile_type){"gc", PROFILE_BYTES};
	begin_view();
	take_of(&one, PROFILE_TYPE_EVENTS, 3000000000, "a main", 3);
	take_of(&one, PROFILE_TYPE_EVENTS, 1000000000, "b main", 1);
	take_of(&one, PROFILE_TYPE_EVENTS + 1, 3 << 20, "alloc main", 1);
	update();
	view.scope.type = top_model__next_type(model, PROFILE_TYPES_MAX - 1);
	update();
	say("events");
	top_view__key(&view, 'v');
	say("v: bytes");
	top_view__key(&view, 'v');
	say("v: and back");
	tap__golden("top_events.txt");
}

/* No line is wider than asked for, and nothing in it acts. */
static void widths(void)
{
	const struct profile_process odd = {
		.serial = 7, .pid = 0x7ffffff7, .comm = "\x1b[2J\n\xe5\xad\x97\xff"};
	static const unsigned int widths[] = {1, 5, 19, 39, 59, 60, 79, 200};
	bool narrow = true, tame = true;

	begin_view();
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
				     top_text__process(&b[3], &view.processes[0], w) ||
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
}

TEST(widths)
{
	widths();
	end();
	setenv("LC_ALL", "C.UTF-8", 1);
	columns__locale();
	widths();
}

TEST(help)
{
	size_t n = 0;

	begin_view();
	while (top_text__help(n))
		n++;
	tap__ok(n > 10 && strlen(top_text__keys(&view)) > 10, "keys are explained");
}
