/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a process and its stack are shown, whatever is in their names. */
#include "cmd/linux/dump_show.h"
#include "stack_maker.h"
#include "tap.h"

/* How @p is shown is a part of the golden file: as text, and as JSON. */
static void show(const struct dump_process *p, const char *what)
{
	struct buf b = {0};
	struct json j;

	tap__bail_if(dump_show__head(&b, p), "no memory");
	tap__bail_if(!p->unchanged && dump_show__body(&b, p), "no memory");
	json__begin(&j);
	json__array(&j, NULL);
	tap__bail_if(dump_show__json(&j, p), "no memory");
	json__close(&j);
	tap__bail_if(json__end(&j, &b), "invalid JSON");
	tap__say("%s:\n%.*s\n", what, (int)b.len, b.data);
	buf__free(&b);
}

static struct dump_process process(void)
{
	return (struct dump_process){
		.pid = 12,
		.tid = 12,
		.command = "R -f a.R",
		.r_version = "4.2.2",
		.activity = {.state = 'S'},
	};
}

TEST(plain)
{
	const struct frame *frames[] = {
		stack__frame(FRAME_R, "Sys.sleep", NULL, 0),
		stack__frame(FRAME_R, "f", "a.R", 4),
		&mark_truncated,
	};
	struct dump_process p = process();

	p.stack = stack__of(2, frames, NULL, 0);
	show(&p, "a stack, the innermost frame first");
	p.stack = stack__of(3, frames, "a.R", 9);
	p.tid = 13;
	p.flags = XR_F_TRUNCATED;
	show(&p, "what was cut, the place at top level, and a thread that is not the first");
	p.flags = 0;
	p.stack = NULL;
	p.r_version = "";
	show(&p, "no stack at all");
	p.again = p.unchanged = true;
	show(&p, "the same as before is one line");
	tap__golden("dump_plain.txt");
}

/* --calls and --locals: a call, its variables, and whether these are all. */
TEST(values)
{
	struct local list[] = {
		{.name = "n", .kind = {.type = "integer", .length = 1}, .value = "int 7"},
		{.name = "longer", .kind = {.type = "?"}, .value = "<?>"}};
	struct frame_values values[] = {{.call = "f(1)", .has_locals = true, .locals = {list, 2}},
					{.call = "g(f(1))"}};
	const struct frame *frames[] = {stack__frame(FRAME_R, "f", "a.R", 4),
					stack__frame(FRAME_R, "g", "a.R", 5)};
	struct dump_process p = process();

	p.stack = stack__of(2, frames, NULL, 0);
	p.values = values;
	show(&p, "the variables of one call, and none of another");
	values[0].locals.n = 0;
	show(&p, "no variables");
	values[0].locals.more = true;
	show(&p, "more than were read");
	values[0].locals = (struct locals){.damaged = true};
	show(&p, "some that cannot be read");
	tap__golden("dump_values.txt");
}

TEST(threads)
{
	static const struct name module = {.text = "/lib/a\nb.so", .len = 11};
	struct frame read = *stack__frame(FRAME_NATIVE, "read", NULL, 0);
	struct frame unnamed = *stack__frame(FRAME_NATIVE, "a\nb.so+0x12", NULL, 0);
	const struct frame *frames[] = {&read, &unnamed};
	struct dump_thread thread = {
		.tid = 14, .name = "work\x1b[m", .activity = {.state = 'S'}, .stack = NULL};
	struct dump_process p = process();

	read.module = unnamed.module = &module;
	read.address = 77;
	p.list_threads = true;
	show(&p, "no other thread");
	thread.stack = p.stack = stack__of(2, frames, NULL, 0);
	p.threads = &thread;
	p.nthreads = 1;
	p.native = true;
	show(&p, "native frames at top level, and those of another thread");
	tap__golden("dump_threads.txt");
}

TEST(hostile)
{
	const struct frame *frames[] = {
		stack__frame(FRAME_R, "a\nb\x1b[2J", "x\ny", 1),
		stack__frame(FRAME_R, "<toplevel>\xff", NULL, 0),
		stack__frame(FRAME_ANON, "<Anonymous>", NULL, 0),
	};
	struct dump_process p = process();

	p.stack = stack__of(3, frames, NULL, 0);
	p.command = "R\n\x1b]0;x\x07";
	p.activity = (struct activity){
		.state = 'S', .waits = true, .syscall = 0, .arg = 5, .file = "/tmp/\x1b[1m"};
	show(&p, "nothing that acts on a terminal is left, and each frame is one line");
	tap__ok(!strpbrk(tap__saying(), "\x1b\x07\xff"), "nothing acts");
	tap__golden("dump_hostile.txt");
}
