/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The labels of R's program, over images of R's memory: what they cost, and every way in which the
 * option may be something else.
 */
#include "lines_scene.h"

struct world {
	struct scene s;
	uint64_t names, last; /* a symbol; the last option before ours */
	uint64_t count_at;    /* the number of collections */
};

static void world__init(struct world *w)
{
	struct xr_row *row = &w->s.row;

	scene__init(&w->s, layout_now());
	row->flags = XR_ROW_LABELS;
	row->labels_tag = image__symbol(&w->s.m, "xrprof.labels");
	w->names = row->sym_names = image__symbol(&w->s.m, "names");
	w->last = image__cell(&w->s.m, R_LISTSXP, w->s.m.nil, w->s.m.nil,
			      image__symbol(&w->s.m, "width"));
	w->count_at = row->gc_count_at = image__alloc(&w->s.m, 8);
	row->labels_at = w->last;
	image__push(&w->s.m, R_CTXT_FUNCTION,
		    image__call(&w->s.m, image__symbol(&w->s.m, "f"), 0, 0), 0);
}

static uint64_t strings(struct world *w, const char *const *texts, uint32_t n)
{
	uint64_t all[16];

	for (uint32_t i = 0; i < n; i++)
		all[i] = image__charsxp(&w->s.m, texts[i]);
	return image__vector(&w->s.m, R_STRSXP, n, all, 8 * n);
}

/* Have @value be that of the option. */
static void set(struct world *w, uint64_t value)
{
	image__put64(&w->s.m, w->last + 8 * R_CDR,
		     image__cell(&w->s.m, R_LISTSXP, value, w->s.m.nil, w->s.row.labels_tag));
}

/* A vector with names. */
static uint64_t named(struct world *w, const char *const *keys, const char *const *values,
		      uint32_t n)
{
	uint64_t at = strings(w, values, n);
	uint64_t names = strings(w, keys, n);

	image__put64(&w->s.m, at + 8, image__cell(&w->s.m, R_LISTSXP, names, w->s.m.nil, w->names));
	return at;
}

static uint64_t one(struct world *w, const char *key, const char *value)
{
	return named(w, &key, &value, 1);
}

/* The labels that a walk finds: "key=value;..."; "" for none. */
static const char *walked(struct run *r)
{
	const bool packages = r->walk.row.flags & XR_ROW_PACKAGES;

	tap__bail_if(run__walk(r) != WALK_DONE, "the walk does not end");
	if (!(r->walk.first & XR_F_LABELS))
		return r->nslots == r->walk.frames * (1 + packages) ? "" : "(slots)";
	return run__name(r, r->slots[0].word);
}

static void check_labels(struct world *w, const char *wanted, const char *what)
{
	struct run *r = run__new(&w->s);

	tap__is(walked(r), wanted, "%s", what);
	free(r);
}

/* The same, once @value is that of the option. */
static void check_value(struct world *w, uint64_t value, const char *wanted, const char *what)
{
	set(w, value);
	check_labels(w, wanted, what);
}

TEST(values)
{
	static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
	char longest[400], cut[400];
	struct world w;

	world__init(&w);
	check_labels(&w, "", "the option is not set");
	check_value(&w, one(&w, "route", "/predict"), "route=/predict;", "a label");
	check_value(&w, named(&w, keys, keys, 2), "a=a;b=b;", "two");
	check_value(&w, named(&w, keys, keys, 10), "a=a;b=b;c=c;d=d;e=e;f=f;g=g;h=h;",
		    "more than there may be");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	snprintf(cut, sizeof(cut), "%.*s=%.*s;", (int)XR_LABEL_KEY_MAX, longest,
		 (int)XR_LABEL_VALUE_MAX, longest);
	check_value(&w, one(&w, longest, longest), cut, "texts that are too long are cut");
	scene__free(&w.s);
}

TEST(others)
{
	const char *unnamed = "x";
	uint64_t at, cell;
	struct world w;

	world__init(&w);
	check_value(&w, strings(&w, &unnamed, 1), "", "a vector without names");
	check_value(&w, w.s.m.nil, "", "NULL");
	check_value(&w, image__int(&w.s.m, 7), "", "a number");
	check_value(&w, image__string(&w.s.m, "x"), "", "a string without attributes");
	check_value(&w, strings(&w, &unnamed, 0), "", "no strings");
	check_value(&w, 0x1234560, "", "an address of nothing");
	at = one(&w, "a", "b");
	image__put64(&w.s.m, at + 48, 0x1234560);
	check_value(&w, at, "", "a string at an address of nothing");
	at = one(&w, "a", "b");
	image__put64(&w.s.m, at + 8 * R_CAR, 1ULL << 40);
	check_value(&w, at, "a=b;", "a length that is not true: there are as many as names");
	at = one(&w, "a", "b");
	cell = image__get64(&w.s.m, at + 8);
	image__put64(&w.s.m, cell + 8 * R_CDR, cell);
	image__put64(&w.s.m, cell + 8 * R_TAG, w.s.m.dollar);
	check_value(&w, at, "", "attributes that lead in a circle");
	at = one(&w, "a", "b");
	image__put64(&w.s.m, at, R_STRSXP | R_ALTREP_BIT);
	check_value(&w, at, "", "an ALTREP object");
	set(&w, one(&w, "a", "b"));
	at = image__get64(&w.s.m, w.last + 8 * R_CDR);
	image__put64(&w.s.m, at + 8 * R_TAG, w.s.m.dollar);
	check_labels(&w, "", "another option");
	image__put64(&w.s.m, w.last + 8 * R_CDR, 0x1234560);
	check_labels(&w, "", "a cell at an address of nothing");
	w.s.row.labels_at = 0x1234560;
	check_labels(&w, "", "and the one before it");
	scene__free(&w.s);
}

/* Reads of a walk of @w by @r. */
static uint64_t reads(struct world *w, struct run *r)
{
	const uint64_t before = w->s.m.reads;

	walked(r);
	return w->s.m.reads - before;
}

TEST(cost)
{
	uint64_t value, plain, none, again;
	struct world w;
	struct run *r;

	world__init(&w);
	value = one(&w, "a", "b");
	set(&w, value);
	r = run__new(&w.s);
	r->walk.row.labels_at = 0;
	plain = reads(&w, r);
	r->walk.row.flags = 0;
	tap__ok(reads(&w, r) == plain, "without an option there is no read more");
	/* with packages the number of collections is read anyway */
	r->walk.row = w.s.row;
	r->walk.row.labels_at = 0;
	r->walk.row.flags |= XR_ROW_PACKAGES;
	r->walk.steady = 1;
	reads(&w, r);
	none = reads(&w, r);
	r->walk.row.labels_at = w.last;
	tap__ok(reads(&w, r) > none + 2, "labels that are new are read");
	again = reads(&w, r);
	tap__ok(again == none + 2, "the same again: %d reads more", (int)(again - none));
	tap__is(walked(r), "a=b;", "which find them");
	image__put64(&w.s.m, w.count_at, 1);
	image__put64(&w.s.m, value + 48, image__charsxp(&w.s.m, "c"));
	tap__is(walked(r), "a=c;", "after a collection the same address may be another vector");
	set(&w, one(&w, "x", "y"));
	tap__is(walked(r), "x=y;", "another vector");
	r->walk.row.serial++;
	tap__ok(reads(&w, r) > none + 2 && reads(&w, r) == none + 2,
		"a forked child's are read, and so sent, for it");
	image__put64(&w.s.m, w.last + 8 * R_CDR, w.s.m.nil);
	tap__is(walked(r), "", "none at once, when the option is removed");
	tap__ok(reads(&w, r) == none + 1, "which takes one read");
	set(&w, value);
	tap__is(walked(r), "a=c;", "and again with a new cell");
	free(r);
	scene__free(&w.s);
}

/* Each read fails once: the sample has its frame, and labels that are right, or none. */
TEST(faults)
{
	static const char *const keys[] = {"a", "b"};
	struct world w;
	bool good = true;
	uint64_t n;

	world__init(&w);
	set(&w, named(&w, keys, keys, 2));
	check_labels(&w, "a=a;b=b;", "all reads succeed");
	n = w.s.m.reads;
	for (uint64_t i = 1; i <= n && good; i++) {
		const char *got = "";
		int result;
		struct run *r = run__failing(&w.s, i, &result);

		if (result == WALK_DONE && r->walk.first & XR_F_LABELS)
			got = run__name(r, r->slots[0].word);
		good = !*got || !strcmp(got, "a=a;b=b;");
		free(r);
	}
	tap__ok(good, "a read that fails leaves no wrong labels");
	scene__free(&w.s);
}
