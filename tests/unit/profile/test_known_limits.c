/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Millions of names: memory follows what is alive, within limits.h, and none is lost uncounted. */
#include <malloc.h>

#include "profile/decode.h"
#include "base/limits.h"
#include "tap.h"

/* At full size, and by default an eighth of it: the limits are parts of the memory. */
#define PART   (tap__all() ? 1u : 8u)
#define MEMORY (((size_t)256 << 20) / PART)

#define CHAIN	   100u /* names in one sample */
#define NAMES_EACH (tap__all() ? 50000u : 6000u)

/* What became of the names that were sent. */
static struct {
	uint64_t samples, whole, nameless, wrong;
} seen;

static struct decoder *d;
static uint64_t next_name; /* number of the name that the sample begins with */

static void on_sample(void *arg, const struct sample *s)
{
	char want[64];

	seen.samples++;
	for (uint32_t i = 0; i < s->stack->nframes; i++) {
		const char *name = s->stack->frames[i]->function->text;

		snprintf(want, sizeof(want), "name number %llu", (unsigned long long)next_name + i);
		if (!strcmp(name, want))
			seen.whole++;
		else if (name[0] == '<')
			seen.nameless++;
		else
			seen.wrong++;
	}
	if (s->stack->frames[0]->kind == FRAME_MARK) /* the whole stack did not fit */
		seen.nameless += CHAIN - 1;
}

static void start(void)
{
	static const struct decoder_ops ops = {.sample = on_sample};

	memset(&seen, 0, sizeof(seen));
	tap__bail_if(decoder__new(&d, &ops, NULL, MEMORY), "no memory");
}

/* One sample of @serial, of CHAIN functions whose names come with it: from number @first on. */
static void send(uint32_t serial, uint64_t first)
{
	static union {
		struct xr_text text;
		struct xr_sample sample;
		uint64_t words[1024];
	} r;

	for (uint64_t i = first; i < first + CHAIN; i++) {
		memset(&r, 0, 128);
		r.text.len = (uint32_t)snprintf(r.text.text, 64, "name number %llu",
						(unsigned long long)i);
		r.text.head.type = XR_REC_TEXT;
		r.text.head.size = (uint32_t)sizeof(r.text) + r.text.len;
		r.text.id = 0x1000 + i * 56;
		r.text.serial = serial;
		decoder__record(d, &r, r.text.head.size);
	}
	memset(&r, 0, sizeof(r));
	r.sample.head.type = XR_REC_SAMPLE;
	r.sample.head.size = (uint32_t)(sizeof(r.sample) + CHAIN * sizeof(struct xr_slot));
	r.sample.weight = 1;
	r.sample.serial = serial;
	r.sample.nslots = CHAIN;
	for (uint64_t i = 0; i < CHAIN; i++)
		r.sample.slots[i].word =
			(uint64_t)XR_FORM_SYMBOL << XR_FORM_SHIFT | (0x1000 + (first + i) * 56);
	next_name = first;
	decoder__record(d, &r, r.sample.head.size);
}

/* @n names of @serial, from number @first on. */
static void send_many(uint32_t serial, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i += CHAIN)
		send(serial, first + i);
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
	const struct decoder_stats *st;
	size_t before, early = 0, late = 0, most = 0;

	start();
	st = decoder__stats(d);
	before = taken();
	for (uint32_t serial = 1; serial <= 20; serial++) {
		send_many(serial, (uint64_t)serial * 50000, NAMES_EACH);
		if (taken() - before > most)
			most = taken() - before;
		decoder__forget(d, serial);
		if (serial == 2)
			early = taken();
		late = taken();
	}
	tap__ok(seen.whole == 20 * NAMES_EACH && !seen.nameless && !seen.wrong,
		"names of 20 processes, all whole: %llu", (unsigned long long)seen.whole);
	tap__ok(!st->names_dropped && !st->stacks_dropped && !st->malformed, "nothing was dropped");
	tap__ok(late <= early + 65536 && late - before < 131072,
		"memory is given back: %zu bytes after two processes, %zu after 20", early - before,
		late - before);
	tap__diag("at most %zu MiB while one ran", mib(most));
	decoder__free(d);
}

TEST(one_hog)
{
	const struct decoder_stats *st;
	size_t before = taken(), most = 0;
	uint64_t names = 0;

	start();
	st = decoder__stats(d);
	for (; names < 700000 / PART; names += 10000) {
		send_many(1, names, 10000);
		if (taken() - before > most)
			most = taken() - before;
	}
	/* maps that grow are there twice for a moment, and half empty after it */
	tap__ok(most < LIMIT_NAMES(MEMORY) / 2 + LIMIT_MADE_ONE(MEMORY) + (16u << 20) / PART,
		"one with too many: at most %zu MiB", mib(most));
	tap__ok(seen.whole > 300000 / PART && seen.nameless && !seen.wrong,
		"%llu are whole, and no other is taken for one", (unsigned long long)seen.whole);
	tap__ok(seen.whole + seen.nameless == names && st->names_dropped >= seen.nameless &&
			!st->stacks_dropped && !st->malformed && st->samples == names / CHAIN,
		"the others are counted: %llu dropped", (unsigned long long)st->names_dropped);
	seen.whole = 0;
	send_many(1, 0, 10000);
	tap__ok(seen.whole == 10000, "the first ones are still known");
	seen.whole = 0;
	send_many(2, 5000000, 10000);
	tap__ok(seen.whole == 10000, "another process keeps its names");
	decoder__forget(d, 1);
	decoder__forget(d, 2);
	tap__ok(taken() - before < 65536, "and all goes with the processes: %zu bytes are left",
		taken() - before);
	decoder__free(d);
}

TEST(many_hogs)
{
	const struct decoder_stats *st;
	size_t before = taken();

	start();
	st = decoder__stats(d);
	for (uint32_t serial = 1; serial <= 5; serial++)
		send_many(serial, 0, 380000 / PART);
	tap__ok(st->names_dropped > 0, "five of them: %llu names are dropped",
		(unsigned long long)st->names_dropped);
	tap__ok(taken() - before < LIMIT_NAMES(MEMORY) + LIMIT_MADE(MEMORY) + (64u << 20) / PART,
		"within the limit of all, %zu MiB", mib(taken() - before));
	seen.whole = 0;
	send_many(7, 0, 200);
	tap__ok(seen.whole == 200, "a newcomer has room for the names of a small program");
	for (uint32_t serial = 1; serial <= 7; serial++)
		decoder__forget(d, serial);
	seen.whole = 0;
	send_many(8, 0, 100000 / PART);
	tap__ok(seen.whole == 100000 / PART, "once they are gone there is room for all");
	decoder__free(d);
}

/* Endless stacks of few names: the table restarts now and then, and stacks stay right. */
TEST(stacks)
{
	size_t before = taken(), most = 0;
	uint64_t state = 1;

	start();
	send_many(1, 0, 10000);
	seen.whole = 0;
	for (int i = 0; i < 5000; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		send(1, (state >> 33) % 9900);
		if (i % 100 == 0 && taken() - before > most)
			most = taken() - before;
	}
	tap__ok(seen.whole == 5000ull * CHAIN && !seen.nameless && !seen.wrong,
		"5000 samples of 9900 stacks, all right");
	tap__ok(most < LIMIT_MADE_ONE(MEMORY), "with %zu MiB", mib(most));
	decoder__free(d);
}
