/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rprof.out, of R in all its modes, of ours, and damaged. */
#include "read_scene.h"

#define PLAIN  "sample.interval=20000\n"
#define MEMORY "memory profiling: sample.interval=10000\n"
#define LINES  "line profiling: sample.interval=10000\n"

TEST(plain)
{
	scene__is(PLAIN "\"g\" \"f\" \n\"f\" \n\"g\" \"f\" \n", "f;g 2\nf 1\n",
		  "equal samples are one, in the order they came first");
	tap__ok(scene.result.format == READ_RPROF && scene.result.samples == 3 &&
			scene.result.interval_ns == 20000000 && scene.about.freq == 50 &&
			scene.about.interval_ns == 20000000 && scene.begun == 1,
		"it says how often was sampled");
	scene__read(PLAIN "\"g\" \"f\" \n\"f\" \n\"g\" \"f\" \n",
		    &(struct scene_how){.ordered = true});
	tap__ok(!strcmp(scene.text.data, "f;g 1\nf 1\nf;g 1\n") && scene.times == 3 &&
			scene.last_time == 60000000,
		"or one by one, at their times");
	scene__is("sample.interval=20000\r\n\"g\" \"f\" \r\n", "f;g 1\n", "lines of Windows");
	scene__is(PLAIN, "", "no sample");
	tap__ok(scene.begun == 1, "but a profile");
	scene__is(PLAIN "\"g\" \"f\"\n", "f;g 1\n", "without the space at the end");
	scene__is(PLAIN "\n\"f\" \n\n", "f 1\n", "empty lines are not samples");
}

TEST(modes)
{
	scene__is(
		"memory profiling: sample.interval=10000\n:12:345:6789:0:\"g\" \"f\" \n"
		":14:345:6789:0:\n:1:2:3:4:\"g\" \"f\" \n",
		"TOP 16 type 2\nf;g 2\nTOP 1\n",
		"a line of memory counts alone is a sample, of what was allocated until then, too");
	tap__ok(scene.result.memory && !scene.result.lines && !scene.result.gc,
		"the result reports memory alone");
	scene__in_order(
		MEMORY ":10:0:64:0:\"f\" \n:10:5:64:0:\"g\" \n:30:5:120:0:\"f\" \n"
		       ":0:0:0:0:\"g\" \n:31:5:120:0:\"<GC>\" \"g\" \n:1:1:56:0:\"f\" \n",
		"f 1\ng 1\ng 40 type 2\nf 1\nf 216 type 2\ng 1\n"
		"g;!<GC> 1\nf 1\nf 8 type 2\n",
		"what grew is of the line that tells it, of a collection of the one behind it");
	scene__in_order(MEMORY ":10:0:64:0:\"f\" \n" MEMORY ":20:0:64:0:\"f\" \n" PLAIN
			       ":30:0:64:0:\"f\" \n",
			"f 1\nf 1\nf 1\n", "each profile has its own");
	scene__read(MEMORY ":10:0:64:0:\"f\" \n:999999999999999999:0:64:0:\"f\" \n"
			   ":11:0:64:0:\"f\" \n:9999999999999999999:0:64:0:\"f\" \n",
		    &(struct scene_how){.ordered = true});
	tap__ok(!strcmp(scene.text.data, "f 1\nf 1\nf 1\nf 8 type 2\n") && scene.result.bad == 1,
		"impossible counts are skipped");
	scene__is("GC profiling: " LINES "#File 1: dir/a b.R\n"
		  "\"<GC>\" 1#7 \"g\" 1#12 \"f\" 1#20 \n#File 2: <text>\n\"h\" \"g\" 2#3 \"f\" \n"
		  "2#9 \n\"<GC>\" \n1#7 \"g\" 1#12 \"f\" 1#20 \n",
		  "f (dir/a b.R:12);g (dir/a b.R:7);!<GC> <dir/a b.R:20 1\nf (<text>:3);g;h 1\n"
		  "TOP <<text>:9 1\n!<GC> 1\nf (dir/a b.R:12);g (dir/a b.R:7) <dir/a b.R:20 1\n",
		  "a place belongs to the frame that made the call");
	tap__ok(scene.result.lines && scene.result.gc, "the header says what there may be");
	scene__is(LINES "#File 1: a.R\n1#2 \"f\" 1#1 \n" LINES "#File 1: b.R\n1#2 \"f\" 1#1 \n",
		  "f (a.R:2) <a.R:1 1\nf (b.R:2) <b.R:1 1\n",
		  "concatenated profiles have separate files");
	scene__is(LINES "3#2 \"f\" \n#File 3: c.R\n3#2 \"f\" \n3#-2 \"f\" 3#-2147483648 \n",
		  "f (#3:2) 1\nf (c.R:2) 1\nf (c.R:-2) <c.R:-2147483648 1\n",
		  "a file whose name comes too late, lines below 0");
	scene__is(PLAIN "\"f\" \nsample.interval=10000\n\"f\" \n", "f 1\nf 1\n", "two rates");
	tap__ok(scene.result.interval_ns == 10000000, "the reader reports the last rate");
}

TEST(names)
{
	scene__is(PLAIN
		  "\"a b\" \"x[[\"k\"]]\" \"s;t\" \n\"say \"hi\"\" \"f\" \n\"[[\" \"lapply\" \n",
		  "s;t;x[[\"k\"]];a b 1\nf;say \"hi\" 1\nlapply;[[ 1\n", "quotes in names of R");
	scene__is(PLAIN "\"x[[\"a\" \"b\"]]\" \"f\" \n\"q[[\" \"g\" \n\"[[\"a\" \"b\"]]\" \"f\" \n",
		  "f;x[[\"a\" \"b\"]] 1\ng;q[[ 1\nf;b\"]];[[\"a 1\n",
		  "a string that reads as two names");
	scene__is(PLAIN "\"a\\nb\" \"c\\x22d\\x3b\" \"\\\\x41\" \"e\\q\" \"\\xe9\" \"``\" \n",
		  ";\xe9;e\\q;\\x41;c\"d;;a\nb 1\n", "what was escaped is again what it was");
	scene__is(PLAIN "\"a\nb\" \"f\" \n\"g\" \n", "f;a\nb 1\ng 1\n", "a newline in a name of R");
	scene__is(PLAIN "\"a\n\"g\" \n", "g 1\n", "but a line that stands alone is one");
	tap__ok(scene.result.bad == 1 && scene.result.first == 2, "the other is left out");
	scene__is(PLAIN "\"stats::lm\" \"base:::f\" \"x::\" \"<Anonymous>\" \"::\" \n",
		  "::;<Anonymous>;x::;base:::f [base];stats::lm [stats] 1\n",
		  "a package before a name");
	scene__is(PLAIN
		  "\"\\x3cGC>\" \"<truncated>\" \n\"<other-thread>\" \n\"<no-room>\" \"f\" \n",
		  "!<truncated>;<GC> 1\n!<other-thread> 1\nf;!<no-room> 1\n",
		  "marks, and a function that is called as one is");
	scene__is(PLAIN "\"<observer:observeEvent(input$go)>\" \"\\x3creactive:x>\" \n",
		  "<reactive:x>;<observer:observeEvent(input$go)> 1\n",
		  "functions of Shiny, and as they were escaped once");
}

TEST(damaged)
{
	static struct buf b;

	scene__is(PLAIN "\"f\" \nrubbish\n\"f\" \n1#2 x\n\"f\" 1#\n:1:2:3:\n", "f 2\n",
		  "lines that are not samples are skipped");
	tap__ok(scene.result.bad == 4 && scene.result.first == 3,
		"counted, and the first is known");
	scene__is(PLAIN "\"f\" \n\"g\" \"f", "f 1\n", "so is a last line that is not whole");
	tap__ok(scene.result.cut == 3 && !scene.result.bad, "and the cut line is reported");
	scene__read_bytes(PLAIN "\"f\" \n\"g\0\" \n\"f\" \n", 22 + 5 + 6 + 5,
			  &(struct scene_how){0});
	tap__ok(scene.result.bad == 1 && scene.ticks == 2, "a NUL in a line");
	scene__none("sample.interval=0\n", "not a profile", "an interval of 0");
	scene__none("sample.interval=99999999999999999999\n", "not a profile",
		    "one that is too long");
	scene__none("\"f\" \"g\" \n", "no header", "samples without a header");
	scene__none("", "empty", "an empty file");
	scene__refused(scene__read(PLAIN "\"f\" \n", &(struct scene_how){.fails = -EIO}),
		       "the sink said no", "the sink's reason");
	buf__str(&b, PLAIN);
	for (size_t i = 0; i < 5 << 20; i++)
		buf__add(&b, "x", 1);
	scene__refused(scene__read_bytes(b.data, b.len, &(struct scene_how){0}), "line 2 is longer",
		       "a line without an end");
}

TEST(pieces)
{
	static const char text[] = "GC profiling: " LINES "#File 1: a.R\n\"<GC>\" 1#7 \"g\" 1#12 "
				   "\"f\" 1#20 \n\"a\nb\" \"f\" \n";
	char wanted[256];
	bool same = true;

	scene__read(text, &(struct scene_how){0});
	snprintf(wanted, sizeof(wanted), "%s", scene.text.data);
	for (size_t piece = 1; piece < sizeof(text); piece++)
		for (int gzip = 0; gzip < 2; gzip++)
			same = !scene__read(text,
					    &(struct scene_how){.piece = piece, .gzip = gzip}) &&
			       !strcmp(scene.text.data, wanted) && same;
	tap__ok(same && scene.ticks == 2, "bytes may come in pieces of any size");
	for (size_t cut = 1; cut < 30; cut++)
		same = scene__read(text, &(struct scene_how){.gzip = true, .cut = cut}) < 0 &&
		       strstr(scene.fault.text, "ends early") && same;
	tap__ok(same, "a cut compressed file is an error");
}

TEST(room)
{
	static struct buf b;

	buf__str(&b, PLAIN);
	for (int i = 0; i < 60000; i++)
		buf__printf(&b, "\"function_%d\" \"caller_%d\" \"main\" \n", i, i / 3);
	scene__read_bytes(b.data, b.len, &(struct scene_how){.memory = 4 << 20});
	tap__ok(!scene.err && scene.ticks == 60000 && scene.result.samples == 60000 &&
			!scene.result.dropped,
		"what is known is let go in time: %llu samples", (unsigned long long)scene.ticks);
	b.len = 0;
	buf__str(&b, PLAIN);
	for (int i = 0; i < 50000; i++)
		buf__printf(&b, "\"f%d\" ", i);
	buf__str(&b, "\n\"f\" \n");
	scene__read_bytes(b.data, b.len, &(struct scene_how){.memory = 4 << 20});
	tap__ok(!scene.err && scene.ticks == 2 && scene.result.dropped == 1 &&
			!strcmp(scene.text.data, "!<no-room> 1\nf 1\n"),
		"a stack that is too large is counted");
}

TEST(several)
{
	static const char one[] = PLAIN "\"g\" \"f\" \n";
	const char *const files[] = {one, one, one, "f;g 3\n"};
	const size_t sizes[] = {sizeof(one) - 1, sizeof(one) - 1, sizeof(one) - 1, 6};
	const struct scene_how hows[] = {
		{.process = {.key = "a", .pid = 7, .comm = "R"}},
		{.process = {.key = "b", .pid = 8}},
		{.process = {.key = "a", .pid = 7, .comm = "R"}},
		{.process = {0}},
	};

	scene__read_all(files, sizes, hows, 4);
	tap__ok(!strcmp(scene.text.data, "R/7 f;g 1\n/8 f;g 1\nR/7 f;g 1\nf;g 3\n") &&
			scene.begun == 1,
		"files, also of other formats, each of its process");
}
