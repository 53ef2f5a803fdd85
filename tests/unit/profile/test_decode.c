/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The decoder: what good records become. */
#include <math.h>

#include "decode_scene.h"

#define FLAGS(all) ((struct shape){.flags = (all)})
#define USUAL	   FLAGS(0)
#define SECOND	   ((struct shape){.serial = 2})

BEFORE()
{
	start();
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	send_text(1, 0x200, XR_TEXT_SYMBOL, "g");
	send_text(1, 0x77, XR_TEXT_HASHED, "a.R");
}

AFTER()
{
	finish();
}

static struct xr_slot item(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return FRAME(XR_FORM_ITEM_REAL, 0x100, bits);
}

TEST(names)
{
	char large[400];
	const char *name;

	decoder__free(NULL);
	send_text(1, 0x100, XR_TEXT_HASHED, "text");
	becomes("f <Anonymous> f::g f:::g f$g f[[g]] f[[\"text\"]] f[[-1]] f[[2]] f[[?]]", USUAL,
		SLOTS(SYMBOL(0x100), ANON, FRAME(XR_FORM_COLON2, 0x100, 0x200),
		      FRAME(XR_FORM_COLON3, 0x100, 0x200), FRAME(XR_FORM_DOLLAR, 0x100, 0x200),
		      FRAME(XR_FORM_ITEM_SYM, 0x100, 0x200), FRAME(XR_FORM_ITEM_STR, 0x100, 0x100),
		      FRAME(XR_FORM_ITEM_INT, 0x100, -1), item(2),
		      FRAME(XR_FORM_ITEM_ODD, 0x100, 0)));
	name = seen.name;
	send();
	tap__ok(seen.samples == 2 && seen.name == name, "the same name has the same address");
	tap__ok(seen.sample.pid == 10 && seen.sample.tid == 11 && seen.sample.time == 1000 &&
			seen.sample.weight == 1 && seen.sample.serial == 1,
		"the sample's head is handed on");

	becomes("f[[-2147483648]] f[[-3]] f[[3]] f[[inf]] f[[-inf]] f[[nan]]", USUAL,
		SLOTS(FRAME(XR_FORM_ITEM_INT, 0x100, -2147483648LL), item(-3), item(2.7),
		      item(INFINITY), item(-INFINITY),
		      FRAME(XR_FORM_ITEM_REAL, 0x100, 0x7ff80000000007a2ULL))); /* NA_real_ */
	snprintf(large, sizeof(large), "f[[%.0f]]", 1.7e308);
	becomes(large, USUAL, SLOTS(item(1.7e308)));

	/* a later text replaces the earlier, in composite names as well */
	send_text(1, 0x100, XR_TEXT_SYMBOL, "h");
	becomes("h h::g", USUAL, SLOTS(SYMBOL(0x100), FRAME(XR_FORM_COLON2, 0x100, 0x200)));
	/* another process has separate texts; a missing text is written as its address */
	becomes("<0x100> <0x200>$<0x100>", SECOND,
		SLOTS(SYMBOL(0x100), FRAME(XR_FORM_DOLLAR, 0x200, 0x100)));
	tap__ok(decoder__stats(d)->unnamed == 2, "two frames are counted unnamed");
	send_text(2, 0x100, XR_TEXT_SYMBOL, "late");
	becomes("late", SECOND, SLOTS(SYMBOL(0x100)));
	decoder__forget(d, 1);
	becomes("<0x100>", USUAL, SLOTS(SYMBOL(0x100)));
	becomes("late", SECOND, SLOTS(SYMBOL(0x100)));
	make_text(1, 0x300, XR_TEXT_SYMBOL, "cut here");
	r.text.text[3] = '\0';
	send();
	becomes("cut", USUAL, SLOTS(SYMBOL(0x300)));
	becomes("[unknown]", USUAL, SLOTS(FRAME(XR_FORM_NATIVE, 0xabc, 0)));
	tap__ok(seen.kind == FRAME_NATIVE, "an instruction address is a native frame");
	becomes("<other-thread>", FLAGS(XR_F_OTHER_THREAD), NO_SLOTS);
	tap__ok(seen.kind == FRAME_MARK && seen.sample.flags == XR_F_OTHER_THREAD,
		"another thread's sample is one mark");
	becomes("<GC> <truncated>", FLAGS(XR_F_GC | XR_F_TRUNCATED), NO_SLOTS);
	tap__ok(seen.sample.flags == (XR_F_GC | XR_F_TRUNCATED) && seen.kind == FRAME_MARK,
		"marks are frames, flags are handed on");
	send_sample(USUAL, NO_SLOTS);
	tap__ok(!seen.nframes, "no frames: top level");
	tap__ok(!malformed(), "nothing was malformed");
}

TEST(lines)
{
	const struct shape of_file = {.flags = XR_F_LINES, .file = 0x77, .line = 5};

	becomes("f(a.R:5) <Anonymous>(a.R:9)", of_file,
		SLOTS(SYMBOL(0x100), PAIR(0x77, 9), ANON, PAIR(0, 0)));
	send_sample(FLAGS(XR_F_LINES), SLOTS(SYMBOL(0x100), PAIR(0x77, 9), SYMBOL(0x100)));
	tap__ok(malformed() == 1 && seen.samples == 1, "half a frame is malformed");
	becomes("f", (struct shape){.file = 0x77}, SLOTS(SYMBOL(0x100)));
	send_sample(FLAGS(XR_F_LINES | XR_F_UNPROVEN), NO_SLOTS);
	tap__ok(seen.sample.flags & XR_F_UNPROVEN,
		"the decoder passes on that a place is unproven");
	becomes("<other-thread>",
		(struct shape){.flags = XR_F_LINES | XR_F_OTHER_THREAD | XR_F_GC | XR_F_UNPROVEN,
			       .file = 0x77},
		NO_SLOTS);
	tap__ok(!(seen.sample.flags & (XR_F_GC | XR_F_UNPROVEN)),
		"R's place and R's collector are not its own");
}

/* What the decoder counted, until the next call. */
static const char *counts(void)
{
	static char text[128];
	const struct decoder_stats *st = decoder__stats(d);

	snprintf(text, sizeof(text), "%llu samples, %llu partial, %llu malformed",
		 (unsigned long long)st->samples, (unsigned long long)st->partial,
		 (unsigned long long)st->malformed);
	return text;
}

/* Part @part of a sample taken at @level: f, then g in each part. */
static void send_part(uint32_t cpu, uint16_t level, uint32_t part, uint32_t flags)
{
	send_sample((struct shape){.flags = flags, .cpu = cpu, .level = level, .part = part},
		    &SYMBOL(part ? 0x200 : 0x100), !(flags & XR_F_DISCARD));
}

TEST(parts)
{
	send_part(0, 0, 0, XR_F_MORE);
	send_part(70, 0, 0, XR_F_MORE);
	tap__ok(!seen.samples, "a part is not a sample");
	send_part(0, 0, 1, XR_F_MORE);
	send_part(70, 0, 1, XR_F_TRUNCATED);
	check_last("f g <truncated>");
	tap__ok(seen.sample.cpu == 70 && seen.sample.flags == XR_F_TRUNCATED,
		"parts go together by cpu, the last one's flags count");
	send_part(0, 0, 2, 0);
	check_last("f g g");
	tap__is(counts(), "2 samples, 0 partial, 0 malformed", "all is counted well");
	send_part(0, 0, 0, XR_F_MORE);
	send_part(0, 0, 0, 0);
	tap__is(counts(), "3 samples, 1 partial, 0 malformed",
		"a part 0 ends an unfinished sample");
	send_part(0, 0, 1, 0);
	tap__is(counts(), "3 samples, 1 partial, 1 malformed", "a part 1 without a part 0");
	send_part(0, 0, 0, XR_F_MORE);
	send_part(0, 0, 2, 0);
	tap__is(counts(), "3 samples, 2 partial, 2 malformed", "a part is missing");
	send_part(0, 0, 0, XR_F_MORE);
	send_part(0, 0, 1, XR_F_DISCARD);
	send_part(0, 0, 0, 0);
	tap__is(counts(), "4 samples, 2 partial, 2 malformed", "a discarded sample");
	send_part(0, 0, 0, XR_F_MORE);
	make_sample((struct shape){.part = 1}, NO_SLOTS);
	r.sample.time++;
	send();
	tap__is(counts(), "4 samples, 3 partial, 3 malformed", "a part of another sample");
	send_part(0, 0, 0, XR_F_MORE);
	decoder__forget(d, 1);
	tap__is(counts(), "4 samples, 4 partial, 3 malformed",
		"the process is gone: its unfinished sample is counted");
	send_part(65535, 0, 0, 0);
	send_part(65536, 0, 0, 0);
	tap__is(counts(), "5 samples, 4 partial, 4 malformed", "the highest cpu, and one past it");
}

TEST(levels)
{
	send_part(3, 0, 0, XR_F_MORE);
	send_part(3, 1, 0, XR_F_MORE);
	send_part(3, 2, 0, 0);
	check_last("f");
	send_part(3, 1, 1, 0);
	check_last("f g");
	send_part(3, 0, 1, XR_F_MORE);
	send_part(3, 1, 0, 0);
	check_last("f");
	send_part(3, 0, 2, 0);
	check_last("f g g");
	tap__is(counts(), "4 samples, 0 partial, 0 malformed", "levels are kept apart");
	send_part(3, 1, 0, XR_F_MORE);
	send_part(3, 0, 1, 0);
	tap__is(counts(), "4 samples, 0 partial, 1 malformed", "a part of another level");
	send_part(3, 1, 1, 0);
	tap__is(counts(), "5 samples, 0 partial, 1 malformed", "it does no harm to it");
	send_part(3, XR_LEVELS, 0, 0);
	tap__is(counts(), "5 samples, 0 partial, 2 malformed", "a level past the highest");
	make_sample(USUAL, NO_SLOTS);
	r.sample.event = XR_EVENTS;
	send();
	tap__is(counts(), "5 samples, 0 partial, 3 malformed", "an unknown event");
}

TEST(memory)
{
	send_sample(FLAGS(XR_F_MEMORY | XR_F_MORE),
		    SLOTS(PAIR(800, 1600), PAIR(5600, 7), SYMBOL(0x100)));
	becomes("f f", (struct shape){.flags = XR_F_MEMORY, .part = 1}, SLOTS(SYMBOL(0x100)));
	tap__ok(seen.sample.flags & XR_F_MEMORY && seen.sample.memory.small == 800 &&
			seen.sample.memory.large == 1600 && seen.sample.memory.nodes == 5600 &&
			seen.sample.memory.dups == 7,
		"counts of memory, once for all parts");
	send_sample(USUAL, SLOTS(SYMBOL(0x100)));
	tap__ok(!(seen.sample.flags & XR_F_MEMORY) && !seen.sample.memory.small,
		"the next sample has none");
	becomes("<other-thread>", FLAGS(XR_F_MEMORY | XR_F_OTHER_THREAD),
		SLOTS(PAIR(800, 1600), PAIR(5600, 7)));
	tap__ok(seen.sample.memory.large == 1600, "another thread's sample has them");
	becomes("f", FLAGS(XR_F_MEMORY),
		SLOTS(PAIR(1ULL << 49, 1600), PAIR(5600, 7), SYMBOL(0x100)));
	tap__ok(!(seen.sample.flags & XR_F_MEMORY) && !seen.sample.memory.small,
		"counts above what a process can have are dropped");
	send_sample(FLAGS(XR_F_MEMORY), NO_SLOTS);
	send_sample(FLAGS(XR_F_MEMORY), SLOTS(PAIR(800, 1600)));
	send_sample(FLAGS(XR_F_MEMORY | XR_F_LINES),
		    SLOTS(PAIR(800, 1600), PAIR(5600, 7), SYMBOL(0x100)));
	tap__ok(malformed() == 3, "a sample too short for counts and frames is malformed");
}

TEST(calls_no_room)
{
	send_sample(FLAGS(XR_F_CALLS), SLOTS(PAIR(0, 0), SYMBOL(0x100), PAIR(0x5000, 0x7000)));
	tap__ok(seen.sample.flags & XR_F_CALLS && seen.sample.ncalls == 1, "a sample has calls");
	decoder__free(d);
	tap__bail_if(decoder__new(&d, &ops, &seen, 4096), "no memory");
	send_sample(FLAGS(XR_F_CALLS), SLOTS(PAIR(0, 0), SYMBOL(0x100), PAIR(0x5000, 0x7000)));
	tap__ok(seen.samples == 2 && !(seen.sample.flags & XR_F_CALLS),
		"one whose stack does not fit tells nothing of calls");
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
	send_sample(USUAL,
		    kind == XR_TEXT_SYMBOL ? &SYMBOL(0x300)
					   : &FRAME(XR_FORM_ITEM_STR, 0x100, 0x300),
		    1);
	return seen.name;
}

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

	for (size_t i = 0; i < COUNT(cases); i++) {
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
}

static void check_file(uint64_t file, const char *want)
{
	becomes(want, (struct shape){.flags = XR_F_LINES, .file = file, .line = 3},
		SLOTS(SYMBOL(0x100), PAIR(0, 0)));
}

/* Srcfiles, by their addresses: those in no file are told apart. */
TEST(sources)
{
	send_text(1, 0x79, XR_TEXT_HASHED, "<text>");
	send_text(1, 0x7b, XR_TEXT_HASHED, "");
	send_place(1, 0x5000, 0x77, 0);
	tap__ok(seen.sources == 1 && !strcmp(seen.source, "1 5000 a.R"), "a file: %s", seen.source);
	send_place(1, 0x5010, 0x79, 0);
	send_place(1, 0x5020, 0x79, 0);
	tap__ok(seen.sources == 3 && !strcmp(seen.source, "1 5020 <text>#2"), "the second text: %s",
		seen.source);
	send_place(1, 0x5030, 0x7b, 0);
	tap__is(seen.source, "1 5030 <console>", "the console");
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
	tap__ok(seen.sources == 5 + 62, "of very many only some are reported: %u", seen.sources);
}

/* The address of a srcfile is used again, for another text. */
TEST(sources_again)
{
	send_text(1, 0x79, XR_TEXT_HASHED, "<text>");
	send_place(1, 0x5010, 0x79, 0);
	send_place(1, 0x5010, 0x79, XR_BORN_FIRST + 5);
	send_place(1, 0x5010, 0x79, XR_BORN_OLD);
	check_file(0x5010, "f(<text>:3)");
	tap__ok(seen.sources == 1, "it was not known when it was made, and then it was");
	send_place(1, 0x5010, 0x79, XR_BORN_FIRST + 8);
	check_file(0x5010, "f(<text>#2:3)");
	tap__is(seen.source, "1 5010 <text>#2", "one that was made later is another one");
	send_place(1, 0x5020, 0x79, XR_BORN_OLD);
	send_place(1, 0x5020, 0x79, 0);
	check_file(0x5020, "f(<text>#3:3)");
	send_place(1, 0x5020, 0x79, XR_BORN_FIRST);
	check_file(0x5020, "f(<text>#4:3)");
}

TEST(packages)
{
	const struct shape packages = {.flags = XR_F_PACKAGES};
	const struct shape both = {.flags = XR_F_PACKAGES | XR_F_LINES, .file = 0x77, .line = 5};

	send_text(1, 0x99, XR_TEXT_HASHED, "stats");
	send_place(1, 0x55, 0x77, 12);
	becomes("stats!f{a.R:12} .GlobalEnv!<Anonymous> base!f{a.R:12} f", packages,
		SLOTS(SYMBOL(0x100), PAIR(0x99, 0x55), ANON, PAIR(XR_PACKAGE_GLOBAL, 0),
		      SYMBOL(0x100), PAIR(XR_PACKAGE_BASE, 0x55), SYMBOL(0x100), PAIR(0, 0)));
	becomes("stats!f{a.R:12}(a.R:5) .GlobalEnv!<Anonymous>(a.R:9)", both,
		SLOTS(SYMBOL(0x100), PAIR(0x77, 9), PAIR(0x99, 0x55), ANON, PAIR(0, 0),
		      PAIR(XR_PACKAGE_GLOBAL, 0)));
	send_sample(both, SLOTS(SYMBOL(0x100), PAIR(0x77, 9)));
	tap__ok(malformed() == 1 && seen.samples == 2, "two thirds of a frame are malformed");

	/* what never came is not known, until it comes; a later one replaces the earlier */
	becomes("f", packages, SLOTS(SYMBOL(0x100), PAIR(0x999, 0x555)));
	tap__ok(decoder__stats(d)->unnamed == 2, "and counted");
	send_text(1, 0x999, XR_TEXT_HASHED, "late");
	send_place(1, 0x555, 0x77, (uint32_t)-1);
	becomes("late!f{a.R:-1}", packages, SLOTS(SYMBOL(0x100), PAIR(0x999, 0x555)));
	send_place(1, 0x555, 0x77, 3);
	becomes("late!f{a.R:3}", packages, SLOTS(SYMBOL(0x100), PAIR(0x999, 0x555)));
	/* parts of one sample are alike */
	send_sample(FLAGS(XR_F_PACKAGES | XR_F_MORE), SLOTS(SYMBOL(0x100), PAIR(0x99, 0x55)));
	send_sample((struct shape){.part = 1}, SLOTS(SYMBOL(0x100)));
	tap__ok(malformed() == 2 && decoder__stats(d)->partial == 1,
		"a part without packages after one with them is refused");
	becomes("<Anonymous>", (struct shape){.flags = XR_F_PACKAGES, .serial = 2},
		SLOTS(ANON, PAIR(0x99, 0x55)));
}

/*
 * Native frames, of one slot each, among R's, of three; that there are any the last part alone
 * says.  The sanitizers look whether there is room for all.
 */
TEST(native_parts)
{
	const uint32_t flags = XR_F_LINES | XR_F_PACKAGES, parts = 4;
	struct xr_slot slots[XR_CHUNK_FULL];

	for (uint32_t part = 0; part < parts; part++) {
		for (uint32_t i = 0; i < XR_CHUNK_FULL; i++) {
			slots[i] = FRAME(XR_FORM_NATIVE, 0x1000 * (part + 1) + i, 0);
			if (!part && i < 3 * 42)
				slots[i] = i % 3 ? PAIR(0, 0) : SYMBOL(0x100);
		}
		send_sample((struct shape){.flags = flags |
						    (part + 1 < parts ? XR_F_MORE : XR_F_NATIVE),
					   .part = part},
			    slots, XR_CHUNK_FULL);
	}
	tap__ok(seen.samples == 1 && !malformed() && seen.nframes == 42 + 126 + 3 * XR_CHUNK_FULL,
		"native frames in several parts: %u frames", seen.nframes);
	for (uint32_t part = 0; part < 6; part++) {
		r.sample.part = part;
		r.sample.flags = flags | XR_F_MORE;
		send();
	}
	tap__ok(seen.samples == 1 && malformed(), "more native frames than there may be");
}

TEST(deep)
{
	const uint32_t parts = XR_CONTEXTS_MAX / XR_CHUNK_SLOTS;
	struct xr_slot slots[XR_CHUNK_SLOTS];

	for (uint32_t i = 0; i < XR_CHUNK_SLOTS; i++)
		slots[i] = SYMBOL(0x100);
	for (uint32_t part = 0; part < parts; part++)
		send_sample((struct shape){.flags = part + 1 < parts ? XR_F_MORE : 0, .part = part},
			    slots, XR_CHUNK_SLOTS);
	tap__ok(seen.samples == 1 && seen.nframes == XR_CONTEXTS_MAX && !malformed(),
		"the deepest stack there is: %u frames", seen.nframes);
	for (uint32_t part = 0; part <= parts; part++)
		send_sample((struct shape){.flags = XR_F_MORE, .part = part}, slots,
			    XR_CHUNK_SLOTS);
	tap__ok(seen.samples == 1 && malformed() == 1, "a deeper one is malformed");
}
