/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The labels that the R program has set: options(xrprof.labels = c(route = "/predict")).  Part of
 * walk.h.
 *
 * Facts: options.c of R 3.0 to 4.6.  Options are a list, the value of the symbol .Options.
 * SetOption() replaces the CAR of the option's cell, appends a cell for a new option, and unlinks
 * the cell if the value is NULL.  What was unlinked stays in memory as it was, so the cell is read
 * by way of the one before it: then a sample after options(xrprof.labels = NULL) has no labels.
 *
 * A value that was read is remembered in the row for as long as R collects no garbage: it is not
 * changed in place (do_options() duplicates it), and its address is not used for another.
 */
#ifndef XR_LABELS_WALK_H
#define XR_LABELS_WALK_H

#include "walk_state.h"

/* labels__option - the value of the option, to *@value; 0: it is not set. */
WALK_FN int labels__option(struct walk *w, __u64 *value)
{
	struct labels *b = &w->labels;
	__u64 at = 0;

	*value = 0;
	if (walk__load(w, READ_GLOBAL, &at, 8, w->row.labels_at + 8 * R_CDR))
		return -XR_BAD_SYMBOL;
	if (!at || at == w->row.nil)
		return 0;
	if (walk__load(w, READ_GLOBAL, b->cell, R_CELL_BYTES, at))
		return -XR_BAD_SYMBOL;
	if (walk__type(b->cell) == R_LISTSXP && b->cell[R_TAG] == w->row.labels_tag)
		*value = b->cell[R_CAR];
	return 0;
}

/* labels__strings - the strings of the vector in labels.cell; 0: it has other elements. */
WALK_FN __u32 labels__strings(struct walk *w)
{
	struct labels *b = &w->labels;
	__u64 len = lines__length(w, b->cell);

	if (walk__type(b->cell) != R_STRSXP || lines__altrep(w, b->cell))
		return 0;
	return len < XR_LABELS_MAX ? (__u32)len : XR_LABELS_MAX;
}

/* labels__names - the attribute `names` of the vector in labels.cell, to *@names; 0: none. */
WALK_FN int labels__names(struct walk *w, __u64 *names)
{
	struct labels *b = &w->labels;
	__u64 attrib = b->cell[1];
	int i;

	*names = 0;
	for (i = 0; i < LABELS_ATTRIBS; i++) {
		if (attrib == w->row.nil || !attrib)
			return 0;
		if (walk__cell(w, b->cell, attrib))
			return -XR_BAD_SYMBOL;
		if (b->cell[R_TAG] == w->row.sym_names) {
			*names = b->cell[R_CAR];
			return 0;
		}
		attrib = b->cell[R_CDR];
	}
	return 0;
}

/* labels__text - the next text is the string at @at, of a vector: at most @max bytes of it. */
WALK_FN int labels__text(struct walk *w, __u64 at, __u32 max)
{
	struct labels *b = &w->labels;
	const __u32 i = b->n & (2 * XR_LABELS_MAX - 1);
	__u32 len;

	if (walk__load(w, READ_OBJECT, &at, 8, at) || walk__cell(w, b->cell, at))
		return -XR_BAD_SYMBOL;
	if (walk__type(b->cell) != R_CHARSXP)
		return -XR_BAD_SYMBOL;
	len = (__u32)b->cell[R_CAR];
	if (len > max)
		len = max;
	b->at[i] = at + w->row.layout.vector_data;
	b->len[i] = len;
	b->n++;
	w->budget.work += 1 + (len >> WALK_TEXT_SHIFT);
	return 0;
}

/* labels__read - the labels of the vector at @value: their hash to w->hash, 0: it has none. */
WALK_FN int labels__read(struct walk *w, __u64 value)
{
	struct labels *b = &w->labels;
	__u64 names;
	__u32 i, n, nnames;
	int err;

	w->hash = 0;
	b->n = 0;
	if (walk__cell(w, b->cell, value))
		return -XR_BAD_SYMBOL;
	n = labels__strings(w);
	err = n ? labels__names(w, &names) : 0;
	if (err || !n || !names)
		return err;
	if (walk__cell(w, b->cell, names))
		return -XR_BAD_SYMBOL;
	nnames = labels__strings(w);
	if (nnames < n)
		n = nnames;
	names += w->row.layout.vector_data;
	value += w->row.layout.vector_data;
	for (i = 0; i < XR_LABELS_MAX; i++) {
		if (i >= n)
			break;
		err = labels__text(w, names + 8 * i, XR_LABEL_KEY_MAX);
		if (!err)
			err = labels__text(w, value + 8 * i, XR_LABEL_VALUE_MAX);
		if (err)
			return err;
	}
	return b->n ? walk__send_labels(w) : 0;
}

/* labels__find - the hash of the labels that R has now, to w->hash; 0: it has none. */
WALK_FN int labels__find(struct walk *w)
{
	const __u64 stamp = w->lines.stamp;
	__u64 value;
	int err;

	w->hash = 0;
	err = labels__option(w, &value);
	if (err || !value)
		return err;
	if (value == w->row.labels_value && stamp == w->row.labels_stamp) {
		w->hash = w->row.labels_hash;
		return 0;
	}
	w->row.labels_value = 0;
	err = labels__read(w, value);
	if (err || !(stamp >> 32)) /* the number of collections is not known */
		return err;
	w->row.labels_hash = w->hash;
	w->row.labels_stamp = stamp;
	w->row.labels_value = value;
	return 0;
}

/*
 * labels__begin - call after walk__begin() and before what else emits slots: emit that of the
 * labels if R has any.  If they cannot be read there are none, and the sample does not fail.  0, or
 * -XR_LOST.
 */
WALK_FN int labels__begin(struct walk *w)
{
	int err;

	if (!walk__wants(w, XR_ROW_LABELS) || !w->row.labels_at)
		return 0;
	w->lenient = 1;
	err = labels__find(w);
	w->lenient = 0;
	if (err)
		return err == -XR_LOST ? err : 0;
	if (!w->hash)
		return 0;
	w->first |= XR_F_LABELS;
	return walk__emit(w, w->hash, 0);
}

#endif
