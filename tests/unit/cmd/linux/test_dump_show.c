/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a process and its stack are shown, whatever is in their names. */
#include "cmd/linux/dump_show.h"
#include "stack_maker.h"
#include "tap.h"

static char shown[4096];

static const char *text_of(const struct dump_process *p)
{
	struct buf b = {0};

	tap__bail_if(dump_show__head(&b, p), "no memory");
	tap__bail_if(!p->unchanged && dump_show__body(&b, p), "no memory");
	snprintf(shown, sizeof(shown), "%.*s", (int)b.len, b.data);
	buf__free(&b);
	return shown;
}

static const char *json_of(const struct dump_process *p)
{
	struct buf b = {0};
	struct json j;

	json__begin(&j);
	json__array(&j, NULL);
	tap__bail_if(dump_show__json(&j, p), "no memory");
	json__close(&j);
	tap__bail_if(json__end(&j, &b), "invalid JSON");
	snprintf(shown, sizeof(shown), "%.*s", (int)b.len, b.data);
	buf__free(&b);
	return shown;
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

static void same(const char *got, const char *want, const char *what)
{
	if (!tap__ok(!strcmp(got, want), "%s", what))
		tap__diag("got:\n%s\nwanted:\n%s", got, want);
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
	same(text_of(&p),
	     "process 12: R -f a.R\n  R 4.2.2, sleeping\n    Sys.sleep\n    f (a.R:4)\n",
	     "a stack, the innermost frame first");
	p.stack = stack__of(3, frames, "a.R", 9);
	p.tid = 13;
	same(text_of(&p),
	     "process 12: R -f a.R\n  R 4.2.2, thread 13 sleeping\n    Sys.sleep\n    f (a.R:4)\n"
	     "    <truncated>\n    <toplevel> (a.R:9)\n",
	     "what was cut, the place at top level, and a thread that is not the first");
	p.stack = NULL;
	p.r_version = "";
	same(text_of(&p), "process 12: R -f a.R\n  R ?, thread 13 sleeping\n    <toplevel>\n",
	     "no stack at all");
	p.again = p.unchanged = true;
	same(text_of(&p), "process 12: sleeping, unchanged\n", "the same as before is one line");
	json_of(&p);
	tap__ok(strstr(shown, "\"unchanged\": true, \"truncated\": false"), "and marked in JSON");
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
	json_of(&p);
	tap__ok(strstr(shown, "\"toplevel\": null, \"threads\": []}"), "no other thread");
	thread.stack = p.stack = stack__of(2, frames, NULL, 0);
	p.threads = &thread;
	p.nthreads = 1;
	p.native = true;
	same(text_of(&p),
	     "process 12: R -f a.R\n  R 4.2.2, sleeping\n    read [a\\nb.so]\n    a\\nb.so+0x12\n"
	     "    <toplevel>\n  thread 14 (work\\x1b[m): sleeping\n      read [a\\nb.so]\n"
	     "      a\\nb.so+0x12\n",
	     "native frames at top level, and those of another thread");
	json_of(&p);
	tap__ok(strstr(shown, "\"native\": [{\"kind\": \"native\", \"function\": \"read\"") &&
			strstr(shown, "\"module\": \"/lib/a\\u000ab.so\", \"address\": 77") &&
			strstr(shown, "\"threads\": [{\"tid\": 14, \"name\": \"work\\u001b[m\""),
		"the same in JSON");
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
	text_of(&p);
	tap__ok(!strchr(shown, '\x1b') && !strchr(shown, '\x07'),
		"nothing that acts on a terminal is left");
	tap__ok(strstr(shown, "    a\\nb\\x1b[2J (x\\ny:1)\n"), "a frame is one line");
	tap__ok(strstr(shown, "process 12: R\\n\\x1b]0;x\\x07\n"), "the command is one line");
	json_of(&p);
	tap__ok(!strchr(shown, '\x1b') && strstr(shown, "\"function\": \"a\\u000ab\\u001b[2J\""),
		"in JSON the name is itself");
}

TEST(json)
{
	const struct frame *frames[] = {stack__frame(FRAME_R, "f", "a.R", 4)};
	struct dump_process p = process();

	p.stack = stack__of(1, frames, NULL, 0);
	p.flags = XR_F_TRUNCATED;
	same(json_of(&p),
	     "[{\"pid\": 12, \"thread\": 12, \"command\": \"R -f a.R\", \"r_version\": \"4.2.2\", "
	     "\"doing\": \"sleeping\", \"state\": \"S\", \"syscall\": null, \"wchan\": null, "
	     "\"truncated\": true, \"collecting\": false, \"frames\": [{\"kind\": \"function\", "
	     "\"function\": \"f\", \"package\": null, \"label\": \"f\", \"place\": {\"file\": "
	     "\"a.R\", \"line\": 4}, \"defined\": null}], \"toplevel\": null}]\n",
	     "JSON");
	p.stack = NULL;
	json_of(&p);
	tap__ok(strstr(shown, "\"frames\": [], \"toplevel\": null"), "no frames at top level");
}
