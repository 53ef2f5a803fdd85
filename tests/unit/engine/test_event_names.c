/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names of events: what each kind asks for, which names are refused, and the messages. */

#include "engine/event_names.h"
#include "layout.h"
#include "tap.h"

static bool part__is(const struct event_part *part, const char *text)
{
	return part->len == strlen(text) && !memcmp(part->at, text, part->len);
}

static void perf(const char *text, uint32_t type, uint64_t config, enum xr_unit unit)
{
	struct event_name e;
	struct errmsg f = {""};
	int err = event_name__parse(&e, text, &f);

	tap__ok(!err && e.kind == EVENT_PERF && e.type == type && e.config == config &&
			e.unit == unit && e.text == text,
		"%s: type %u, config %#llx%s", text, e.type, (unsigned long long)e.config, f.text);
}

static void refused(const char *text, const char *said)
{
	struct event_name e;
	struct errmsg f = {""};
	int err = event_name__parse(&e, text, &f);

	tap__ok(err == -EINVAL && strstr(f.text, said) && !strchr(f.text, '\n'), "%.60s: %s", text,
		f.text);
}

/* R's own event: it has no parts, and asks for rows. */
TEST(gc)
{
	struct event_list list = {.n = 0};
	struct errmsg f = {""};
	struct event_name e;

	tap__ok(!event_name__parse(&e, "gc", &f) && e.kind == EVENT_GC && e.unit == XR_UNIT_BYTES,
		"gc: in bytes%s", f.text);
	tap__ok(!event_list__add(&list, "cs", &f) && !event_list__capture(&list),
		"others ask nothing of rows");
	tap__ok(!event_list__add(&list, "gc", &f) &&
			event_list__capture(&list) == XR_ROW_COLLECTIONS,
		"gc asks for R's counts of its memory");
}

/* As <linux/perf_event.h> numbers them. */
TEST(perf)
{
	struct event_name e, again;
	struct errmsg f;
	size_t n = 0;
	bool all = true;

	perf("cycles", 0, 0, XR_UNIT_COUNT);
	perf("cpu-cycles", 0, 0, XR_UNIT_COUNT);
	perf("instructions", 0, 1, XR_UNIT_COUNT);
	perf("cache-misses", 0, 3, XR_UNIT_COUNT);
	perf("branch-misses", 0, 5, XR_UNIT_COUNT);
	perf("ref-cycles", 0, 9, XR_UNIT_COUNT);
	perf("cpu-clock", 1, 0, XR_UNIT_NS);
	perf("task-clock", 1, 1, XR_UNIT_NS);
	perf("page-faults", 1, 2, XR_UNIT_COUNT);
	perf("faults", 1, 2, XR_UNIT_COUNT);
	perf("cs", 1, 3, XR_UNIT_COUNT);
	perf("major-faults", 1, 6, XR_UNIT_COUNT);
	perf("L1-dcache-loads", 3, 0, XR_UNIT_COUNT);
	perf("L1-dcache-load-misses", 3, 0x10000, XR_UNIT_COUNT);
	perf("L1-icache-load-misses", 3, 0x10001, XR_UNIT_COUNT);
	perf("LLC-store-misses", 3, 0x10102, XR_UNIT_COUNT);
	perf("dTLB-load-misses", 3, 0x10003, XR_UNIT_COUNT);
	perf("node-prefetches", 3, 0x206, XR_UNIT_COUNT);
	perf("r1a8", 4, 0x1a8, XR_UNIT_COUNT);
	perf("rffffffffffffffff", 4, UINT64_MAX, XR_UNIT_COUNT);
	for (; event_names__each(n, &e); n++)
		all = all && !event_name__parse(&again, e.text, &f) && again.type == e.type &&
		      again.config == e.config;
	tap__ok(all && n > 50, "each of %zu names is understood", n);
}

TEST(kinds)
{
	struct event_name e;
	struct errmsg f;

	tap__ok(!event_name__parse(&e, "tracepoint:syscalls:sys_enter_openat", &f) &&
			e.kind == EVENT_TRACEPOINT && part__is(&e.group, "syscalls") &&
			part__is(&e.name, "sys_enter_openat") && e.unit == XR_UNIT_COUNT,
		"a tracepoint");
	tap__ok(!event_name__parse(&e, "uprobe:/usr/lib/R/lib/libR.so:Rf_eval", &f) &&
			e.kind == EVENT_UPROBE && part__is(&e.path, "/usr/lib/R/lib/libR.so") &&
			part__is(&e.name, "Rf_eval") && !e.offset,
		"a function");
	tap__ok(!event_name__parse(&e, "uprobe:/a:b/c.so:f.part.0+0x1f", &f) &&
			part__is(&e.path, "/a:b/c.so") && part__is(&e.name, "f.part.0") &&
			e.offset == 31,
		"an instruction of it, in a file with a colon");
	tap__ok(!event_name__parse(&e, "uprobe:/a:f+31", &f) && e.offset == 31, "decimal");
	tap__ok(!event_name__parse(&e, "usdt:/a b/c.so:libc:setjmp", &f) && e.kind == EVENT_USDT &&
			part__is(&e.path, "/a b/c.so") && part__is(&e.group, "libc") &&
			part__is(&e.name, "setjmp"),
		"a probe of a file");
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
	tap__ok(event_part__copy(&(struct event_part){"abcd", 3}, small, 4) &&
			!strcmp(small, "abc") &&
			!event_part__copy(&(struct event_part){"abcd", 4}, small, 4),
		"a part is copied where it has room");
}
