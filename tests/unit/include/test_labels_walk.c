/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The labels of R's program, over images of R's memory: what they cost, and every way in which the
 * option may be something else.
 */
#include "lines_scene.h"

static struct scene s;
static uint64_t sym_names, last; /* a symbol; the last option before ours */
static uint64_t count_at;	 /* the number of collections */

BEFORE()
{
	struct xr_row *row = &s.row;

	scene__init(&s, layout_now());
	row->flags = XR_ROW_LABELS;
	row->labels_tag = image__symbol(&s.m, "xrprof.labels");
	sym_names = row->sym_names = image__symbol(&s.m, "names");
	last = image__cell(&s.m, R_LISTSXP, s.m.nil, s.m.nil, image__symbol(&s.m, "width"));
	count_at = row->gc_count_at = image__alloc(&s.m, 8);
	row->labels_at = last;
	push(&s, "f", 0);
}

static uint64_t strings(const char *const *texts, uint32_t n)
{
	uint64_t all[16];

	for (uint32_t i = 0; i < n; i++)
		all[i] = image__charsxp(&s.m, texts[i]);
	return image__vector(&s.m, R_STRSXP, n, all, 8 * n);
}

/* Have @value be that of the option. */
static void set(uint64_t value)
{
	image__put64(&s.m, last + 8 * R_CDR,
		     image__cell(&s.m, R_LISTSXP, value, s.m.nil, s.row.labels_tag));
}

/* A vector with names. */
static uint64_t named(const char *const *keys, const char *const *values, uint32_t n)
{
	uint64_t at = strings(values, n);

	image__attribute(&s.m, at, sym_names, strings(keys, n));
	return at;
}

static uint64_t one(const char *key, const char *value)
{
	return named(&key, &value, 1);
}

/* The labels that a walk finds: "key=value;..."; "" for none. */
static const char *walked(struct recorded_walk *r)
{
	const bool packages = r->walk.row.flags & XR_ROW_PACKAGES;

	tap__bail_if(recorded_walk__again(r) != WALK_DONE, "the walk does not end");
	if (!(r->walk.first & XR_F_LABELS))
		return r->nslots == r->walk.frames * (1 + packages) ? "" : "(slots)";
	return recorded_walk__text(r, r->slots[0].word);
}

static void check_labels(const char *wanted, const char *what)
{
	struct recorded_walk *r = run__new(&s);

	tap__is(walked(r), wanted, "%s", what);
	run__free(r);
}

/* The same, once @value is that of the option. */
static void check_value(uint64_t value, const char *wanted, const char *what)
{
	set(value);
	check_labels(wanted, what);
}

TEST(values)
{
	static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
	char longest[400], cut[400];

	check_labels("", "the option is not set");
	check_value(one("route", "/predict"), "route=/predict;", "a label");
	check_value(named(keys, keys, 2), "a=a;b=b;", "two");
	check_value(named(keys, keys, 10), "a=a;b=b;c=c;d=d;e=e;f=f;g=g;h=h;",
		    "more than there may be");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	snprintf(cut, sizeof(cut), "%.*s=%.*s;", (int)XR_LABEL_KEY_MAX, longest,
		 (int)XR_LABEL_VALUE_MAX, longest);
	check_value(one(longest, longest), cut, "texts that are too long are cut");
}

TEST(others)
{
	const char *unnamed = "x";
	uint64_t at, cell;

	check_value(strings(&unnamed, 1), "", "a vector without names");
	check_value(s.m.nil, "", "NULL");
	check_value(image__int(&s.m, 7), "", "a number");
	check_value(image__string(&s.m, "x"), "", "a string without attributes");
	check_value(strings(&unnamed, 0), "", "no strings");
	check_value(0x1234560, "", "an address of nothing");
	at = one("a", "b");
	image__put64(&s.m, at + 48, 0x1234560);
	check_value(at, "", "a string at an address of nothing");
	at = one("a", "b");
	image__put64(&s.m, at + 8 * R_CAR, 1ULL << 40);
	check_value(at, "a=b;", "a length that is not true: there are as many as names");
	at = one("a", "b");
	cell = image__get64(&s.m, at + 8);
	image__put64(&s.m, cell + 8 * R_CDR, cell);
	image__put64(&s.m, cell + 8 * R_TAG, s.m.dollar);
	check_value(at, "", "attributes that lead in a circle");
	at = one("a", "b");
	image__put64(&s.m, at, R_STRSXP | R_ALTREP_BIT);
	check_value(at, "", "an ALTREP object");
	set(one("a", "b"));
	at = image__get64(&s.m, last + 8 * R_CDR);
	image__put64(&s.m, at + 8 * R_TAG, s.m.dollar);
	check_labels("", "another option");
	image__put64(&s.m, last + 8 * R_CDR, 0x1234560);
	check_labels("", "a cell at an address of nothing");
	s.row.labels_at = 0x1234560;
	check_labels("", "and the one before it");
}

/* Reads of a walk of @w by @r. */
static uint64_t reads(struct recorded_walk *r)
{
	const uint64_t before = s.m.reads;

	walked(r);
	return s.m.reads - before;
}

TEST(cost)
{
	uint64_t value, plain, none, again;
	struct recorded_walk *r;

	value = one("a", "b");
	set(value);
	r = run__new(&s);
	r->walk.row.labels_at = 0;
	plain = reads(r);
	r->walk.row.flags = 0;
	tap__ok(reads(r) == plain, "without an option there is no read more");
	/* with packages the number of collections is read anyway */
	r->walk.row = s.row;
	r->walk.row.labels_at = 0;
	r->walk.row.flags |= XR_ROW_PACKAGES;
	r->walk.steady = 1;
	reads(r);
	none = reads(r);
	r->walk.row.labels_at = last;
	tap__ok(reads(r) > none + 2, "labels that are new are read");
	again = reads(r);
	tap__ok(again == none + 2, "the same again: %d reads more", (int)(again - none));
	tap__is(walked(r), "a=b;", "which find them");
	image__put64(&s.m, count_at, 1);
	image__put64(&s.m, value + 48, image__charsxp(&s.m, "c"));
	tap__is(walked(r), "a=c;", "after a collection the same address may be another vector");
	set(one("x", "y"));
	tap__is(walked(r), "x=y;", "another vector");
	r->walk.row.serial++;
	tap__ok(reads(r) > none + 2 && reads(r) == none + 2,
		"a forked child's are read, and so sent, for it");
	image__put64(&s.m, last + 8 * R_CDR, s.m.nil);
	tap__is(walked(r), "", "none at once, when the option is removed");
	tap__ok(reads(r) == none + 1, "which takes one read");
	set(value);
	tap__is(walked(r), "a=c;", "and again with a new cell");
	run__free(r);
}

TEST(faults)
{
	static const char *const keys[] = {"a", "b"};
	bool good = true;
	uint64_t n;

	set(named(keys, keys, 2));
	check_labels("a=a;b=b;", "all reads succeed");
	n = s.m.reads;
	for (uint64_t i = 1; i <= n && good; i++) {
		const char *got = "";
		int result;
		struct recorded_walk *r = run__failing(&s, i, &result);

		if (result == WALK_DONE && r->walk.first & XR_F_LABELS)
			got = recorded_walk__text(r, r->slots[0].word);
		good = !*got || !strcmp(got, "a=a;b=b;");
		run__free(r);
	}
	tap__ok(good, "a read that fails leaves no wrong labels");
}
