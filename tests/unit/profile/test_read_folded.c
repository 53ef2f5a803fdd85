/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Folded stacks, ours and others'. */
#include "read_scene.h"

TEST(plain)
{
	scene__is("f;g 3\nf 1\nf;g 2\n", "f;g 5\nf 1\n", "equal stacks are one");
	tap__ok(scene.result.format == READ_FOLDED && scene.result.samples == 6 &&
			!scene.result.interval_ns && scene.about.freq == 0,
		"the rate is not known");
	scene__is("main loop;a b 12\r\n", "main loop;a b 12\n", "spaces in names, Windows");
	scene__is("f;<GC> 1\n<truncated>;f 2\n<other-thread> 3\n<no-room> 4\n",
		  "f;!<GC> 1\n!<truncated>;f 2\n!<other-thread> 3\n!<no-room> 4\n", "marks");
	scene__is("<toplevel> 1\n<toplevel>;<GC> 2\n<toplevel> (a.R:3) 4\n<toplevel>;f 1\n",
		  "TOP 1\n!<GC> 2\nTOP <a.R:3 4\n<toplevel>;f 1\n", "no function");
	scene__is("<module>;f 1\n", "<module>;f 1\n", "what others have in brackets");
}

TEST(labels)
{
	scene__is("main (a.R:20);stats::lm (b (1).R:-3) 2\n",
		  "main (a.R:20);stats::lm [stats] (b (1).R:-3) 2\n", "places");
	scene__is("f (x);g (:3);h (a.R:3;i (a.R:) 1\n", "f (x);g (:3);h (a.R:3;i (a.R:) 1\n",
		  "malformed places, and a file without a name");
	scene__is(
		"FUN {a.R:3};<Anonymous> {b.R:4} (b.R:5);purrr::<Anonymous> {p.R:6};f {a.R:3} 1\n",
		"FUN {a.R:3};<Anonymous> {b.R:4} (b.R:5);<Anonymous> [purrr] {p.R:6};f {a.R:3} 1\n",
		"where a function is defined that has no name");
	scene__is("a\\x3bb;c\\nd;\\x3cGC> 1\n", "a;b;c\nd;<GC> 1\n", "what was escaped");
}

TEST(roots)
{
	scene__is("R-4711;main;f 2\nRscript-12;f 1\nR-4711;g 1\nmain;f-3 1\n",
		  "R/4711 main;f 2\nRscript/12 f 1\nR/4711 g 1\nmain;f-3 1\n",
		  "roots are processes");
	scene__is("main;f 2\nR-4711;f 1\n", "main;f 2\nR-4711;f 1\n",
		  "but not if the first line has none");
	scene__is("R-0;f 1\n", "R-0;f 1\n", "0 is not a pid");
	scene__is("R-4711 1\n", "R-4711 1\n", "a frame alone is not a root");
	scene__is("a;f 1\na-99999999999;f 1\n", "a;f 1\na-99999999999;f 1\n",
		  "nor is such a number");
}

TEST(damaged)
{
	scene__is("f;g 3\nno count\nf -1\nf 0\n 4\nf 99999999999999999999\n\nf;g 1\n", "f;g 4\n",
		  "malformed lines are skipped");
	tap__ok(scene.result.bad == 5 && scene.result.first == 2, "and counted");
	scene__is("f;g 3\nf;g 12", "f;g 15\n", "the last line may have no end");
	scene__is("f;g 3\nf;g", "f;g 3\n", "or be a part of one");
	tap__ok(scene.result.cut == 2, "the cut line is reported");
	scene__is(";;f; 1\n", ";;f; 1\n", "names without a character");
	scene__none("no profile\n", "is not a profile", "no profile");
	scene__none("a;b", "is not a profile", "not a whole line");
	scene__none("\001\002\003\n", "is not a profile", "no text");
}

TEST(sums)
{
	static struct buf b;

	for (int i = 0; i < 600; i++)
		buf__str(&b, "f 9007199254740992\n");
	scene__refused(scene__read_bytes(b.data, b.len, &(struct scene_how){0}),
		       "sum of its counts", "counts that no number holds");
}
