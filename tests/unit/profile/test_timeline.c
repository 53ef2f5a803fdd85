/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The timeline: nothing is lost, and it does not grow without end. */
#include "profile/timeline.h"
#include "tap.h"

static struct timeline t;

static uint64_t total(uint32_t row)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t.n; i++)
		sum += t.entries[i].row == row ? t.entries[i].value : 0;
	return sum;
}

TEST(spans)
{
	uint64_t begin = 1000;

	tap__ok(timeline__spans(&t) == 0, "nothing at first");
	tap__ok(!timeline__add(&t, 0, begin, 1) && !timeline__add(&t, 0, begin + 1, 1) &&
			!timeline__add(&t, 1, begin + TIMELINE_WIDTH, 2) &&
			!timeline__add(&t, 0, begin + 3 * TIMELINE_WIDTH, 1),
		"added");
	tap__ok(t.n == 3 && timeline__spans(&t) == 4 && t.begin == begin && total(0) == 3 &&
			t.entries[0].value == 2 && t.entries[1].span == 1 && t.entries[2].span == 3,
		"equal rows of a span are one entry");
	tap__ok(!timeline__add(&t, 0, 0, 1) && total(0) == 4 && timeline__spans(&t) == 4,
		"what is from before the first is not lost");
	timeline__free(&t);
	tap__ok(!t.n && !t.width, "as new");
}

TEST(wider)
{
	uint32_t right = 0;

	for (uint32_t i = 0; i <= TIMELINE_SPANS; i++)
		tap__bail_if(timeline__add(&t, i % 2, 7 + i * TIMELINE_WIDTH, i), "no memory");
	for (size_t i = 0; i < t.n; i++)
		right += t.entries[i].value == 2 * t.entries[i].span + t.entries[i].row;
	tap__ok(t.width == 2 * TIMELINE_WIDTH && t.n == TIMELINE_SPANS + 1 && right == t.n,
		"%u of %zu are in the span of their time", right, t.n);
}

TEST(many)
{
	const uint32_t rows = 100000;
	uint64_t n = 0;

	for (uint32_t round = 0; round < 20; round++)
		for (uint32_t row = 0; row < rows; row++, n++)
			tap__bail_if(timeline__add(&t, row, n * TIMELINE_WIDTH / 1000, 1),
				     "no memory");
	tap__ok(t.n <= TIMELINE_ENTRIES + rows, "%zu entries of %u rows", t.n, rows);
	tap__ok(total(0) == 20 && total(rows - 1) == 20, "and all is there");
}

/* Spans of @row from the first to the last that has anything, and whether one between has none. */
static uint32_t covered(uint32_t row, uint32_t *holes)
{
	static uint64_t values[TIMELINE_SPANS];
	uint32_t first = UINT32_MAX, last = 0;

	memset(values, 0, sizeof(values));
	for (size_t i = 0; i < t.n; i++)
		if (t.entries[i].row == row)
			values[t.entries[i].span] += t.entries[i].value;
	for (uint32_t i = 0; i < TIMELINE_SPANS; i++) {
		if (!values[i])
			continue;
		first = first < i ? first : i;
		last = i;
	}
	*holes = 0;
	for (uint32_t i = first; i < last; i++)
		*holes += !values[i];
	return first > last ? 0 : last - first + 1;
}

TEST(spread)
{
	const uint64_t second = 1000000000, begin = 7 * second;
	uint32_t spans, holes;
	uint64_t sum = 0;

	tap__ok(!timeline__spread(&t, 0, begin, begin + second, second) && total(0) == second,
		"a wait is all there");
	spans = covered(0, &holes);
	tap__ok(t.begin == begin && !holes && spans * TIMELINE_WIDTH >= second &&
			(spans - 2) * TIMELINE_WIDTH <= second,
		"over the time that it took, from its beginning on, in %u spans", spans);
	tap__ok(!timeline__spread(&t, 1, begin, begin + second, 3) && total(1) == 3 &&
			covered(1, &holes) > spans / 2,
		"a few ticks, too");
	tap__ok(!timeline__spread(&t, 2, begin - second, begin + second / 2, 1000) &&
			total(2) == 1000 && covered(2, &holes) <= spans / 2 + 1,
		"what began before all is over what there is");
	tap__ok(!timeline__spread(&t, 3, 5, 6, 17) && !timeline__spread(&t, 3, begin, begin, 18) &&
			total(3) == 35 && covered(3, &holes) == 1,
		"what ended before is not lost, nor what took no time");
	timeline__free(&t);

	/* longer than it has spans of the first width, and than a double has digits */
	tap__ok(!timeline__spread(&t, 0, 0, UINT64_MAX, UINT64_MAX / 3) &&
			total(0) == UINT64_MAX / 3 && t.n <= TIMELINE_PIECES + 1,
		"the longest that can be, in %zu entries", t.n);
	timeline__free(&t);

	for (uint32_t i = 0; i < 2000; i++)
		tap__bail_if(
			timeline__spread(&t, i % 7, i * second, (i + 1) * second, second + i % 2),
			"no memory");
	for (uint32_t row = 0; row < 7; row++)
		sum += total(row);
	tap__ok(sum == 2000 * second + 1000,
		"2000 of them, and nothing is lost as spans become wider");
	tap__ok(timeline__spans(&t) <= TIMELINE_SPANS && timeline__spans(&t) > TIMELINE_SPANS / 4 &&
			(t.width & (t.width - 1)) == 0,
		"a long one has %u spans, of a power of two", timeline__spans(&t));
}
