/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How source locations are found: reads the target and keeps what it finds in struct lines.  Part
 * of walk.h.
 */
#ifndef XR_LINES_WALK_H
#define XR_LINES_WALK_H

#include "walk_state.h"

/* lines__length - of a vector whose cell was read */
WALK_FN __u64 lines__length(const struct walk *w, const __u64 *cell)
{
	return w->row.layout.vector_data < 48 ? cell[R_CAR] & 0xffffffff : cell[R_CAR];
}

WALK_FN int lines__altrep(const struct walk *w, const __u64 *cell)
{
	return w->row.layout.has_altrep && (cell[0] & R_ALTREP_BIT);
}

/* lines__none - there is no location here, or none that may be sent; not an error */
WALK_FN int lines__none(struct walk *w)
{
	w->file = 0;
	w->line = 0;
	return 0;
}

/*
 * lines__text - is the CHARSXP at @charsxp the @len bytes whose first 8 and last 4 are @first and
 * @last?  1, 0, or negative.  (Enough to tell "filename" and "srcrefsIndex".)
 */
WALK_FN int lines__text(struct walk *w, __u64 charsxp, __u32 len, __u64 first, __u32 last)
{
	struct lines *l = &w->lines;
	__u64 word = 0;
	__u32 tail = 0;

	if (walk__cell(w, l->cell2, charsxp))
		return -XR_BAD_LINE;
	if (walk__type(l->cell2) != R_CHARSXP || (__u32)l->cell2[R_CAR] != len)
		return 0;
	charsxp += w->row.layout.vector_data;
	if (walk__load(w, READ_OBJECT, &word, 8, charsxp) ||
	    walk__load(w, READ_OBJECT, &tail, 4, charsxp + len - 4))
		return -XR_BAD_LINE;
	return word == first && tail == last;
}

#define LINES_WORD(a, b, c, d, e, f, g, h)                                                         \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)
#define LINES_HALF(a, b, c, d) ((__u32)LINES_WORD(a, b, c, d, 0, 0, 0, 0))

/* lines__is_filename - is @sym the symbol `filename`?  1, 0, or negative. */
WALK_FN int lines__is_filename(struct walk *w, __u64 sym)
{
	struct lines *l = &w->lines;
	int yes;

	if (l->serial == w->row.serial && l->sym_filename)
		return sym == l->sym_filename;
	if (walk__cell(w, l->cell2, sym))
		return -XR_BAD_LINE;
	if (walk__type(l->cell2) != R_SYMSXP)
		return 0;
	yes = lines__text(w, l->cell2[R_CAR], 8, LINES_WORD('f', 'i', 'l', 'e', 'n', 'a', 'm', 'e'),
			  LINES_HALF('n', 'a', 'm', 'e'));
	if (yes > 0) {
		l->sym_filename = sym;
		l->serial = w->row.serial;
	}
	return yes;
}

/*
 * lines__filename - the value of the variable `filename` of srcfile @env, to @value; 0: it has none
 * that is kept where it can be read.  0, WALK_CUT or -XR_BAD_LINE.
 * srcfile() makes an environment without a hash table, srcfilecopy() and packages one with.
 */
WALK_FN int lines__filename(struct walk *w, __u64 env, __u64 *value)
{
	struct lines *l = &w->lines;
	__u64 list, size, table;
	int i, yes;

	*value = 0;
	if (walk__cell(w, l->cell, env))
		return -XR_BAD_LINE;
	if (walk__type(l->cell) != R_ENVSXP)
		return 0;
	l->born = l->young && l->cell[0] & R_MARK_BIT ? XR_BORN_OLD : l->young;
	list = l->cell[R_CAR];
	table = l->cell[R_TAG];
	if (table != w->row.nil && table) {
		if (walk__cell(w, l->cell, table))
			return -XR_BAD_LINE;
		size = lines__length(w, l->cell);
		if (walk__type(l->cell) != R_VECSXP || !size)
			return 0;
		if (walk__load(w, READ_OBJECT, &list, 8,
			       table + w->row.layout.vector_data + 8 * (LINES_FILENAME_PJW % size)))
			return -XR_BAD_LINE;
	}
	for (i = 0; i < LINES_BINDINGS; i++) {
		if (list == w->row.nil || !list)
			return 0;
		if (walk__over(w))
			return WALK_CUT;
		if (walk__cell(w, l->cell, list))
			return -XR_BAD_LINE;
		yes = lines__is_filename(w, l->cell[R_TAG]);
		if (yes < 0)
			return yes;
		if (yes) {
			/* a function, or a number kept in the cell itself, is not a file name */
			if (!(l->cell[0] & R_ACTIVE_BINDING) &&
			    !(w->row.layout.has_altrep && l->cell[0] >> 48))
				*value = l->cell[R_CAR];
			return 0;
		}
		list = l->cell[R_CDR];
	}
	return 0;
}

/*
 * lines__file_name - find the bytes of the string @value, to lines.name_at; 0: it is not a name.  R
 * names code that was not in a file "" (the console, gram.c) or <text> (parse(text =)): many
 * srcfiles have such a name.
 */
WALK_FN int lines__file_name(struct walk *w, __u64 value)
{
	struct lines *l = &w->lines;

	if (walk__cell(w, l->cell, value))
		return -XR_BAD_LINE;
	if (walk__type(l->cell) != R_STRSXP || lines__altrep(w, l->cell) ||
	    !lines__length(w, l->cell))
		return 0;
	if (walk__load(w, READ_OBJECT, &value, 8, value + w->row.layout.vector_data) ||
	    walk__cell(w, l->cell, value))
		return -XR_BAD_LINE;
	if (walk__type(l->cell) != R_CHARSXP)
		return 0;
	value += w->row.layout.vector_data;
	l->nameless = '<';
	if ((__u32)l->cell[R_CAR] && walk__load(w, READ_OBJECT, &l->nameless, 1, value))
		return -XR_BAD_LINE;
	l->nameless = l->nameless == '<';
	l->name_len = (__u32)l->cell[R_CAR];
	l->name_at = value;
	return 0;
}

WALK_FN void lines__file_is(struct walk *w, __u64 env, __u64 file)
{
	struct lines *l = &w->lines;
	struct lines_file *memo = &l->files[((env >> 3) ^ (env >> 9)) & (LINES_FILES - 1)];

	memo->env = env;
	memo->file = w->file = file;
	memo->generation = l->generation;
}

/*
 * lines__file_slow - the file of srcfile @env, to w->file; 0: it has none.  If it is not known yet,
 * lines.name_at has its name, which is still to be sent.
 */
WALK_FN int lines__file_slow(struct walk *w, __u64 env)
{
	struct lines *l = &w->lines;
	struct lines_file *memo = &l->files[((env >> 3) ^ (env >> 9)) & (LINES_FILES - 1)];
	__u64 value;
	int err;

	l->name_at = 0;
	if (memo->env == env && memo->generation == l->generation) {
		w->file = memo->file;
		return 0;
	}
	w->file = 0;
	err = lines__filename(w, env, &value);
	if (!err && value)
		err = lines__file_name(w, value);
	if (!err && !l->name_at)
		lines__file_is(w, env, 0);
	return err;
}

/*
 * lines__tell_slow - send that the srcfile at @env has the name that was sent last, and set w->file
 * to that name, or to the srcfile where many have it.
 */
WALK_FN int lines__tell_slow(struct walk *w, __u64 env)
{
	const __u32 nameless = w->lines.nameless;
	int err = walk__send_place(w, env & ~1ULL, w->hash, nameless ? w->lines.born : 0);

	if (!err)
		lines__file_is(w, env, nameless ? env & ~1ULL : w->hash);
	return err;
}

/* lines__place - where (@object, @pc) is remembered, or is to be: one of two places */
WALK_FN struct lines_place *lines__place(struct walk *w, __u64 object, __u64 pc)
{
	struct lines *l = &w->lines;
	__u64 i = ((object + 3 * pc) * 0x9e3779b97f4a7c15ULL) >> (64 - LINES_PLACES_BITS);
	struct lines_place *p = &l->places[i];

	if (p->generation == l->generation && (p->object != object || p->pc != pc))
		p = &l->places[i ^ 1];
	return p;
}

WALK_FN int lines__recall(struct walk *w, const struct lines_place *p, __u64 object, __u64 pc)
{
	if (p->object != object || p->pc != pc || p->generation != w->lines.generation)
		return 0;
	w->file = p->file;
	w->line = p->line;
	return 1;
}

WALK_FN void lines__remember(struct walk *w, struct lines_place *p, __u64 object, __u64 pc)
{
	p->object = object;
	p->pc = pc;
	p->file = w->file;
	p->line = w->line;
	p->generation = w->lines.generation;
}

/*
 * lines__srcref_read - the location of srcref @ref, to w->file and w->line, which are 0 before.
 * 0, WALK_CUT or -enum xr_error.
 */
WALK_FN int lines__srcref_read(struct walk *w, __u64 ref)
{
	struct lines *l = &w->lines;
	__u64 attrib;
	__u32 line;
	int i, err;

	if (walk__cell(w, l->cell, ref))
		return -XR_BAD_LINE;
	if (walk__type(l->cell) != R_INTSXP || lines__altrep(w, l->cell) ||
	    !lines__length(w, l->cell))
		return 0;
	line = (__u32)(w->row.layout.vector_data < 48 ? l->cell[R_CDR] : l->cell[R_TAG]);
	attrib = l->cell[1];
	for (i = 0; i < R_ATTRIBS; i++) {
		if (attrib == w->row.nil || !attrib)
			return 0;
		if (walk__cell(w, l->cell, attrib))
			return -XR_BAD_LINE;
		if (l->cell[R_TAG] == w->row.sym_srcfile)
			break;
		attrib = l->cell[R_CDR];
	}
	if (i == R_ATTRIBS)
		return 0;
	l->ref = l->cell[R_CAR];
	err = walk__lines_file(w, l->ref);
	if (!err && l->name_at) {
		err = walk__text(w, l->name_at, l->name_len);
		if (err)
			return err == -XR_LOST ? err : -XR_BAD_LINE;
		err = walk__lines_tell(w, l->ref);
	}
	if (err)
		return err;
	w->line = w->file ? line : 0;
	return 0;
}

/* lines__srcref_slow - the same, remembered. */
WALK_FN int lines__srcref_slow(struct walk *w, __u64 ref)
{
	struct lines_place *p = lines__place(w, ref, ~0ULL);
	int err;

	if (lines__recall(w, p, ref, ~0ULL))
		return 0;
	lines__none(w);
	err = lines__srcref_read(w, ref);
	if (!err)
		lines__remember(w, p, ref, ~0ULL);
	return err;
}

/*
 * lines__is_table - is the constant at @at, whose cell is in lines.cell, the index of srcrefs: an
 * integer vector of class "srcrefsIndex"?  1, 0, or negative.
 */
WALK_FN int lines__is_table(struct walk *w)
{
	struct lines *l = &w->lines;
	__u64 attrib = l->cell[1], value, text = 0;
	int i, yes;

	if (walk__type(l->cell) != R_INTSXP || lines__altrep(w, l->cell))
		return 0;
	for (i = 0; i < R_ATTRIBS; i++) {
		if (attrib == w->row.nil || !attrib)
			return 0;
		if (walk__cell(w, l->cell2, attrib))
			return -XR_BAD_LINE;
		if (l->cell2[R_TAG] == w->row.sym_class)
			break;
		attrib = l->cell2[R_CDR];
	}
	if (i == R_ATTRIBS)
		return 0;
	value = l->cell2[R_CAR];
	if (l->class_generation == l->generation && l->class_value == value)
		return 1;
	if (walk__cell(w, l->cell2, value))
		return -XR_BAD_LINE;
	if (walk__type(l->cell2) != R_STRSXP || lines__altrep(w, l->cell2) ||
	    lines__length(w, l->cell2) != 1)
		return 0;
	if (walk__load(w, READ_OBJECT, &text, 8, value + w->row.layout.vector_data))
		return -XR_BAD_LINE;
	yes = l->class_generation == l->generation && l->class_text == text;
	if (!yes)
		yes = lines__text(w, text, 12, LINES_WORD('s', 'r', 'c', 'r', 'e', 'f', 's', 'I'),
				  LINES_HALF('n', 'd', 'e', 'x'));
	if (yes > 0) {
		l->class_value = value;
		l->class_text = text;
		l->class_generation = l->generation;
	}
	return yes;
}

/*
 * lines__body - find out about byte-code object lines.body; its record.  0, WALK_CUT or
 * -XR_BAD_LINE.
 */
WALK_FN int lines__body(struct walk *w, struct lines_body *b)
{
	struct lines *l = &w->lines;
	__u64 at;
	int i, yes;

	if (b->body == l->body && b->generation == l->generation)
		return 0;
	b->body = l->body;
	b->generation = 0;
	b->table = 0;
	if (walk__cell(w, l->cell, l->body))
		return -XR_BAD_LINE;
	if (walk__type(l->cell) != R_BCODESXP)
		goto done;
	b->code = l->cell[R_CAR] + w->row.layout.vector_data;
	at = l->cell[R_CDR];
	b->consts = at + w->row.layout.vector_data;
	if (walk__cell(w, l->cell, at))
		return -XR_BAD_LINE;
	if (walk__type(l->cell) != R_VECSXP)
		goto done;
	b->nconsts = lines__length(w, l->cell);
	for (i = 1; i <= LINES_TABLE_SEARCH && (__u64)i <= b->nconsts; i++) {
		if (walk__over(w))
			return WALK_CUT;
		if (walk__load(w, READ_OBJECT, &at, 8, b->consts + 8 * (b->nconsts - i)) ||
		    walk__cell(w, l->cell, at))
			return -XR_BAD_LINE;
		yes = lines__is_table(w);
		if (yes < 0)
			return yes;
		if (yes) {
			b->table = at + w->row.layout.vector_data;
			b->ntable = lines__length(w, l->cell);
			break;
		}
	}
done:
	b->generation = l->generation;
	return 0;
}

/*
 * lines__bc_read - the location of the instruction at lines.pc in byte-code object lines.body, to
 * w->file and w->line, which are 0 before.  0, WALK_CUT or -enum xr_error.
 * What is out of range has no location: R sets the two one after the other, so at a moment in
 * between they do not belong together (bcEval, eval.c).
 */
WALK_FN int lines__bc_read(struct walk *w)
{
	struct lines *l = &w->lines;
	struct lines_body *b = &l->bodies[((l->body >> 3) ^ (l->body >> 9)) & (LINES_BODIES - 1)];
	__u64 pc = l->pc, ref;
	__s32 k = -1;
	int err;

	err = lines__body(w, b);
	if (err || !b->table)
		return err;
	if (l->absolute) {
		if (pc < b->code)
			return 0;
		pc = (pc - b->code) / 8;
	}
	if (pc >= b->ntable)
		return 0;
	if (walk__load(w, READ_OBJECT, &k, 4, b->table + 4 * pc))
		return -XR_BAD_LINE;
	if (k < 0 || (__u64)k >= b->nconsts)
		return 0;
	if (walk__load(w, READ_OBJECT, &ref, 8, b->consts + 8 * (__u64)k))
		return -XR_BAD_LINE;
	if (ref == w->row.nil || !ref)
		return 0;
	return walk__lines_srcref(w, ref);
}

/* lines__bc_slow - the same, remembered. */
WALK_FN int lines__bc_slow(struct walk *w)
{
	struct lines *l = &w->lines;
	struct lines_place *p = lines__place(w, l->body, l->pc);
	int err;

	if (lines__recall(w, p, l->body, l->pc))
		return 0;
	lines__none(w);
	err = lines__bc_read(w);
	if (!err)
		lines__remember(w, p, l->body, l->pc);
	return err;
}

/* lines__of_context - where the call of the context in w->context was made from */
WALK_FN int lines__of_context(struct walk *w)
{
	struct lines *l = &w->lines;
	__u64 ref = walk__field(w, w->row.layout.srcref);

	if (!ref || ref == w->row.nil)
		return lines__none(w);
	if (!w->row.in_bc || ref != w->row.in_bc)
		return walk__lines_srcref(w, ref);
	if (!w->row.layout.bcbody)
		return lines__none(w);
	l->body = walk__field(w, w->row.layout.bcbody);
	if (!l->body)
		return lines__none(w);
	l->absolute = 0;
	l->pc = w->row.layout.relpc ? walk__field(w, w->row.layout.relpc) : 0;
	if ((__s64)l->pc <= 0) {
		l->absolute = 1;
		l->pc = walk__field(w, w->row.layout.bcpc);
		if (!l->pc)
			return lines__none(w);
		if (walk__load(w, READ_PC, &l->pc, 8, l->pc))
			return -XR_BAD_LINE;
	}
	return walk__lines_bc(w);
}

/*
 * lines__begin - called by walk__begin(): does what is remembered still hold?  R frees objects only
 * when it collects, so as long as the number of collections is the same no address was used again.
 * Objects met here are held by the contexts and by R_Srcref and R_BCbody, which a collection that
 * is under way keeps (memory.c, RunGenCollect).
 */
WALK_FN void lines__begin(struct walk *w)
{
	struct lines *l = &w->lines;
	__u64 stamp = w->sample; /* not longer than this walk */
	__u32 count = 0;

	l->young = 0;
	if (w->steady && w->row.gc_count_at &&
	    !walk__load(w, READ_GC, &count, 4, w->row.gc_count_at)) {
		stamp = (__u64)w->row.serial << 32 | count;
		/* while the collector runs, marks are on their way (call_walk.h) */
		if (walk__wants(w, XR_ROW_GC) && w->row.gc_at && !w->gc)
			l->young = XR_BORN_FIRST + count;
	}
	if (stamp == l->stamp)
		return;
	l->stamp = stamp;
	l->generation++;
}

/*
 * lines__innermost - the current location, with XR_ROW_LINES; call after walk__begin() and before
 * walk__step()
 */
WALK_FN int lines__innermost(struct walk *w)
{
	struct lines *l = &w->lines;
	__u64 ref = 0;

	lines__none(w);
	if (!w->row.srcref_at)
		return 0;
	if (walk__load(w, READ_GLOBAL, &ref, 8, w->row.srcref_at))
		return -XR_BAD_LINE;
	if (!ref || ref == w->row.nil)
		return 0;
	if (!w->row.in_bc || ref != w->row.in_bc)
		return walk__lines_srcref(w, ref);
	if (!(w->row.flags & XR_ROW_BC)) {
		w->unproven = 1;
		return 0;
	}
	l->body = 0;
	l->pc = 0;
	if (walk__load(w, READ_GLOBAL, &l->body, 8, w->row.bc_body_at) ||
	    walk__load(w, READ_GLOBAL, &l->pc, 8, w->row.bc_pc_at))
		return -XR_BAD_LINE;
	if (!l->body || !l->pc)
		return 0;
	l->absolute = 1;
	/* it points at a variable of a C function, which may have returned: R resets it later */
	if (walk__load(w, READ_PC, &l->pc, 8, l->pc) || !l->pc)
		return 0;
	return walk__lines_bc(w);
}

#endif
