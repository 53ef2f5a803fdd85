/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/event_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/utf8.h"
#include "layout.h"

/*
 * Types and numbers of include/uapi/linux/perf_event.h, which is not there on each system that this
 * is built for; events.c asserts that they are these.  Names: tools/perf/util/parse-events.c and
 * evsel.c (evsel__hw_cache): of caches they say which one, what is done with it, and whether it is
 * in vain.
 */
#define TYPE_HARDWARE 0u
#define TYPE_SOFTWARE 1u
#define TYPE_CACHE    3u
#define TYPE_RAW      4u

#define HARDWARE(name, number)                                                                     \
	{                                                                                          \
		name, TYPE_HARDWARE, number, XR_UNIT_COUNT                                         \
	}
#define SOFTWARE(name, number)                                                                     \
	{                                                                                          \
		name, TYPE_SOFTWARE, number, XR_UNIT_COUNT                                         \
	}
#define CLOCK(name, number)                                                                        \
	{                                                                                          \
		name, TYPE_SOFTWARE, number, XR_UNIT_NS                                            \
	}
#define CACHE(name, cache, op, result)                                                             \
	{                                                                                          \
		name, TYPE_CACHE, cache | op << 8 | result << 16, XR_UNIT_COUNT                    \
	}
#define LOADS(name, cache)                                                                         \
	CACHE(name "-loads", cache, 0, 0), CACHE(name "-load-misses", cache, 0, 1)
#define STORES(name, cache)                                                                        \
	CACHE(name "-stores", cache, 1, 0), CACHE(name "-store-misses", cache, 1, 1)
#define PREFETCHES(name, cache)                                                                    \
	CACHE(name "-prefetches", cache, 2, 0), CACHE(name "-prefetch-misses", cache, 2, 1)

static const struct perf_name {
	const char *name;
	uint32_t type;
	uint64_t config;
	enum xr_unit unit;
} perf_names[] = {
	HARDWARE("cycles", 0),
	HARDWARE("cpu-cycles", 0),
	HARDWARE("instructions", 1),
	HARDWARE("cache-references", 2),
	HARDWARE("cache-misses", 3),
	HARDWARE("branches", 4),
	HARDWARE("branch-instructions", 4),
	HARDWARE("branch-misses", 5),
	HARDWARE("bus-cycles", 6),
	HARDWARE("stalled-cycles-frontend", 7),
	HARDWARE("idle-cycles-frontend", 7),
	HARDWARE("stalled-cycles-backend", 8),
	HARDWARE("idle-cycles-backend", 8),
	HARDWARE("ref-cycles", 9),
	CLOCK("cpu-clock", 0),
	CLOCK("task-clock", 1),
	SOFTWARE("page-faults", 2),
	SOFTWARE("faults", 2),
	SOFTWARE("context-switches", 3),
	SOFTWARE("cs", 3),
	SOFTWARE("cpu-migrations", 4),
	SOFTWARE("migrations", 4),
	SOFTWARE("minor-faults", 5),
	SOFTWARE("major-faults", 6),
	SOFTWARE("alignment-faults", 7),
	SOFTWARE("emulation-faults", 8),
	SOFTWARE("cgroup-switches", 11),
	LOADS("L1-dcache", 0),
	STORES("L1-dcache", 0),
	PREFETCHES("L1-dcache", 0),
	LOADS("L1-icache", 1),
	PREFETCHES("L1-icache", 1),
	LOADS("LLC", 2),
	STORES("LLC", 2),
	PREFETCHES("LLC", 2),
	LOADS("dTLB", 3),
	STORES("dTLB", 3),
	PREFETCHES("dTLB", 3),
	LOADS("iTLB", 4),
	LOADS("branch", 5),
	LOADS("node", 6),
	STORES("node", 6),
	PREFETCHES("node", 6),
};

#define PERF_NAMES (sizeof(perf_names) / sizeof(perf_names[0]))

static struct event_name perf_name__event(const struct perf_name *p, const char *text)
{
	return (struct event_name){
		.text = text,
		.kind = EVENT_PERF,
		.unit = p->unit,
		.type = p->type,
		.config = p->config,
	};
}

bool event_names__each(size_t i, struct event_name *e)
{
	if (i < PERF_NAMES)
		*e = perf_name__event(&perf_names[i], perf_names[i].name);
	return i < PERF_NAMES;
}

bool event_part__copy(const struct event_part *part, char *to, size_t size)
{
	if (part->len >= size)
		return false;
	memcpy(to, part->at, part->len);
	to[part->len] = '\0';
	return true;
}

/* Of a tracepoint, a provider or a symbol: what the kernel and compilers make them of. */
static bool part__is_name(const struct event_part *part)
{
	for (uint32_t i = 0; i < part->len; i++) {
		const char c = part->at[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '.' || c == '$' || c == '@' || c == '-'))
			return false;
	}
	return part->len && strncmp(part->at, "..", 2) != 0 && part->at[0] != '-';
}

/* What is behind the last `:` of the @len bytes at @at, and how many are before it; false: none. */
static bool part__last(const char *at, uint32_t *len, struct event_part *last)
{
	uint32_t i = *len;

	while (i && at[i - 1] != ':')
		i--;
	if (!i)
		return false;
	*last = (struct event_part){at + i, *len - i};
	*len = i - 1;
	return true;
}

static int tracepoint__parse(struct event_name *e, const char *rest, struct errmsg *f)
{
	uint32_t len = (uint32_t)strlen(rest);

	if (part__last(rest, &len, &e->name)) {
		e->group = (struct event_part){rest, len};
		if (part__is_name(&e->group) && part__is_name(&e->name))
			return 0;
	}
	return errmsg__set(f, -EINVAL,
			   "--event %s: not tracepoint:CATEGORY:NAME, such as "
			   "tracepoint:syscalls:sys_enter_openat",
			   e->text);
}

/* "0x1f" or "31" at @text, @len bytes, to the end. */
static bool offset__parse(const char *text, uint32_t len, uint64_t *offset)
{
	char word[24], *end;

	if (!len || len >= sizeof(word) || text[0] < '0' || text[0] > '9')
		return false;
	memcpy(word, text, len);
	word[len] = '\0';
	errno = 0;
	*offset = strtoull(word, &end, strncmp(word, "0x", 2) ? 10 : 16);
	return !errno && !*end && *offset < 1ULL << 32;
}

static int uprobe__parse(struct event_name *e, const char *rest, struct errmsg *f)
{
	uint32_t len = (uint32_t)strlen(rest);
	const char *plus;
	bool good = part__last(rest, &len, &e->name);

	e->path = (struct event_part){rest, len};
	plus = good ? memchr(e->name.at, '+', e->name.len) : NULL;
	if (plus) {
		const uint32_t before = (uint32_t)(plus - e->name.at);

		good = offset__parse(plus + 1, e->name.len - before - 1, &e->offset);
		e->name.len = before;
	}
	if (good && rest[0] == '/' && part__is_name(&e->name))
		return 0;
	return errmsg__set(f, -EINVAL,
			   "--event %s: not uprobe:/PATH:SYMBOL or uprobe:/PATH:SYMBOL+OFFSET with "
			   "an absolute path",
			   e->text);
}

static int usdt__parse(struct event_name *e, const char *rest, struct errmsg *f)
{
	uint32_t len = (uint32_t)strlen(rest);
	const bool good = part__last(rest, &len, &e->name) && part__last(rest, &len, &e->group);

	e->path = (struct event_part){rest, len};
	if (good && rest[0] == '/' && part__is_name(&e->group) && part__is_name(&e->name))
		return 0;
	return errmsg__set(f, -EINVAL,
			   "--event %s: not usdt:/PATH:PROVIDER:NAME with an absolute path",
			   e->text);
}

/*
 * The kinds that have a prefix; all else is one of perf's names.  `colon`: there is
 * more behind the word and a colon, which `parse` is given; else the word is all.
 */
static const struct kind {
	const char *word;
	bool colon;
	enum event_kind kind;
	enum xr_unit unit;
	int (*parse)(struct event_name *e, const char *rest, struct errmsg *f);
} kinds[] = {
	{"tracepoint", true, EVENT_TRACEPOINT, XR_UNIT_COUNT, tracepoint__parse},
	{"uprobe", true, EVENT_UPROBE, XR_UNIT_COUNT, uprobe__parse},
	{"usdt", true, EVENT_USDT, XR_UNIT_COUNT, usdt__parse},
	{"gc", false, EVENT_GC, XR_UNIT_BYTES, NULL},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* perf's rNNN: what the CPU's manual says, hexadecimal. */
static bool raw__parse(struct event_name *e, const char *text)
{
	const size_t len = strlen(text);
	char *end;

	if (len < 2 || len > 17 || text[0] != 'r' ||
	    strspn(text + 1, "0123456789abcdefABCDEF") != len - 1)
		return false;
	*e = (struct event_name){
		.text = text,
		.kind = EVENT_PERF,
		.unit = XR_UNIT_COUNT,
		.type = TYPE_RAW,
		.config = strtoull(text + 1, &end, 16),
	};
	return true;
}

#define LIKE_MAX 40u /* bytes of names that are compared */

/* How many changes of one character make @a of @b. */
static uint32_t text__distance(const char *a, const char *b)
{
	uint32_t row[LIKE_MAX + 1], la = (uint32_t)strlen(a), lb = (uint32_t)strlen(b);

	if (la > LIKE_MAX || lb > LIKE_MAX)
		return UINT32_MAX;
	for (uint32_t j = 0; j <= lb; j++)
		row[j] = j;
	for (uint32_t i = 1; i <= la; i++) {
		uint32_t diagonal = row[0];

		row[0] = i;
		for (uint32_t j = 1; j <= lb; j++) {
			uint32_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

#define LIKE 3u /* names that are suggested */

/* Suggest the names nearest to @text. */
static int event__unknown(const char *text, struct errmsg *f)
{
	const struct perf_name *like[LIKE] = {NULL};
	uint32_t far[LIKE], most = (uint32_t)strlen(text) / 2;
	char names[160] = "";

	for (size_t k = 0; k < LIKE; k++)
		far[k] = UINT32_MAX;
	for (size_t i = 0; i < PERF_NAMES; i++) {
		const struct perf_name *p = &perf_names[i];
		uint32_t d = strstr(p->name, text) ? 1 : text__distance(text, p->name);

		for (size_t k = 0; k < LIKE && d <= most; k++) {
			const struct perf_name *other = like[k];
			const uint32_t was = far[k];

			if (d >= was)
				continue;
			like[k] = p;
			far[k] = d;
			p = other;
			d = was;
			if (!p)
				break;
		}
	}
	for (size_t k = 0; k < LIKE && like[k]; k++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 k ? ", " : "; did you mean ", like[k]->name);
	if (strchr(text, ':'))
		return errmsg__set(f, -EINVAL,
				   "--event %s: no such kind of event; available: tracepoint:, "
				   "uprobe: and usdt:",
				   text);
	return errmsg__set(
		f, -EINVAL, "--event %s: no such event%s%s", text, names,
		names[0] ? "?"
			 : "; `xrprof-bpf info` lists them, or give tracepoint:CATEGORY:NAME, "
			   "uprobe:/PATH:SYMBOL, usdt:/PATH:PROVIDER:NAME");
}

/* Text that can stand in a line for people and in all formats. */
static bool text__good(const char *text)
{
	size_t len;

	if (!*text || strlen(text) > EVENT_TEXT_MAX)
		return false;
	for (; *text; text += len) {
		len = utf8__length(text);
		if (!len || utf8__acts(text, len))
			return false;
	}
	return true;
}

int event_name__parse(struct event_name *e, const char *text, struct errmsg *f)
{
	*e = (struct event_name){.text = text};
	if (!text__good(text))
		return errmsg__set(
			f, -EINVAL,
			"--event: not the name of an event: a name has 1 to %u bytes of text",
			EVENT_TEXT_MAX);
	for (size_t i = 0; i < KINDS; i++) {
		const struct kind *k = &kinds[i];
		const size_t len = strlen(k->word);

		if (strncmp(text, k->word, len) != 0 || text[len] != (k->colon ? ':' : '\0'))
			continue;
		e->kind = k->kind;
		e->unit = k->unit;
		return k->parse ? k->parse(e, text + len + k->colon, f) : 0;
	}
	for (size_t i = 0; i < PERF_NAMES; i++) {
		if (strcmp(perf_names[i].name, text) != 0)
			continue;
		*e = perf_name__event(&perf_names[i], text);
		return 0;
	}
	return raw__parse(e, text) ? 0 : event__unknown(text, f);
}

int event_list__add(struct event_list *list, const char *text, struct errmsg *f)
{
	if (list->n == XR_OTHERS_MAX)
		return errmsg__set(f, -EINVAL, "--event %s: more than %u events", text,
				   XR_OTHERS_MAX);
	for (uint32_t i = 0; i < list->n; i++)
		if (!strcmp(list->all[i].text, text))
			return errmsg__set(f, -EINVAL, "--event %s: given twice", text);
	if (event_name__parse(&list->all[list->n], text, f))
		return -EINVAL;
	list->n++;
	return 0;
}

uint32_t event_list__capture(const struct event_list *list)
{
	uint32_t capture = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (list->all[i].kind == EVENT_GC)
			capture |= XR_ROW_COLLECTIONS;
	return capture;
}
