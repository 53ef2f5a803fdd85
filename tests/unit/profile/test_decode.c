/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The decoder: what good records become, that bad ones are refused, and that none does harm. */
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "profile/decode.h"
#include "tap.h"

/* Samples as text: "name(file:line) ... @file:line" and how often each callback came. */
struct seen {
	struct buf last;
	unsigned int samples, processes;
	const char *name; /* of the innermost frame */
	uint32_t nframes;
	enum frame_kind kind;
	uint64_t id; /* of the stack */
	struct sample sample;
	size_t touched; /* bytes of names: makes the sanitizers look at all of them */
};

static void on_sample(void *arg, const struct sample *s)
{
	const struct stack *stack = s->stack;
	struct seen *seen = arg;

	seen->samples++;
	seen->sample = *s;
	seen->nframes = stack->nframes;
	seen->name = stack->nframes ? stack->frames[0]->function->text : NULL;
	seen->kind = stack->nframes ? stack->frames[0]->kind : FRAME_R;
	seen->id = stack->id;
	seen->last.len = 0;
	for (uint32_t i = 0; i < stack->nframes; i++) {
		const struct frame *f = stack->frames[i];

		seen->touched += strlen(f->function->text) + strlen(f->function->safe) +
				 (f->place.file ? strlen(f->place.file->text) : 0);
		buf__printf(&seen->last, "%s%s", i ? " " : "", f->function->text);
		if (f->place.file)
			buf__printf(&seen->last, "(%s:%u)", f->place.file->text, f->place.line);
	}
	if (stack->top.file)
		buf__printf(&seen->last, " @%s:%u", stack->top.file->text, stack->top.line);
	buf__add(&seen->last, "", 1);
}

static void on_process(void *arg, const struct xr_process *p)
{
	struct seen *seen = arg;

	seen->processes++;
	seen->touched += strlen(p->comm);
}

static const struct decoder_ops ops = {.sample = on_sample, .process = on_process};

static union {
	struct xr_head head;
	struct xr_sample sample;
	struct xr_text text;
	struct xr_process process;
	uint64_t words[2048];
} r;

static struct decoder *d;
static struct seen seen;

static void start(void)
{
	memset(&seen, 0, sizeof(seen));
	if (decoder__new(&d, &ops, &seen))
		tap__bail("no memory");
}

static void finish(void)
{
	decoder__free(d);
	buf__free(&seen.last);
}

static uint64_t malformed(void)
{
	return decoder__stats(d)->malformed;
}

static void send(void)
{
	decoder__record(d, &r, r.head.size);
}

/* The record of a text, not sent. */
static void make_text(uint32_t serial, uint64_t id, uint32_t kind, const char *s)
{
	memset(&r, 0, sizeof(r));
	r.text.head.type = XR_REC_TEXT;
	r.text.id = id;
	r.text.serial = serial;
	r.text.kind = kind;
	r.text.len = (uint32_t)strlen(s);
	r.text.head.size = (uint32_t)sizeof(r.text) + r.text.len;
	memcpy(r.text.text, s, r.text.len);
}

static void send_text(uint32_t serial, uint64_t id, uint32_t kind, const char *s)
{
	make_text(serial, id, kind, s);
	send();
}

/* An empty sample of serial 1 on cpu 0, not sent. */
static void make_sample(uint32_t flags)
{
	memset(&r, 0, sizeof(r));
	r.sample.head.type = XR_REC_SAMPLE;
	r.sample.head.size = sizeof(r.sample);
	r.sample.time = 1000;
	r.sample.weight = 1;
	r.sample.serial = 1;
	r.sample.pid = 10;
	r.sample.tid = 11;
	r.sample.flags = flags;
}

static void add_slot(uint64_t form, uint64_t word, uint64_t more)
{
	r.sample.slots[r.sample.nslots].word = form << XR_FORM_SHIFT | word;
	r.sample.slots[r.sample.nslots].more = more;
	r.sample.nslots++;
	r.sample.head.size += (uint32_t)sizeof(struct xr_slot);
}

static void add_place(uint64_t file, uint32_t line)
{
	add_slot(0, file, line);
}

static void check_last(const char *want)
{
	if (!tap__ok(seen.last.data && !strcmp(seen.last.data, want), "sample is: %s", want))
		tap__diag("got: %s", seen.last.data ? seen.last.data : "none");
}

static void test_names(void)
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
	check_last("<0xabc>");
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

static void test_lines(void)
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
	make_sample(XR_F_LINES | XR_F_OTHER_THREAD | XR_F_GC);
	r.sample.file = 0x77;
	send();
	check_last("<other-thread>");
	tap__ok(!(seen.sample.flags & XR_F_GC), "R's place and R's collector are not its own");
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

static void test_parts(void)
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
static void test_levels(void)
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
static void test_long(void)
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

static void test_deep(void)
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

/* Send what is in `r`, which must be refused. */
static void refuse(const char *what)
{
	uint64_t before = malformed();
	unsigned int samples = seen.samples, processes = seen.processes;

	send();
	tap__ok(malformed() == before + 1 && seen.samples == samples && seen.processes == processes,
		"refused: %s", what);
}

static void make_process(uint32_t event)
{
	memset(&r, 0, sizeof(r));
	r.process.head.type = XR_REC_PROCESS;
	r.process.head.size = sizeof(r.process);
	r.process.event = event;
	strcpy(r.process.comm, "R");
}

static void test_malformed(void)
{
	start();
	make_sample(0);
	for (size_t size = 0; size < sizeof(r.sample); size++)
		decoder__record(d, &r, size);
	tap__ok(malformed() == sizeof(r.sample) && !seen.samples,
		"a sample cut at any byte is refused");
	decoder__record(d, &r, sizeof(r.sample) + 8);
	tap__ok(seen.samples == 1, "a ring that hands over more is not a fault");
	for (uint32_t size = 0; size < sizeof(r.sample); size++) {
		r.head.size = size;
		decoder__record(d, &r, sizeof(r.sample));
	}
	tap__ok(malformed() == 2 * sizeof(r.sample) && seen.samples == 1,
		"nor does a head that claims less pass");

	make_sample(0);
	r.head.type = 0;
	refuse("type 0");
	r.head.type = 4;
	refuse("an unknown type");
	make_sample(0);
	r.sample.nslots = 1;
	refuse("a slot past the end");
	r.sample.nslots = 0xffffffff;
	refuse("more slots than there can be");
	make_sample(0);
	for (unsigned int i = 0; i < XR_CHUNK_SLOTS + 1; i++)
		add_slot(XR_FORM_ANON, 0, 0);
	refuse("more slots than a record holds");
	make_sample(0x80);
	refuse("an unknown flag");
	make_sample(0);
	add_slot(XR_FORM_NONE, 0x100, 0);
	refuse("a frame without a form");
	make_sample(0);
	add_slot(XR_FORMS, 0x100, 0);
	refuse("a form past the last");
	make_sample(0);
	add_slot(0xff, 0x100, 0);
	refuse("the highest form");
	make_sample(0);
	r.sample.weight = 0;
	refuse("a sample of no weight");
	r.sample.weight = UINT64_MAX;
	refuse("a sample of more ticks than there are");
	make_sample(0);
	r.sample.unit = XR_UNIT_BYTES + 1;
	refuse("an unknown unit");
	make_sample(XR_F_OTHER_THREAD);
	add_slot(XR_FORM_ANON, 0, 0);
	refuse("another thread with frames");

	make_text(1, 1, XR_TEXT_HASHED + 1, "x");
	refuse("an unknown kind of text");
	make_text(1, 1, XR_TEXT_SYMBOL, "x");
	r.text.len = 2;
	refuse("a text past its record");
	r.text.len = 0xffffffff;
	refuse("a text of 4 GiB");
	memset(&r, 'x', sizeof(r));
	r.text.head.type = XR_REC_TEXT;
	r.text.head.size = sizeof(r);
	r.text.kind = XR_TEXT_SYMBOL;
	r.text.len = XR_NAME_MAX + 1;
	refuse("a text longer than R's names can be");
	r.text.len = XR_NAME_MAX;
	send();
	tap__ok(malformed() == 2 * sizeof(r.sample) + 17, "the longest is taken");

	make_process(0);
	refuse("event 0");
	make_process(XR_PROCESS_EXIT + 1);
	refuse("an unknown event");
	make_process(XR_PROCESS_FORK);
	memset(r.process.comm, 'x', sizeof(r.process.comm));
	refuse("a command name without an end");
	make_process(XR_PROCESS_FORK);
	r.head.size--;
	refuse("a process record cut short");
	make_process(XR_PROCESS_EXIT);
	send();
	tap__ok(seen.processes == 1, "a process record is handed on");
	finish();
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/*
 * Records that are nearly right, with bytes changed, from exactly sized heap blocks, so that the
 * sanitizers see any step out of them.  What is asserted: each record ends in one count.
 */
static void test_fuzz(void)
{
	uint64_t state = 20240229, sent = 0, texts = 0, quiet = 0;
	const struct decoder_stats *st;

	start();
	st = decoder__stats(d);
	for (int i = 0; i < 300000; i++) {
		uint64_t malformed_before = st->malformed, samples_before = st->samples;
		unsigned int processes_before = seen.processes;
		uint64_t kind = next(&state) % 8;
		size_t size;
		char *copy;

		if (kind == 0) {
			make_process(1 + (uint32_t)(next(&state) % 3));
		} else if (kind < 3) {
			make_text((uint32_t)next(&state) % 4, next(&state) % 32 << 4,
				  (uint32_t)next(&state) % 2, "some text or other");
			r.text.len = (uint32_t)next(&state) % 19;
		} else {
			make_sample((uint32_t)next(&state) & 0x2b);
			r.sample.serial = (uint32_t)next(&state) % 4;
			r.sample.cpu = (uint32_t)next(&state) % 4;
			r.sample.level = (uint16_t)(next(&state) % 3);
			r.sample.part = (uint32_t)next(&state) % 4 ? 0 : (uint32_t)next(&state) % 3;
			for (uint64_t n = next(&state) % 12; n; n--)
				add_slot(1 + next(&state) % (XR_FORMS - 1), next(&state) % 32 << 4,
					 next(&state) % 32 << 4);
		}
		size = r.head.size;
		if (next(&state) % 2)
			for (uint64_t n = next(&state) % 4; n; n--)
				((unsigned char *)&r)[next(&state) % (size < 96 ? size : 96)] =
					(unsigned char)next(&state);
		if (!(next(&state) % 8))
			size = next(&state) % (size + 1);
		copy = malloc(size ? size : 1);
		if (!copy)
			tap__bail("no memory");
		memcpy(copy, &r, size);
		decoder__record(d, copy, size);
		free(copy);
		sent++;
		if (st->malformed == malformed_before && st->samples == samples_before &&
		    seen.processes == processes_before) {
			/* a text, or a part of a sample */
			if (r.head.type == XR_REC_TEXT)
				texts++;
			else
				quiet++;
		}
		if (!(next(&state) % 1000))
			decoder__forget(d, (uint32_t)next(&state) % 4);
	}
	tap__diag("%llu sent: %llu samples, %llu malformed, %u processes, %llu texts, %llu parts",
		  (unsigned long long)sent, (unsigned long long)st->samples,
		  (unsigned long long)st->malformed, seen.processes, (unsigned long long)texts,
		  (unsigned long long)quiet);
	tap__ok(sent == st->samples + st->malformed + seen.processes + texts + quiet,
		"each record ends in exactly one count");
	tap__ok(st->samples == seen.samples, "samples counted are samples handed on");
	tap__ok(st->samples > 10000 && st->malformed > 10000 && texts > 10000 && quiet > 1000 &&
			seen.processes > 1000 && st->partial > 100 && seen.touched,
		"every way was taken");
	finish();
}

int main(void)
{
	test_names();
	test_lines();
	test_parts();
	test_levels();
	test_long();
	test_deep();
	test_malformed();
	test_fuzz();
	decoder__free(NULL);
	return tap__done();
}
