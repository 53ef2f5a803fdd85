/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The timeline: nothing is lost, and it does not grow without end. */
#include "profile/timeline.h"
#include "tap.h"

static uint64_t total(const struct timeline *t, uint32_t row)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->n; i++)
		sum += t->entries[i].row == row ? t->entries[i].value : 0;
	return sum;
}

static void test_spans(void)
{
	struct timeline t = {0};
	uint64_t begin = 1000;

	tap__ok(timeline__spans(&t) == 0, "nothing at first");
	tap__ok(!timeline__add(&t, 0, begin, 1) && !timeline__add(&t, 0, begin + 1, 1) &&
			!timeline__add(&t, 1, begin + TIMELINE_WIDTH, 2) &&
			!timeline__add(&t, 0, begin + 3 * TIMELINE_WIDTH, 1),
		"added");
	tap__ok(t.n == 3 && timeline__spans(&t) == 4 && t.begin == begin && total(&t, 0) == 3 &&
			t.entries[0].value == 2 && t.entries[1].span == 1 && t.entries[2].span == 3,
		"equal rows of a span are one entry");
	tap__ok(!timeline__add(&t, 0, 0, 1) && total(&t, 0) == 4 && timeline__spans(&t) == 4,
		"what is from before the first is not lost");
	timeline__free(&t);
	tap__ok(!t.n && !t.width, "as new");
}

static void test_long(void)
{
	struct timeline t = {0};
	uint64_t n = 0;

	for (uint64_t time = 5; n < 100000; n++, time += 10 * TIMELINE_WIDTH)
		if (timeline__add(&t, n % 3, time, 1))
			tap__bail("no memory");
	tap__ok(total(&t, 0) + total(&t, 1) + total(&t, 2) == n, "a long one keeps all");
	tap__ok(timeline__spans(&t) <= TIMELINE_SPANS && timeline__spans(&t) > TIMELINE_SPANS / 4 &&
			t.n <= 3 * TIMELINE_SPANS,
		"in %u spans, %zu entries", timeline__spans(&t), t.n);
	tap__ok((t.width & (t.width - 1)) == 0, "a span is a power of two");
	timeline__free(&t);
}

static void test_many(void)
{
	struct timeline t = {0};
	const uint32_t rows = 100000;
	uint64_t n = 0;

	for (uint32_t round = 0; round < 20; round++)
		for (uint32_t row = 0; row < rows; row++, n++)
			if (timeline__add(&t, row, n * TIMELINE_WIDTH / 1000, 1))
				tap__bail("no memory");
	tap__ok(t.n <= TIMELINE_ENTRIES + rows, "%zu entries of %u rows", t.n, rows);
	tap__ok(total(&t, 0) == 20 && total(&t, rows - 1) == 20, "and all is there");
	timeline__free(&t);
}

int main(void)
{
	test_spans();
	test_long();
	test_many();
	return tap__done();
}
