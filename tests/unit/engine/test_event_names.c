/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names of events: what each kind asks for, which names are refused, and the messages. */

#include "engine/event_names.h"
#include "layout.h"
#include "tap.h"

static bool part__same(const struct event_part *a, const struct event_part *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->at, b->at, a->len));
}

static void refused(const char *text, const char *said)
{
	struct event_name e;
	struct errmsg f = {""};
	int err = event_name__parse(&e, text, &f);

	tap__ok(err == -EINVAL && strstr(f.text, said) && !strchr(f.text, '\n'), "%.60s: %s", text,
		f.text);
}

#define PART(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* perf's names as <linux/perf_event.h> numbers them; and the other kinds. */
TEST(names)
{
	static const struct event_name rows[] = {
		{"cycles", EVENT_PERF, XR_UNIT_COUNT, 0, .config = 0},
		{"cpu-cycles", EVENT_PERF, XR_UNIT_COUNT, 0, .config = 0},
		{"instructions", EVENT_PERF, XR_UNIT_COUNT, 0, .config = 1},
		{"cache-misses", EVENT_PERF, XR_UNIT_COUNT, 0, .config = 3},
		{"branch-misses", EVENT_PERF, XR_UNIT_COUNT, 0, .config = 5},
		{"ref-cycles", EVENT_PERF, XR_UNIT_COUNT, 0, .config = 9},
		{"cpu-clock", EVENT_PERF, XR_UNIT_NS, 1, .config = 0},
		{"task-clock", EVENT_PERF, XR_UNIT_NS, 1, .config = 1},
		{"page-faults", EVENT_PERF, XR_UNIT_COUNT, 1, .config = 2},
		{"faults", EVENT_PERF, XR_UNIT_COUNT, 1, .config = 2},
		{"cs", EVENT_PERF, XR_UNIT_COUNT, 1, .config = 3},
		{"major-faults", EVENT_PERF, XR_UNIT_COUNT, 1, .config = 6},
		{"L1-dcache-loads", EVENT_PERF, XR_UNIT_COUNT, 3, .config = 0},
		{"L1-dcache-load-misses", EVENT_PERF, XR_UNIT_COUNT, 3, .config = 0x10000},
		{"L1-icache-load-misses", EVENT_PERF, XR_UNIT_COUNT, 3, .config = 0x10001},
		{"LLC-store-misses", EVENT_PERF, XR_UNIT_COUNT, 3, .config = 0x10102},
		{"dTLB-load-misses", EVENT_PERF, XR_UNIT_COUNT, 3, .config = 0x10003},
		{"node-prefetches", EVENT_PERF, XR_UNIT_COUNT, 3, .config = 0x206},
		{"r1a8", EVENT_PERF, XR_UNIT_COUNT, 4, .config = 0x1a8},
		{"rffffffffffffffff", EVENT_PERF, XR_UNIT_COUNT, 4, .config = UINT64_MAX},
		{"gc", EVENT_GC, XR_UNIT_BYTES, .config = 0},
		{"tracepoint:syscalls:sys_enter_openat", EVENT_TRACEPOINT, XR_UNIT_COUNT,
		 .group = PART("syscalls"), .name = PART("sys_enter_openat")},
		{"uprobe:/usr/lib/R/lib/libR.so:Rf_eval", EVENT_UPROBE, XR_UNIT_COUNT,
		 .path = PART("/usr/lib/R/lib/libR.so"), .name = PART("Rf_eval")},
		{"uprobe:/a:b/c.so:f.part.0+0x1f", EVENT_UPROBE, XR_UNIT_COUNT,
		 .path = PART("/a:b/c.so"), .name = PART("f.part.0"), .offset = 31},
		{"uprobe:/a:f+31", EVENT_UPROBE, XR_UNIT_COUNT, .path = PART("/a"),
		 .name = PART("f"), .offset = 31},
		{"usdt:/a b/c.so:libc:setjmp", EVENT_USDT, XR_UNIT_COUNT, .path = PART("/a b/c.so"),
		 .group = PART("libc"), .name = PART("setjmp")},
	};
	struct event_name e, again;
	struct errmsg f = {""};
	size_t n = 0;
	bool all = true;

	for (const struct event_name *want = rows; want < rows + COUNT(rows); want++)
		tap__ok(!event_name__parse(&e, want->text, &f) && e.text == want->text &&
				e.kind == want->kind && e.unit == want->unit &&
				e.type == want->type && e.config == want->config &&
				e.offset == want->offset && part__same(&e.path, &want->path) &&
				part__same(&e.group, &want->group) &&
				part__same(&e.name, &want->name),
			"%s: type %u, config %#llx%s", want->text, e.type,
			(unsigned long long)e.config, f.text);
	for (; event_names__each(n, &e); n++)
		all = all && !event_name__parse(&again, e.text, &f) && again.type == e.type &&
		      again.config == e.config;
	tap__ok(all && n > 50, "each of %zu names is understood", n);
}

TEST(refused)
{
	static const struct {
		const char *said, *texts[11]; /* NULL: no more */
	} rows[] = {
		{"not the name", {"", "cycles\n", "uprobe:/a\x1b[2J:f", "uprobe:/\xff:f"}},
		{"did you mean page-faults", {"page-fault"}},
		{"cycles", {"cycle"}},
		{"did you mean cycles", {"Cycles"}},
		{"L1-dcache-load-misses", {"L1-dcache-load-miss"}},
		{"info", {"nothing like it at all"}},
		{"no such event", {"r", "rxyz", "r11111111111111111", "tracepoint", "gcs"}},
		{"tracepoint:", {"syscalls:sys_enter_openat"}},
		{"tracepoint:, uprobe: and usdt:", {"gc:1"}},
		{"CATEGORY:NAME",
		 {"tracepoint:", "tracepoint:a", "tracepoint:a:", "tracepoint::a",
		  "tracepoint:a:b:c", "tracepoint:../..:b", "tracepoint:..:..",
		  "tracepoint:a:b/../../id"}},
		{"SYMBOL",
		 {"uprobe:", "uprobe:/a", "uprobe:/a:", "uprobe:/a:f+", "uprobe:/a:+1",
		  "uprobe:/a:f+-1", "uprobe:/a:f+1x", "uprobe:/a:f+0x",
		  "uprobe:/a:f+99999999999999999999", "uprobe:/a:f+0x100000000"}},
		{"absolute path", {"uprobe:a:b", "usdt:a:b:c"}},
		{"PROVIDER:NAME", {"usdt:/a:b", "usdt:/a::b"}},
	};
	char text[EVENT_TEXT_MAX + 2];

	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t k = 0; rows[i].texts[k]; k++)
			refused(rows[i].texts[k], rows[i].said);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	refused(text, "not the name");
	text[EVENT_TEXT_MAX] = '\0';
	refused(text, "no such event");
}

TEST(list)
{
	static const char *const names[] = {"cs", "faults", "cycles", "r1", "r2", "r3"};
	struct event_list list = {0};
	struct errmsg f = {""};
	char small[4];

	for (uint32_t i = 0; i < XR_OTHERS_MAX; i++)
		tap__ok(!event_list__add(&list, names[i], &f) && list.n == i + 1, "%s is one more",
			names[i]);
	tap__ok(event_list__add(&list, names[XR_OTHERS_MAX], &f) == -EINVAL &&
			list.n == XR_OTHERS_MAX,
		"%s", f.text);
	list.n = 1;
	tap__ok(event_list__add(&list, "cs", &f) == -EINVAL && list.n == 1, "%s", f.text);
	tap__ok(event_list__add(&list, "wrong", &f) == -EINVAL && list.n == 1, "%s", f.text);
	tap__ok(!event_list__capture(&list), "others ask nothing of rows");
	tap__ok(!event_list__add(&list, "gc", &f) &&
			event_list__capture(&list) == XR_ROW_COLLECTIONS,
		"gc asks for R's counts of its memory");
	tap__ok(event_part__copy(&(struct event_part){"abcd", 3}, small, 4) &&
			!strcmp(small, "abc") &&
			!event_part__copy(&(struct event_part){"abcd", 4}, small, 4),
		"a part is copied where it has room");
}
