/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Millions of names: memory follows what is alive, within limits.h, and none is lost uncounted. */
#include <malloc.h>

#include "base/limits.h"
#include "decode_scene.h"
#include "profile/known.h"

/* At full size, and by default an eighth of it: the limits are parts of the memory. */
#define PART   (tap__all() ? 1u : 8u)
#define MEMORY (((size_t)256 << 20) / PART)

#define CHAIN	   100u /* names in one sample */
#define NAMES_EACH (tap__all() ? 50000u : 6000u)

/* What became of the names that were sent. */
static struct {
	uint64_t whole, nameless, wrong;
} names;

static uint64_t next_name; /* number of the name that the sample begins with */

static const char *numbered(uint64_t i)
{
	static char name[64];

	snprintf(name, sizeof(name), "name number %" PRIu64, i);
	return name;
}

static void on_names(void *arg, const struct sample *s)
{
	for (uint32_t i = 0; i < s->stack->nframes; i++) {
		const char *name = s->stack->frames[i]->function->text;

		if (!strcmp(name, numbered(next_name + i)))
			names.whole++;
		else if (name[0] == '<')
			names.nameless++;
		else
			names.wrong++;
	}
	if (s->stack->frames[0]->kind == FRAME_MARK) /* the whole stack did not fit */
		names.nameless += CHAIN - 1;
}

static const struct decoder_stats *begin(void)
{
	static const struct decoder_ops on = {.sample = on_names};

	tap__bail_if(decoder__new(&d, &on, NULL, MEMORY), "no memory");
	return decoder__stats(d);
}

/* One sample of @serial, of CHAIN functions whose names come with it: from number @first on. */
static void send_chain(uint32_t serial, uint64_t first)
{
	struct xr_slot slots[CHAIN];

	for (uint64_t i = 0; i < CHAIN; i++) {
		slots[i] = SYMBOL(0x1000 + (first + i) * 56);
		send_text(serial, 0x1000 + (first + i) * 56, XR_TEXT_SYMBOL, numbered(first + i));
	}
	next_name = first;
	send_sample((struct shape){.serial = serial}, slots, CHAIN);
}

/* @n names of @serial, from number @first on. */
static void send_many(uint32_t serial, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i += CHAIN)
		send_chain(serial, first + i);
}

static size_t taken(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static size_t mib(size_t bytes)
{
	return bytes >> 20;
}

TEST(come_and_go)
{
	const struct decoder_stats *st = begin();
	size_t before = taken(), early = 0, late = 0;

	for (uint32_t serial = 1; serial <= 20; serial++) {
		send_many(serial, (uint64_t)serial * 50000, NAMES_EACH);
		decoder__forget(d, serial);
		if (serial == 2)
			early = taken();
		late = taken();
	}
	tap__ok(names.whole == 20 * NAMES_EACH && !names.nameless && !names.wrong,
		"names of 20 processes, all whole: %llu", (unsigned long long)names.whole);
	tap__ok(!st->names_dropped && !st->stacks_dropped && !st->malformed, "nothing was dropped");
	tap__ok(late <= early + 65536 && late - before < 131072,
		"memory is given back: %zu bytes after two processes, %zu after 20", early - before,
		late - before);
}

TEST(one_hog)
{
	size_t before = taken(), most = 0;
	const struct decoder_stats *st = begin();
	uint64_t sent = 0;

	for (; sent < 700000 / PART; sent += 10000) {
		send_many(1, sent, 10000);
		if (taken() - before > most)
			most = taken() - before;
	}
	/* maps that grow are there twice for a moment, and half empty after it */
	tap__ok(most < LIMIT_NAMES(MEMORY) / 2 + LIMIT_MADE_ONE(MEMORY) + (16u << 20) / PART,
		"one with too many: at most %zu MiB", mib(most));
	tap__ok(names.whole > 300000 / PART && names.nameless && !names.wrong,
		"%llu are whole, and no other is taken for one", (unsigned long long)names.whole);
	tap__ok(names.whole + names.nameless == sent && st->names_dropped >= names.nameless &&
			!st->stacks_dropped && !st->malformed && st->samples == sent / CHAIN,
		"the others are counted: %llu dropped", (unsigned long long)st->names_dropped);
	names.whole = 0;
	send_many(1, 0, 10000);
	tap__ok(names.whole == 10000, "the first ones are still known");
	names.whole = 0;
	send_many(2, 5000000, 10000);
	tap__ok(names.whole == 10000, "another process keeps its names");
	decoder__forget(d, 1);
	decoder__forget(d, 2);
	tap__ok(taken() - before < 65536, "and all goes with the processes: %zu bytes are left",
		taken() - before);
}

TEST(many_hogs)
{
	size_t before = taken();
	const struct decoder_stats *st = begin();

	for (uint32_t serial = 1; serial <= 5; serial++)
		send_many(serial, 0, 380000 / PART);
	tap__ok(st->names_dropped > 0, "five of them: %llu names are dropped",
		(unsigned long long)st->names_dropped);
	tap__ok(taken() - before < LIMIT_NAMES(MEMORY) + LIMIT_MADE(MEMORY) + (64u << 20) / PART,
		"within the limit of all, %zu MiB", mib(taken() - before));
	names.whole = 0;
	send_many(7, 0, 200);
	tap__ok(names.whole == 200, "a newcomer has room for the names of a small program");
	for (uint32_t serial = 1; serial <= 7; serial++)
		decoder__forget(d, serial);
	names.whole = 0;
	send_many(8, 0, 100000 / PART);
	tap__ok(names.whole == 100000 / PART, "once they are gone there is room for all");
}

/* Endless stacks of few names: the table restarts now and then, and stacks stay right. */
TEST(stacks)
{
	size_t before = taken(), most = 0;
	uint64_t state = 1;

	begin();
	send_many(1, 0, 10000);
	names.whole = 0;
	for (int i = 0; i < 5000; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		send_chain(1, (state >> 33) % 9900);
		if (i % 100 == 0 && taken() - before > most)
			most = taken() - before;
	}
	tap__ok(names.whole == 5000ull * CHAIN && !names.nameless && !names.wrong,
		"5000 samples of 9900 stacks, all right");
	tap__ok(most < LIMIT_MADE_ONE(MEMORY), "with %zu MiB", mib(most));
}

/* Frames whose words a target chose, so that sums with factors that it can know are equal. */
TEST(chosen_frames)
{
	struct decoder_stats st = {0};
	struct knowledge all;
	struct known_frame told = {0};
	const struct frame *frame;
	struct xr_text text = {.serial = 1, .kind = XR_TEXT_SYMBOL};
	size_t equal = 0;
	uint64_t first = 0;
	struct known *k;

	known__init(&all, &st, LIMIT_MEMORY);
	k = known__of(&all, 1);
	tap__bail_if(!k, "no memory");
	while (k->slots.count < 50) {
		told.line++;
		told.name.word = 0x1000 - told.line * 0x9e3779b97f4a7c15ULL;
		if (told.name.word >> XR_FORM_SHIFT != XR_FORM_SYMBOL)
			continue;
		text.id = told.name.word & XR_WORD_MASK;
		tap__bail_if(known__text(&all, &text) || known__frame(&all, k, &told, &frame),
			     "no frame");
	}
	for (size_t i = 0; i < k->slots.cap; i++) {
		const uint64_t *hash = k->slots.records[i];

		first = hash && !first ? *hash : first;
		equal += hash && *hash == first;
	}
	tap__ok(equal == 1, "%zu of 50 have the hash of the first", equal);
	known__free_all(&all);
}
