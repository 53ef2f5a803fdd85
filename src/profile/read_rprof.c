/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rprof.out, as R 2.x to 4.6 and output/rprof.c write it (its head has the format).  Of the one of
 * R, beyond that:
 *
 *   memory profiling: GC profiling: line profiling: sample.interval=20000
 *   :2692990:4049006:64141560:7:"<GC>" 1#7 "g" 1#12 "f" 1#20
 *
 * Memory counts stand before all else, also on a line without frames, which is a sample of the top
 * level then; by how much they grew since the line before is a sample of `alloc_space`.  With
 * append = TRUE a file holds several profiles, each with its header.  R escapes nothing: a name may
 * hold quotes, even `" "`, which reads as the end of one and the begin of the next, and newlines.
 * A quote ends a name where what comes then can follow one; in `x[["..."]]` it is the last.  A line
 * that ends within a name goes on in the next one, unless that can stand for itself.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/parse.h"
#include "profile/allocated.h"
#include "profile/read_parts.h"

#define INTERVAL	"sample.interval="
#define INTERVAL_MAX	UINT64_C(3600000000) /* microseconds */
#define ITEM_MAX	4096 /* bytes of the string in x[["..."]] that are gone through */
#define JOINED_MAX	16   /* lines of one with newlines in its names */
#define FILE_NUMBER_MAX UINT32_MAX
#define MEMORY_MAX	(UINT64_C(1) << 45) /* of each count: more than a process can have */

/* Why a line is not a sample. */
enum { LINE_BAD = 1, LINE_OPEN = 2 /* it ends within a name */ };

struct rprof {
	struct reading *r;
	struct allocated allocated; /* of this profile, by its memory counts */
	struct sample memory;	    /* the counts of this line, if any */
	int alloc;		    /* the sample type of what was allocated; negative: none */
	struct map files;	    /* (number, 0) to struct name of `names` */
	struct intern names;	    /* of files, of this profile */
	bool unknown;		    /* a file was named by its number, as its name did not come */
	struct reader_line *last;   /* the one before; NULL: not known */
	struct buf joined;	    /* a line that did not end with its line, so far */
	unsigned int lines;	    /* how many they are */
};

/* The number behind "sample.interval=" at the end of a header; 0: it is not a header. */
static uint64_t header__interval(const char *line, size_t len)
{
	const char *digits = text__find(line, len, INTERVAL), *end = line + len;
	uint64_t value = 0;

	if (!digits || strchr(": ", *line))
		return 0;
	for (const char *s = line; s < digits; s++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ: ", *s) || !*s)
			return 0;
	digits += strlen(INTERVAL);
	for (; digits < end && *digits >= '0' && *digits <= '9' && value <= INTERVAL_MAX; digits++)
		value = 10 * value + (uint64_t)(*digits - '0');
	return digits == end && value <= INTERVAL_MAX ? value : 0;
}

bool read_rprof__header(const char *line, size_t len)
{
	return header__interval(line, len) > 0;
}

static void rprof__forget_files(struct rprof *p)
{
	map__free(&p->files);
	intern__free(&p->names);
}

/* The first line, or that of another profile behind the first. */
static int rprof__header(struct rprof *p, const char *line, size_t len)
{
	struct read_result *result = p->r->result;
	uint64_t interval = header__interval(line, len) * NS_PER_US;
	int err = reading__forget(p->r);

	p->last = NULL;
	rprof__forget_files(p);
	result->interval_ns = interval;
	p->allocated = (struct allocated){0};
	p->alloc = -1;
	if (len > 6 && !memcmp(line, "memory", 6)) {
		p->alloc = reading__type(p->r, "alloc_space", 11, PROFILE_BYTES);
		result->memory = true;
	}
	result->lines |= text__find(line, len, "line profiling") != NULL;
	result->gc |= text__find(line, len, "GC profiling") != NULL;
	return err ? err : reading__begin(p->r);
}

/* The digits at *@at; false: there are none, or too many. */
static bool text__number(const char **at, const char *end, uint64_t max, uint64_t *out)
{
	const char *s = *at;
	uint64_t value = 0;

	for (; s < end && *s >= '0' && *s <= '9'; s++) {
		value = 10 * value + (uint64_t)(*s - '0');
		if (value > max)
			return false;
	}
	if (s == *at)
		return false;
	*at = s;
	*out = value;
	return true;
}

/* `N#LINE` and a space, or the end, at *@at; the line is an int in R. */
static bool text__place(const char **at, const char *end, uint64_t *file, uint32_t *line)
{
	const char *s = *at;
	uint64_t value;
	bool minus;

	if (!text__number(&s, end, FILE_NUMBER_MAX, file) || s == end || *s++ != '#')
		return false;
	minus = s < end && *s == '-';
	s += minus;
	if (!text__number(&s, end, (uint64_t)INT32_MAX + minus, &value))
		return false;
	if (s < end && *s != ' ')
		return false;
	*line = minus ? (uint32_t) - (int64_t)value : (uint32_t)value;
	*at = s < end ? s + 1 : s;
	return true;
}

/* "#File N: NAME".  False: it is not such a line. */
static bool rprof__file(struct rprof *p, const char *line, size_t len, int *err)
{
	static const char head[] = "#File ";
	const char *at = line + strlen(head), *end = line + len;
	struct reading *r = p->r;
	const struct name *name, *before;
	uint64_t number;

	*err = 0;
	if (len < strlen(head) || memcmp(line, head, strlen(head)) != 0 ||
	    !text__number(&at, end, FILE_NUMBER_MAX, &number) || end - at < 2 ||
	    memcmp(at, ": ", 2) != 0)
		return false;
	at += 2;
	name = intern__get(&p->names, at, (size_t)(end - at));
	before = map__get(&p->files, number, 0);
	if (name == before && name)
		return true;
	/* lines that were seen say something else from here on */
	if (before || p->unknown) {
		p->last = NULL;
		*err = reading__forget(r);
	}
	p->unknown = false;
	if (!*err && (!name || map__put(&p->files, number, 0, (void *)(uintptr_t)name)))
		*err = errmsg__set(r->f, -ENOMEM, "cannot read %s: out of memory", r->in->name);
	return true;
}

/* The place that file @number and @line are.  False: no room. */
static bool rprof__place(struct rprof *p, uint64_t number, uint32_t line, struct place *place)
{
	const struct name *file = map__get(&p->files, number, 0);
	char text[24];

	if (file) {
		place->file = reading__name(p->r, file->text, file->len);
	} else { /* as tools/stackcollapse-Rprof.R has it */
		p->unknown = true;
		snprintf(text, sizeof(text), "#%llu", (unsigned long long)number);
		place->file = stacks__word(&p->r->reader->stacks, text);
	}
	place->line = line;
	return place->file;
}

/* Can a name end with the quote at @quote? */
static bool quote__ends(const char *quote, const char *end)
{
	const char *next = quote + 2;
	uint64_t file;
	uint32_t line;

	if (quote + 1 == end)
		return true;
	if (quote[1] != ' ')
		return false;
	return next == end || *next == '"' || text__place(&next, end, &file, &line);
}

/* Where the name ends that begins at @at; NULL: not in this line. */
static const char *name__end(const char *at, const char *end)
{
	const char *quote = at, *item, *close, *far;

	while ((quote = memchr(quote, '"', (size_t)(end - quote))) && !quote__ends(quote, end))
		quote++;
	item = quote ? text__find(at, (size_t)(quote + 1 - at), "[[\"") : NULL;
	if (!item || item == at ||
	    (quote - at > 3 && item + 2 < quote - 3 && !memcmp(quote - 3, "\"]]", 3)))
		return quote;
	/* x[["..." "..."]]: unless another such name comes first */
	far = end - item > ITEM_MAX ? item + ITEM_MAX : end;
	for (close = item + 3; close < far; close++) {
		close = text__find(close, (size_t)(far - close), "\"]]\"");
		if (!close || text__find(item + 3, (size_t)(close - item - 3), "[[\""))
			return quote;
		if (quote__ends(close + 3, end))
			return close + 3;
	}
	return quote;
}

/* The frames of a line, of which the place before the first is @place.  0 or why not, or -errno. */
static int rprof__frames(struct rprof *p, const char *at, const char *end, struct place place,
			 struct reader_line *says)
{
	struct reading *r = p->r;
	struct frame frame;
	bool whole = true;
	uint64_t file;
	uint32_t line;
	int err = 0;

	while (at < end && !err) {
		const char *name = at + 1, *quote = *at == '"' ? name__end(name, end) : NULL;
		const struct frame *one = NULL;

		if (!quote)
			return *at == '"' ? LINE_OPEN : LINE_BAD;
		whole = whole && reading__function(r, name, (size_t)(quote - name), &frame);
		frame.place = place;
		if (whole)
			one = stacks__frame(&r->reader->stacks, &frame);
		whole = one;
		err = one ? reading__frame_add(r, one) : 0;
		at = quote + 1 < end ? quote + 2 : end;
		place = (struct place){0};
		if (text__place(&at, end, &file, &line))
			whole = rprof__place(p, file, line, &place) && whole;
	}
	says->stack = reading__stack(r, place, whole);
	return err;
}

/* What a line that was not seen before says, memory counts apart. */
static int rprof__parse(struct rprof *p, const char *at, size_t len, struct reader_line *says)
{
	static const char gc[] = "\"<GC>\" ";
	const char *end = at + len;
	struct reading *r = p->r;
	struct place place = {0};
	uint64_t file;
	uint32_t line;
	int err = reading__make_room(r);

	if (err)
		return err;
	if (memchr(at, '\0', len))
		return LINE_BAD;
	*says = (struct reader_line){.process = r->process, .each = 1};
	r->reader->nframes = 0;
	if (len >= strlen(gc) && !memcmp(at, gc, strlen(gc))) {
		err = reading__frame_add(r, &mark_gc);
		at += strlen(gc);
	}
	if (!err && text__place(&at, end, &file, &line) && !rprof__place(p, file, line, &place))
		place.file = mark_no_room.function;
	if (!err)
		err = rprof__frames(p, at, end, place, says);
	if (!err)
		says->flags = reading__flags(r) | (r->result->lines ? XR_F_LINES : 0);
	return err;
}

/* A line that says @says was read: its stack gets what was allocated until then. */
static int rprof__allocated(struct rprof *p, const struct reader_line *says)
{
	struct sample *s = &p->memory;
	uint64_t bytes;

	if (p->alloc < 0)
		return 0;
	s->flags |= says->flags;
	bytes = allocated__sample(&p->allocated, s);
	if (!bytes)
		return 0;
	return reading__value(p->r, says->process,
			      (struct sample){.type = (uint32_t)p->alloc,
					      .weight = bytes,
					      .flags = says->flags,
					      .stack = says->stack});
}

static int rprof__count(struct rprof *p, struct reader_line *line)
{
	int err = reading__count(p->r, line);

	return err ? err : rprof__allocated(p, line);
}

/* A sample's line without its memory counts: 0, or why it is not a sample, or a negative errno. */
static int rprof__sample(struct rprof *p, const char *at, size_t len)
{
	struct reader_line says, *line = p->last;
	struct reading *r = p->r;
	uint64_t hash;
	int err;

	/* most samples are as the one before */
	if (line && line->len == len && !memcmp(line->text, at, len))
		return rprof__count(p, line);
	hash = reading__hash(at, len);
	line = reading__known(r, hash, at, len);
	if (!line) {
		p->last = NULL; /* it may be let go */
		err = rprof__parse(p, at, len, &says);
		if (err)
			return err;
		line = reading__know(r, hash, at, len, &says);
	}
	p->last = line;
	if (line)
		return rprof__count(p, line);
	err = reading__once(r, &says);
	return err ? err : rprof__allocated(p, &says);
}

/*
 * The memory counts, ":a:b:c:d:", at *@at: vectors of 8 bytes, small and large, bytes of nodes, and
 * duplications (doprof(), eval.c).  Zeros are what is written where they are not known.
 */
static void rprof__memory(struct rprof *p, const char **at, const char *end)
{
	const char *s = *at;
	uint64_t n[4];

	p->memory = (struct sample){0};
	if (s == end || *s++ != ':')
		return;
	for (int i = 0; i < 4; i++)
		if (!text__number(&s, end, UINT64_MAX / 16, &n[i]) || s == end || *s++ != ':')
			return;
	*at = s;
	if ((!n[0] && !n[1] && !n[2]) || n[0] > MEMORY_MAX || n[1] > MEMORY_MAX ||
	    n[2] > 8 * MEMORY_MAX)
		return;
	p->memory.flags = XR_F_MEMORY;
	p->memory.memory = (struct xr_memory){
		.small = 8 * n[0], .large = 8 * n[1], .nodes = n[2], .dups = n[3]};
}

/* Can a line that begins like this be one by itself? */
static bool line__stands_alone(const char *line, size_t len)
{
	return !len || strchr("\":#", *line) || (*line >= '0' && *line <= '9') ||
	       read_rprof__header(line, len);
}

/* The line that was being joined is not a sample. */
static void rprof__drop_joined(struct rprof *p, uint64_t after)
{
	if (!p->lines)
		return;
	p->r->number -= after;
	reading__bad(p->r, p->lines);
	p->r->number += after;
	p->lines = 0;
	p->joined.len = 0;
}

/* Keep a line that ends within a name, until the next. */
static int rprof__join(struct rprof *p, const char *line, size_t len)
{
	int err = buf__add(&p->joined, line, len);

	if (!err)
		err = buf__add(&p->joined, "\n", 1);
	p->lines++;
	if (!err && (p->lines == JOINED_MAX || p->joined.len > LIMIT_NAME))
		rprof__drop_joined(p, 0);
	return err;
}

/* A line behind one that ended within a name. */
static int rprof__joined(struct rprof *p, const char *line, size_t len)
{
	int err = buf__add(&p->joined, line, len);

	if (!err)
		err = rprof__sample(p, p->joined.data, p->joined.len);
	if (err < 0)
		return err;
	p->lines++;
	if (err == LINE_OPEN && p->lines < JOINED_MAX && p->joined.len <= LIMIT_NAME)
		return buf__add(&p->joined, "\n", 1);
	if (err)
		rprof__drop_joined(p, 0);
	p->lines = 0;
	p->joined.len = 0;
	return 0;
}

static int rprof__line(struct rprof *p, const char *line, size_t len)
{
	const char *at = line, *end = line + len;
	int err;

	if (p->lines && !line__stands_alone(line, len))
		return rprof__joined(p, line, len);
	rprof__drop_joined(p, 1);
	if (len && *line == '#' && rprof__file(p, line, len, &err))
		return err;
	if (len && *line != '"' && *line != ':' && read_rprof__header(line, len))
		return rprof__header(p, line, len);
	rprof__memory(p, &at, end);
	if (at == end && at == line) /* a sample only where it has memory counts */
		return 0;
	err = rprof__sample(p, at, (size_t)(end - at));
	if (err == LINE_OPEN)
		return rprof__join(p, at, (size_t)(end - at));
	if (err == LINE_BAD)
		reading__bad(p->r, 1);
	return err < 0 ? err : 0;
}

int read_rprof__file(struct reading *r)
{
	struct rprof p = {.r = r, .alloc = -1};
	const char *line;
	size_t len;
	int err;

	intern__init(&p.names, &r->reader->processes_budget);
	while ((err = reading__line(r, &line, &len)) > 0) {
		err = rprof__line(&p, line, len);
		if (err)
			break;
	}
	rprof__drop_joined(&p, 0);
	rprof__forget_files(&p);
	buf__free(&p.joined);
	return err;
}
