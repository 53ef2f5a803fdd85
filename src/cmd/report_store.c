/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --dir`: which profiles of a directory are of the span that is asked for. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/calendar.h"
#include "base/clock.h"
#include "base/log.h"
#include "cmd/report.h"
#include "cmd/when.h"
#include "os/os.h"
#include "serve/interval_name.h"

#define PROFILES_MAX (1u << 20)
#define GAPS_MAX     5 /* that are listed one by one */
#define GAP_LEAST    3 /* seconds: lengths in names are rounded */
#define OPEN_LAST    8 /* profiles, the longest of which tells how long one is */
/* Characters of "2026-11-22 02:10:00 +0100" before the time, and before the zone. */
#define TIME_AT	  11
#define ZONE_AT	  19
#define SPAN_TEXT (2 * WHEN_MAX + 8)

/* The profiles of a directory, by name.  Starts as { 0 }. */
struct profiles {
	struct interval_name *names;
	size_t n, cap;
};

struct span {
	uint64_t since, until; /* seconds since 1970 */
};

static int profiles__take(void *arg, const char *text)
{
	struct profiles *p = arg;
	struct interval_name name;
	int err;

	if (!interval_name__parse(text, &name) || name.kind != INTERVAL_PROFILE)
		return 0;
	if (p->n == PROFILES_MAX)
		return -E2BIG;
	err = array__room(&p->names, p->n, &p->cap, sizeof(*p->names));
	if (!err)
		p->names[p->n++] = name;
	return err;
}

static int by_name(const void *a, const void *b)
{
	return interval_name__compare(a, b);
}

static int profiles__find(struct profiles *p, const char *dir, struct errmsg *f)
{
	int err = os__list(dir, profiles__take, p);

	if (err == -E2BIG)
		return errmsg__set(f, err, "%s has more than %u profiles", dir, PROFILES_MAX);
	if (err)
		return errmsg__set(f, err, "cannot read the directory %s: %s", dir,
				   os__reason(err));
	if (!p->n)
		return errmsg__set(
			f, -ENOENT,
			"%s has no profiles: `serve --dir` names them as 20261122T021000Z-60.pb.gz",
			dir);
	qsort(p->names, p->n, sizeof(*p->names), by_name);
	return 0;
}

/* --- messages --- */

static void span__print(char to[SPAN_TEXT], const struct span *span)
{
	char since[WHEN_MAX], until[WHEN_MAX];

	when__print(since, span->since);
	when__print(until, span->until);
	/* the day and the zone once, if they are the same */
	if (!strncmp(since, until, TIME_AT) && !strcmp(since + ZONE_AT, until + ZONE_AT)) {
		snprintf(to, SPAN_TEXT, "%.*s to %s", ZONE_AT, since, until + TIME_AT);
		return;
	}
	snprintf(to, SPAN_TEXT, "%s to %s", since, until);
}

/* Where nothing was recorded. */
struct gaps {
	unsigned int n;
	uint64_t seconds;
};

static void gaps__add(struct gaps *g, uint64_t from, uint64_t to)
{
	const struct span span = {from, to};
	char text[SPAN_TEXT];

	if (to < from + GAP_LEAST)
		return;
	g->seconds += to - from;
	if (++g->n > GAPS_MAX)
		return;
	span__print(text, &span);
	log__line("nothing was recorded from %s", text);
}

/*
 * How long what is being recorded now may last: as long as the longest of the last profiles.  The
 * very last one may be short, as the first after a start is, and those before a signal.
 */
static uint64_t profiles__open(const struct profiles *p)
{
	uint64_t longest = 0;

	for (size_t i = p->n > OPEN_LAST ? p->n - OPEN_LAST : 0; i < p->n; i++)
		if (p->names[i].seconds > longest)
			longest = p->names[i].seconds;
	return longest;
}

static void profiles__gaps(const struct profiles *p, const struct span *span)
{
	uint64_t covered = span->since, now = os__real_time() / NS_PER_S, end = span->until;
	uint64_t open = profiles__open(p);
	struct gaps gaps = {0};

	/* what is being recorded now is not there yet */
	if (end + open >= now)
		end = now > open ? now - open : 0;

	for (size_t i = 0; i < p->n && p->names[i].began < span->until; i++) {
		if (p->names[i].began > covered)
			gaps__add(&gaps, covered, p->names[i].began);
		if (interval_name__end(&p->names[i]) > covered)
			covered = interval_name__end(&p->names[i]);
	}
	if (covered < end)
		gaps__add(&gaps, covered, end);
	if (gaps.n > GAPS_MAX)
		log__line("nothing was recorded in %u more %s; %" PRIu64 " s are missing in total",
			  gaps.n - GAPS_MAX, count__word(gaps.n - GAPS_MAX, "span", "spans"),
			  gaps.seconds);
}

/* --- what is read --- */

/* The profile @name is the next file of @in. */
static int input__file(struct report_input *in, const char *dir, const struct interval_name *name)
{
	size_t len = strlen(dir) + 1 + INTERVAL_NAME_MAX;
	char text[INTERVAL_NAME_MAX], *path = malloc(len);

	if (!path)
		return -ENOMEM;
	interval_name__print(text, name);
	snprintf(path, len, "%s%s%s", dir, *dir && dir[strlen(dir) - 1] == '/' ? "" : "/", text);
	in->files[in->n++] = path;
	return 0;
}

static size_t profiles__first(const struct profiles *p, uint64_t since)
{
	size_t i = 0;

	while (i < p->n && p->names[i].began < since)
		i++;
	return i;
}

/* The profiles that begin in @span. */
static int input__make(struct report_input *in, const char *dir, const struct profiles *p,
		       const struct span *span, struct errmsg *f)
{
	size_t first = profiles__first(p, span->since), end = profiles__first(p, span->until);
	struct span covered = {0},
		    all = {p->names[0].began, interval_name__end(&p->names[p->n - 1])};
	char text[SPAN_TEXT], other[SPAN_TEXT];
	struct buf b = {0};
	int err = 0;

	span__print(text, span);
	if (end <= first) {
		span__print(other, &all);
		return errmsg__set(f, -ENOENT, "no profile in %s from %s; its profiles are from %s",
				   dir, text, other);
	}
	in->store = true;
	in->files = calloc(end - first, sizeof(*in->files));
	err = in->files ? 0 : -ENOMEM;
	covered.since = p->names[first].began;
	for (size_t i = first; i < end && !err; i++) {
		err = input__file(in, dir, &p->names[i]);
		if (interval_name__end(&p->names[i]) > covered.until)
			covered.until = interval_name__end(&p->names[i]);
	}
	span__print(other, &covered);
	err = err ? err : buf__printf(&b, "%s, %s", dir, other);
	err = err ? err : buf__add(&b, "", 1);
	in->text = b.data;
	if (err)
		return errmsg__set(f, err, "out of memory");
	log__line("%" PRIu64 " %s of %s, for %s", (uint64_t)in->n,
		  count__word(in->n, "profile", "profiles"), other, text);
	profiles__gaps(p, span);
	return 0;
}

/* What --since and --until say. */
static int span__parse(const struct report *r, const struct profiles *p, struct span *span,
		       struct errmsg *f)
{
	struct when_context c = {.now = os__real_time() / NS_PER_S, .edge = WHEN_SINCE};
	uint64_t last = interval_name__end(&p->names[p->n - 1]);
	int err = 0;

	span->since = p->names[0].began;
	/* a profile of a clock that is ahead is of no span that ends now */
	span->until = c.now;
	if (r->since)
		err = when__parse(r->since, "--since", &c, &span->since, f);
	c.edge = WHEN_UNTIL;
	c.after = r->since ? span->since : 0;
	if (!err && r->until)
		err = when__parse(r->until, "--until", &c, &span->until, f);
	else if (!err && !r->since)
		span->until = last;
	if (err)
		return err;
	if (span->until <= span->since)
		return errmsg__set(f, -EINVAL, "--until %s is not after --since %s",
				   r->until ? r->until : "now",
				   r->since ? r->since : "the first profile");
	return 0;
}

int report_store__inputs(struct report *r, struct errmsg *f)
{
	struct profiles p = {0};
	struct span span = {0}, before;
	int err = profiles__find(&p, r->dir, f);

	if (!err)
		err = span__parse(r, &p, &span, f);
	before = span;
	if (!err && r->diff)
		err = when__before(r->files[0], "--diff", os__real_time() / NS_PER_S, &before.since,
				   &before.until, f);
	if (!err && r->diff)
		err = input__make(&r->inputs[0], r->dir, &p, &before, f);
	if (!err)
		err = input__make(&r->inputs[r->diff], r->dir, &p, &span, f);
	free(p.names);
	return err;
}

void report_input__free(struct report_input *in)
{
	for (size_t i = 0; in->files && i < in->n; i++)
		free((void *)(uintptr_t)in->files[i]);
	free(in->files);
	free(in->text);
	*in = (struct report_input){0};
}
