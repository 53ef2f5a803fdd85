/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The decoder: bad records are refused, and none does harm. */
#include "decode_scene.h"
#include "some.h"

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

#define USUAL ((struct shape){0})

TEST(malformed)
{
	struct xr_slot many[XR_CHUNK_SLOTS + 1];

	start();
	make_sample(USUAL, NO_SLOTS);
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

	make_sample(USUAL, NO_SLOTS);
	r.head.type = 0;
	refuse("type 0");
	r.head.type = 5;
	refuse("an unknown type");
	make_sample(USUAL, NO_SLOTS);
	r.sample.nslots = 1;
	refuse("a slot past the end");
	r.sample.nslots = 0xffffffff;
	refuse("more slots than there can be");
	for (size_t i = 0; i < COUNT(many); i++)
		many[i] = ANON;
	make_sample(USUAL, many, XR_CHUNK_SLOTS + 1);
	refuse("more slots than a record holds");
	make_sample((struct shape){.flags = 0x80000}, NO_SLOTS);
	refuse("an unknown flag");
	make_sample(USUAL, SLOTS(FRAME(XR_FORM_NONE, 0x100, 0)));
	refuse("a frame without a form");
	make_sample(USUAL, SLOTS(FRAME(XR_FORMS, 0x100, 0)));
	refuse("a form past the last");
	make_sample(USUAL, SLOTS(FRAME(0xff, 0x100, 0)));
	refuse("the highest form");
	make_sample(USUAL, NO_SLOTS);
	r.sample.weight = 0;
	refuse("a sample of no weight");
	r.sample.weight = UINT64_MAX;
	refuse("a sample of more ticks than there are");
	make_sample(USUAL, NO_SLOTS);
	r.sample.unit = XR_UNITS;
	refuse("an unknown unit");
	make_sample((struct shape){.flags = XR_F_OTHER_THREAD}, SLOTS(ANON));
	refuse("another thread with frames");

	make_text(1, 1, XR_TEXT_LABELS + 1, "x");
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

	send_place(1, 1, 1, 1);
	for (uint32_t size = sizeof(struct xr_head); size < sizeof(struct xr_place); size++) {
		r.head.size = size;
		send();
	}
	tap__ok(malformed() == 2 * sizeof(r.sample) + 17 + sizeof(r.place) - sizeof(r.head),
		"a place cut at any byte is refused");

	make_process(0);
	refuse("event 0");
	make_process(XR_PROCESS_EVENTS);
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

/*
 * Records that are nearly right, with bytes changed, from exactly sized heap blocks, so that the
 * sanitizers see any step out of them.  What is asserted: each record ends in one count.
 */
TEST(fuzz)
{
	uint64_t sent = 0, texts = 0, parts = 0;
	const struct decoder_stats *st;

	start();
	st = decoder__stats(d);
	for (; sent < 300000; sent++) {
		const uint64_t before = st->malformed + st->samples + seen.processes;
		uint32_t kind = some(8);
		size_t size;
		char *copy;

		if (kind == 0) {
			make_process(1 + some(3));
		} else if (kind < 3) {
			make_text(some(4), some(32) << 4, some(2), "some text or other");
			r.text.len = some(19);
		} else if (kind == 3) {
			make_place(some(4), some(32) << 4, some(32) << 4, some(UINT32_MAX));
		} else {
			struct xr_slot slots[12];
			uint32_t n = some(12);

			for (uint32_t k = 0; k < n; k++)
				slots[k] =
					FRAME(1 + some(XR_FORMS - 1), some(32) << 4, some(32) << 4);
			make_sample((struct shape){.flags = some(UINT32_MAX) & 0x12b,
						   .cpu = some(4),
						   .level = (uint16_t)some(3),
						   .part = some(4) ? 0 : some(3)},
				    slots, n);
			r.sample.serial = some(4);
		}
		size = r.head.size;
		if (some(2))
			for (uint32_t n = some(4); n; n--)
				((unsigned char *)&r)[some(size < 96 ? (uint32_t)size : 96)] =
					(unsigned char)some(256);
		if (!some(8))
			size = some((uint32_t)size + 1);
		copy = malloc(size ? size : 1);
		tap__bail_if(!copy, "no memory");
		memcpy(copy, &r, size);
		decoder__record(d, copy, size);
		free(copy);
		if (st->malformed + st->samples + seen.processes == before)
			*(r.head.type == XR_REC_TEXT || r.head.type == XR_REC_PLACE ? &texts
										    : &parts) += 1;
		if (!some(1000))
			decoder__forget(d, some(4));
	}
	tap__ok(sent == st->samples + st->malformed + seen.processes + texts + parts,
		"each record ends in exactly one count");
	tap__ok(st->samples == seen.samples, "samples counted are samples handed on");
	tap__ok(st->samples > 10000 && st->malformed > 10000 && texts > 10000 && parts > 1000 &&
			seen.processes > 1000 && st->partial > 100 && seen.touched,
		"every way was taken");
	finish();
}
