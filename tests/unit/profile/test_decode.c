/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The decoder: what good records become. */
#include "decode_scene.h"

TEST(names)
{
	double two = 2;
	uint64_t real;
	const char *name;

	start();
	memcpy(&real, &two, sizeof(real));
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	send_text(1, 0x200, XR_TEXT_SYMBOL, "g");
	send_text(1, 0x100, XR_TEXT_HASHED, "text");
	make_sample(0);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(XR_FORM_ANON, 0, 0);
	add_slot(XR_FORM_COLON2, 0x100, 0x200);
	add_slot(XR_FORM_COLON3, 0x100, 0x200);
	add_slot(XR_FORM_DOLLAR, 0x100, 0x200);
	add_slot(XR_FORM_ITEM_SYM, 0x100, 0x200);
	add_slot(XR_FORM_ITEM_STR, 0x100, 0x100);
	add_slot(XR_FORM_ITEM_INT, 0x100, (uint64_t)-1);
	add_slot(XR_FORM_ITEM_REAL, 0x100, real);
	add_slot(XR_FORM_ITEM_ODD, 0x100, 0);
	send();
	check_last("f <Anonymous> f::g f:::g f$g f[[g]] f[[\"text\"]] f[[-1]] f[[2]] f[[?]]");
	name = seen.name;
	send();
	tap__ok(seen.samples == 2 && seen.name == name, "the same name has the same address");
	tap__ok(seen.sample.pid == 10 && seen.sample.tid == 11 && seen.sample.time == 1000 &&
			seen.sample.weight == 1 && seen.sample.serial == 1,
		"the sample's head is handed on");

	/* a later text replaces the earlier, in composite names as well */
	send_text(1, 0x100, XR_TEXT_SYMBOL, "h");
	make_sample(0);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(XR_FORM_COLON2, 0x100, 0x200);
	send();
	check_last("h h::g");

	/* another process has its own texts; what is missing is said by its address */
	make_sample(0);
	r.sample.serial = 2;
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(XR_FORM_DOLLAR, 0x200, 0x100);
	send();
	check_last("<0x100> <0x200>$<0x100>");
	tap__ok(decoder__stats(d)->unnamed == 2, "two frames are counted unnamed");
	send_text(2, 0x100, XR_TEXT_SYMBOL, "late");
	make_sample(0);
	r.sample.serial = 2;
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	check_last("late");

	decoder__forget(d, 1);
	make_sample(0);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	check_last("<0x100>");
	make_sample(0);
	r.sample.serial = 2;
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	check_last("late");

	make_text(1, 0x300, XR_TEXT_SYMBOL, "cut here");
	r.text.text[3] = '\0';
	send();
	make_sample(0);
	add_slot(XR_FORM_SYMBOL, 0x300, 0);
	send();
	check_last("cut");
	make_sample(0);
	add_slot(XR_FORM_NATIVE, 0xabc, 0);
	send();
	check_last("[unknown]");
	tap__ok(seen.kind == FRAME_NATIVE, "an instruction address is a native frame");
	make_sample(XR_F_OTHER_THREAD);
	send();
	check_last("<other-thread>");
	tap__ok(seen.kind == FRAME_MARK && seen.sample.flags == XR_F_OTHER_THREAD,
		"another thread's sample is one mark");
	make_sample(XR_F_GC | XR_F_TRUNCATED);
	send();
	check_last("<GC> <truncated>");
	tap__ok(seen.sample.flags == (XR_F_GC | XR_F_TRUNCATED) && seen.kind == FRAME_MARK,
		"marks are frames, flags are handed on");
	make_sample(0);
	send();
	tap__ok(!seen.nframes, "no frames: top level");
	tap__ok(!malformed(), "nothing was malformed");
	finish();
}

TEST(lines)
{
	start();
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	send_text(1, 0x77, XR_TEXT_HASHED, "a.R");
	make_sample(XR_F_LINES);
	r.sample.file = 0x77;
	r.sample.line = 5;
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_place(0x77, 9);
	add_slot(XR_FORM_ANON, 0, 0);
	add_place(0, 0);
	send();
	check_last("f(a.R:5) <Anonymous>(a.R:9)");
	make_sample(XR_F_LINES);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_place(0x77, 9);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	tap__ok(malformed() == 1 && seen.samples == 1, "half a frame is malformed");
	make_sample(0);
	r.sample.file = 0x77;
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	check_last("f");
	make_sample(XR_F_LINES | XR_F_UNPROVEN);
	send();
	tap__ok(seen.sample.flags & XR_F_UNPROVEN, "a place that could not be had is told of");
	make_sample(XR_F_LINES | XR_F_OTHER_THREAD | XR_F_GC | XR_F_UNPROVEN);
	r.sample.file = 0x77;
	send();
	check_last("<other-thread>");
	tap__ok(!(seen.sample.flags & (XR_F_GC | XR_F_UNPROVEN)),
		"R's place and R's collector are not its own");
	finish();
}

/* Part @part of a sample of one frame f in each part. */
static void send_part(uint32_t cpu, uint32_t part, uint32_t flags)
{
	make_sample(flags);
	r.sample.cpu = cpu;
	r.sample.part = part;
	if (!(flags & XR_F_DISCARD))
		add_slot(XR_FORM_SYMBOL, part ? 0x200 : 0x100, 0);
	send();
}

TEST(parts)
{
	const struct decoder_stats *st;

	start();
	st = decoder__stats(d);
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	send_text(1, 0x200, XR_TEXT_SYMBOL, "g");
	send_part(0, 0, XR_F_MORE);
	send_part(70, 0, XR_F_MORE);
	tap__ok(!seen.samples, "a part is not a sample");
	send_part(0, 1, XR_F_MORE);
	send_part(70, 1, XR_F_TRUNCATED);
	check_last("f g <truncated>");
	tap__ok(seen.sample.cpu == 70 && seen.sample.flags == XR_F_TRUNCATED,
		"parts go together by cpu, the last one's flags count");
	send_part(0, 2, 0);
	check_last("f g g");
	tap__ok(!st->malformed && !st->partial && st->samples == 2, "all is counted well");

	send_part(0, 0, XR_F_MORE);
	send_part(0, 0, 0);
	tap__ok(st->partial == 1 && st->samples == 3, "a part 0 ends an unfinished sample");
	send_part(0, 1, 0);
	tap__ok(st->malformed == 1, "a part 1 without a part 0");
	send_part(0, 0, XR_F_MORE);
	send_part(0, 2, 0);
	tap__ok(st->malformed == 2 && st->partial == 2 && st->samples == 3, "a part is missing");
	send_part(0, 0, XR_F_MORE);
	send_part(0, 1, XR_F_DISCARD);
	send_part(0, 0, 0);
	tap__ok(st->malformed == 2 && st->partial == 2 && st->samples == 4, "a discarded sample");
	send_part(0, 0, XR_F_MORE);
	make_sample(0);
	r.sample.part = 1;
	r.sample.time = 1001;
	send();
	tap__ok(st->malformed == 3 && st->partial == 3, "a part of another sample");
	send_part(0, 0, XR_F_MORE);
	decoder__forget(d, 1);
	tap__ok(st->partial == 4, "the process is gone: its unfinished sample is counted");
	send_part(65535, 0, 0);
	tap__ok(st->samples == 5, "the highest cpu");
	send_part(65536, 0, 0);
	tap__ok(st->malformed == 4 && st->samples == 5, "a cpu past the highest");
	finish();
}

/* Part @part of a sample taken at @level on cpu 3. */
static void send_level(uint16_t level, uint32_t part, uint32_t flags)
{
	make_sample(flags);
	r.sample.cpu = 3;
	r.sample.level = level;
	r.sample.part = part;
	r.sample.time += level;
	add_slot(XR_FORM_SYMBOL, part ? 0x200 : 0x100, 0);
	send();
}

/* A sample that interrupted another on its cpu comes between the other's parts. */
/* The counts that come before the frames of part 0, and of no other. */
TEST(memory)
{
	start();
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	make_sample(XR_F_MEMORY | XR_F_MORE);
	add_slot(0, 800, 1600);
	add_slot(0, 5600, 7);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	make_sample(XR_F_MEMORY);
	r.sample.part = 1;
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	check_last("f f");
	tap__ok(seen.sample.flags & XR_F_MEMORY && seen.sample.memory.small == 800 &&
			seen.sample.memory.large == 1600 && seen.sample.memory.nodes == 5600 &&
			seen.sample.memory.dups == 7,
		"counts of memory, once for all parts");
	make_sample(0);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	tap__ok(!(seen.sample.flags & XR_F_MEMORY) && !seen.sample.memory.small,
		"the next sample has none");
	make_sample(XR_F_MEMORY | XR_F_OTHER_THREAD);
	add_slot(0, 800, 1600);
	add_slot(0, 5600, 7);
	send();
	check_last("<other-thread>");
	tap__ok(seen.sample.memory.large == 1600, "another thread's sample has them");
	make_sample(XR_F_MEMORY);
	add_slot(0, 1ULL << 49, 1600);
	add_slot(0, 5600, 7);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	check_last("f");
	tap__ok(!(seen.sample.flags & XR_F_MEMORY) && !seen.sample.memory.small,
		"more than a process can have is not told");
	make_sample(XR_F_MEMORY);
	send();
	make_sample(XR_F_MEMORY);
	add_slot(0, 800, 1600);
	send();
	make_sample(XR_F_MEMORY | XR_F_LINES);
	add_slot(0, 800, 1600);
	add_slot(0, 5600, 7);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	tap__ok(malformed() == 3, "no room for the counts, or for a frame behind them: malformed");
	finish();
}

TEST(levels)
{
	const struct decoder_stats *st;

	start();
	st = decoder__stats(d);
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	send_text(1, 0x200, XR_TEXT_SYMBOL, "g");
	send_level(0, 0, XR_F_MORE);
	send_level(1, 0, XR_F_MORE);
	send_level(2, 0, 0);
	check_last("f");
	send_level(1, 1, 0);
	check_last("f g");
	send_level(0, 1, XR_F_MORE);
	send_level(1, 0, 0);
	check_last("f");
	send_level(0, 2, 0);
	check_last("f g g");
	tap__ok(st->samples == 4 && !st->partial && !st->malformed, "levels are kept apart");
	send_level(1, 0, XR_F_MORE);
	send_level(0, 1, 0);
	tap__ok(st->malformed == 1 && st->samples == 4, "a part of another level is not taken");
	send_level(1, 1, 0);
	tap__ok(st->samples == 5, "and does no harm to it");
	send_level(XR_LEVELS, 0, 0);
	tap__ok(st->malformed == 2 && st->samples == 5, "a level past the highest");
	make_sample(0);
	r.sample.event = XR_EVENTS;
	send();
	tap__ok(st->malformed == 3 && st->samples == 5, "an unknown event");
	finish();
}

/* A name of @n bytes that ends in @end, sent as the text of a symbol or a string; the name made. */
static const char *long_name(uint32_t kind, size_t n, const char *end)
{
	make_text(1, 0x300, kind, "");
	memset(r.text.text, 'n', n - strlen(end));
	memcpy(r.text.text + n - strlen(end), end, strlen(end));
	r.text.len = (uint32_t)n;
	r.text.head.size += r.text.len;
	send();
	make_sample(0);
	if (kind == XR_TEXT_SYMBOL)
		add_slot(XR_FORM_SYMBOL, 0x300, 0);
	else
		add_slot(XR_FORM_ITEM_STR, 0x100, 0x300);
	send();
	return seen.name;
}

/* Names are whole up to the longest that R can have; what is cut says so. */
TEST(long)
{
	const struct {
		size_t n;
		const char *end, *want;
	} cases[] = {
		{10000, "end", "nend"},
		{XR_NAME_MAX - 1, "end", "nend"},
		{XR_NAME_MAX, "end", "nend..."},
		{XR_NAME_MAX, "\xc3\xa9", "n\xc3\xa9..."},
		{XR_NAME_MAX, "\xc3", "n..."},
		{XR_NAME_MAX, "\xe2\x82", "n..."},
		{XR_NAME_MAX, "\xe2\x82\xac", "n\xe2\x82\xac..."},
		{XR_NAME_MAX, "\xf0\x9f\x98", "n..."},
		{XR_NAME_MAX, "\xf0\x9f\x98\x80", "n\xf0\x9f\x98\x80..."},
		{XR_NAME_MAX, "\x80\x80\x80\x80", "n\x80\x80\x80\x80..."}, /* no UTF-8 */
	};
	const char *name;

	start();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		name = long_name(XR_TEXT_SYMBOL, cases[i].n, cases[i].end);
		tap__ok(name &&
				strlen(name) == cases[i].n - strlen(cases[i].end) - 1 +
							strlen(cases[i].want) &&
				!strcmp(name + strlen(name) - strlen(cases[i].want), cases[i].want),
			"a name of %zu bytes, case %zu", cases[i].n, i);
	}
	send_text(1, 0x100, XR_TEXT_SYMBOL, "a");
	name = long_name(XR_TEXT_HASHED, XR_TEXT_MAX, "");
	tap__ok(name && strlen(name) == strlen("a[[\"...\"]]") + XR_TEXT_MAX &&
			strstr(name, "nnn...\"]]"),
		"a string that was cut");
	tap__ok(!decoder__stats(d)->malformed, "all were taken");
	long_name(XR_TEXT_HASHED, XR_TEXT_MAX + 1, "");
	tap__ok(decoder__stats(d)->malformed == 1, "one longer than it may be");
	finish();
}

static void check_file(uint64_t file, const char *want)
{
	make_sample(XR_F_LINES);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_place(0, 0);
	r.sample.file = file;
	r.sample.line = 3;
	send();
	check_last(want);
}

/* Srcfiles, by their addresses: those in no file are told apart. */
TEST(sources)
{
	start();
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	send_text(1, 0x77, XR_TEXT_HASHED, "a.R");
	send_text(1, 0x79, XR_TEXT_HASHED, "<text>");
	send_text(1, 0x7b, XR_TEXT_HASHED, "");
	send_place(1, 0x5000, 0x77, 0);
	tap__ok(seen.sources == 1 && !strcmp(seen.source, "1 5000 a.R"), "a file: %s", seen.source);
	send_place(1, 0x5010, 0x79, 0);
	send_place(1, 0x5020, 0x79, 0);
	tap__ok(seen.sources == 3 && !strcmp(seen.source, "1 5020 <text>#2"), "the second text: %s",
		seen.source);
	send_place(1, 0x5030, 0x7b, 0);
	tap__ok(!strcmp(seen.source, "1 5030 <console>"), "the console: %s", seen.source);
	check_file(0x77, "f(a.R:3)");
	check_file(0x5010, "f(<text>:3)");
	check_file(0x5020, "f(<text>#2:3)");
	check_file(0x5030, "f(<console>:3)");
	send_place(1, 0x5010, 0x79, 0);
	check_file(0x5010, "f(<text>:3)");
	send_place(1, 0x5010, 0x7b, 0); /* the address is used again */
	check_file(0x5010, "f(<console>#2:3)");
	for (uint64_t i = 0; i < 100; i++)
		send_place(1, 0x6000 + 16 * i, 0x79, 0);
	check_file(0x6000 + 16 * 98, "f(<text>#65:3)");
	check_file(0x6000 + 16 * 99, "f(<text>#65:3)");
	tap__ok(seen.sources == 6 + 62, "of very many no more is told: %u", seen.sources);
	finish();
}

TEST(packages)
{
	start();
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	send_text(1, 0x77, XR_TEXT_HASHED, "a.R");
	send_text(1, 0x99, XR_TEXT_HASHED, "stats");
	send_place(1, 0x55, 0x77, 12);
	make_sample(XR_F_PACKAGES);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(0, 0x99, 0x55);
	add_slot(XR_FORM_ANON, 0, 0);
	add_slot(0, XR_PACKAGE_GLOBAL, 0);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(0, XR_PACKAGE_BASE, 0x55);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(0, 0, 0);
	send();
	check_last("stats!f{a.R:12} .GlobalEnv!<Anonymous> base!f{a.R:12} f");
	make_sample(XR_F_PACKAGES | XR_F_LINES);
	r.sample.file = 0x77;
	r.sample.line = 5;
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_place(0x77, 9);
	add_slot(0, 0x99, 0x55);
	add_slot(XR_FORM_ANON, 0, 0);
	add_place(0, 0);
	add_slot(0, XR_PACKAGE_GLOBAL, 0);
	send();
	check_last("stats!f{a.R:12}(a.R:5) .GlobalEnv!<Anonymous>(a.R:9)");
	make_sample(XR_F_PACKAGES | XR_F_LINES);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_place(0x77, 9);
	send();
	tap__ok(malformed() == 1 && seen.samples == 2, "two thirds of a frame are malformed");

	/* what never came is not known, until it comes */
	make_sample(XR_F_PACKAGES);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(0, 0x999, 0x555);
	send();
	check_last("f");
	tap__ok(decoder__stats(d)->unnamed == 2, "and counted");
	send_text(1, 0x999, XR_TEXT_HASHED, "late");
	send_place(1, 0x555, 0x77, (uint32_t)-1);
	make_sample(XR_F_PACKAGES);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(0, 0x999, 0x555);
	send();
	check_last("late!f{a.R:-1}");
	/* a later one replaces the earlier */
	send_place(1, 0x555, 0x77, 3);
	make_sample(XR_F_PACKAGES);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(0, 0x999, 0x555);
	send();
	check_last("late!f{a.R:3}");
	/* parts of one sample are alike */
	make_sample(XR_F_PACKAGES | XR_F_MORE);
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	add_slot(0, 0x99, 0x55);
	send();
	make_sample(0);
	r.sample.part = 1;
	add_slot(XR_FORM_SYMBOL, 0x100, 0);
	send();
	tap__ok(malformed() == 2 && decoder__stats(d)->partial == 1,
		"a part without packages after one with them is refused");
	make_sample(0);
	r.sample.serial = 2;
	send();
	make_sample(XR_F_PACKAGES);
	r.sample.serial = 2;
	add_slot(XR_FORM_ANON, 0, 0);
	add_slot(0, 0x99, 0x55);
	send();
	check_last("<Anonymous>");
	decoder__forget(d, 1);
	finish();
}

/*
 * Native frames, of one slot each, among R's, of three; that there are any the last part alone
 * says.  The sanitizers look whether there is room for all.
 */
TEST(native_parts)
{
	const uint32_t flags = XR_F_LINES | XR_F_PACKAGES;
	const uint32_t parts = 4;

	start();
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	for (uint32_t part = 0; part < parts; part++) {
		make_sample(flags | (part + 1 < parts ? XR_F_MORE : XR_F_NATIVE));
		r.sample.part = part;
		for (uint32_t i = 0; !part && i < 42; i++) {
			add_slot(XR_FORM_SYMBOL, 0x100, 0);
			add_place(0, 0);
			add_slot(0, 0, 0);
		}
		for (uint32_t i = r.sample.nslots; i < XR_CHUNK_FULL; i++)
			add_slot(XR_FORM_NATIVE, 0x1000 * (part + 1) + i, 0);
		send();
	}
	tap__ok(seen.samples == 1 && !malformed() && seen.nframes == 42 + 126 + 3 * XR_CHUNK_FULL,
		"native frames in several parts: %u frames", seen.nframes);
	for (uint32_t part = 0; part < 6; part++) {
		r.sample.part = part;
		r.sample.flags = flags | XR_F_MORE;
		send();
	}
	tap__ok(seen.samples == 1 && malformed(), "more native frames than there may be");
	finish();
}

TEST(deep)
{
	const struct decoder_stats *st;
	uint32_t part;

	start();
	st = decoder__stats(d);
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	for (part = 0; part < XR_CONTEXTS_MAX / XR_CHUNK_SLOTS; part++) {
		make_sample(part + 1 < XR_CONTEXTS_MAX / XR_CHUNK_SLOTS ? XR_F_MORE : 0);
		r.sample.part = part;
		for (uint32_t i = 0; i < XR_CHUNK_SLOTS; i++)
			add_slot(XR_FORM_SYMBOL, 0x100, 0);
		send();
	}
	tap__ok(st->samples == 1 && seen.nframes == XR_CONTEXTS_MAX && !st->malformed,
		"the deepest stack there is: %u frames", seen.nframes);
	for (part = 0; part <= XR_CONTEXTS_MAX / XR_CHUNK_SLOTS; part++) {
		r.sample.part = part;
		r.sample.flags = XR_F_MORE;
		send();
	}
	tap__ok(st->samples == 1 && st->malformed == 1, "a deeper one is malformed");
	finish();
}

TEST(free)
{
	decoder__free(NULL);
	tap__ok(true, "no decoder is freed");
}
