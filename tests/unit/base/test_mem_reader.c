/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/mem_reader.h"
#include "tap.h"

/* Memory from 100 to 100 + the length of the text; beyond 1000 the process is gone. */
static const char text[] = "the bytes that can be read";

static int text__read(void *arg, uint64_t addr, void *to, size_t len)
{
	if (addr > 1000)
		return -ESRCH;
	if (addr < 100 || addr - 100 > sizeof(text) || len > sizeof(text) - (addr - 100))
		return -EFAULT;
	memcpy(to, text + (addr - 100), len);
	return 0;
}

static int text__read_spans(void *arg, const struct mem_span *spans, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int err = text__read(arg, spans[i].addr, spans[i].to, spans[i].len);

		if (err)
			return err == -ESRCH ? err : (int)i;
	}
	return (int)n;
}

TEST(one_at_a_time)
{
	const struct mem_reader m = {.read = text__read};
	char a[8] = "", b[8] = "", c[8] = "";
	struct mem_span spans[] = {{100, a, 3}, {104, b, 5}, {50, c, 2}, {110, c, 2}};
	struct mem_span gone[] = {{100, a, 3}, {2000, b, 5}};

	tap__ok(mem_reader__read_spans(&m, spans, 4) == 2 && !strcmp(a, "the") &&
			!strcmp(b, "bytes") && !c[0],
		"spans up to the first that cannot be read");
	tap__ok(mem_reader__read_spans(&m, spans, 2) == 2, "all spans");
	tap__ok(mem_reader__read_spans(&m, gone, 2) == -ESRCH, "gone in between");
}

TEST(at_once)
{
	const struct mem_reader m = {.read_spans = text__read_spans};
	struct mem_span many[MEM_SPANS_MAX + 1];
	char a[8] = "";

	tap__ok(!mem_reader__read(&m, 104, a, 5) && !strcmp(a, "bytes"), "bytes");
	tap__ok(mem_reader__read(&m, 99, a, 5) == -EFAULT, "not all can be read");
	tap__ok(mem_reader__read(&m, 2000, a, 5) == -ESRCH, "gone");
	for (uint32_t i = 0; i < MEM_SPANS_MAX + 1; i++)
		many[i] = (struct mem_span){100, a, 3};
	tap__ok(mem_reader__read_spans(&m, many, MEM_SPANS_MAX) == MEM_SPANS_MAX &&
			mem_reader__read_spans(&m, many, MEM_SPANS_MAX + 1) == -EINVAL,
		"no more than at most");
}
