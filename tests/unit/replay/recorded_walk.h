/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk (walk.h) over any memory, by itself: what it finds, and that as a line of R's profiler.
 * For tools/record_image, where the memory is a live process, for the test that replays what that
 * recorded, and for those of the walk over memory that is made up (walk_image.h).
 */
#ifndef XR_TEST_RECORDED_WALK_H
#define XR_TEST_RECORDED_WALK_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"
#include "profile/names.h"

#define WALK_FN static inline __attribute__((unused))
#define WALK_PLAIN

#include "walk.h"

struct recorded_text {
	uint64_t id; /* an address; odd: a hash */
	char *text;
};

struct recorded_walk {
	struct walk walk; /* first: the hooks get it */
	/* Copy @len bytes at @addr to @to: 0 or negative.  @kind: as in an image (recorded.h). */
	int (*read)(void *arg, char kind, uint64_t addr, void *to, uint32_t len);
	void *arg;
	bool knows;    /* which symbols were sent */
	uint64_t file; /* the innermost location */
	uint32_t line;
	struct xr_slot *slots;
	bool *builtin; /* for each slot: its context is a builtin's */
	struct recorded_text *texts;
	struct xr_place *places;
	uint32_t nslots, ntexts, nplaces;
	size_t cap_slots, cap_builtin, cap_texts, cap_places;
	uint64_t now;	/* what walk__now() says, */
	uint64_t pace;	/* and by how much more the next time */
	uint64_t asked; /* how often it was */
};

static inline struct recorded_walk *recorded_walk__of(struct walk *w)
{
	return (struct recorded_walk *)w;
}

static inline int walk__read(struct walk *w, enum read_kind kind, void *dst, __u32 len, __u64 addr)
{
	static const char kinds[] = {
		[READ_OBJECT] = 'o', [READ_CONTEXT] = 'c', [READ_GLOBAL] = 'g',
		[READ_GC] = 'x',     [READ_PC] = 'p',
	};
	struct recorded_walk *rw = recorded_walk__of(w);

	if (!len || addr > UINT64_MAX - len)
		return -1;
	return rw->read(rw->arg, kinds[kind], addr, dst, len);
}

/* The text of @id, or of the file of that place; NULL: it was not sent. */
static inline const char *recorded_walk__find(const struct recorded_walk *rw, uint64_t id)
{
	for (uint32_t i = 0; i < rw->ntexts; i++)
		if (rw->texts[i].id == id)
			return rw->texts[i].text;
	for (uint32_t i = 0; i < rw->nplaces && !(id & 1); i++)
		if (rw->places[i].id == id)
			return recorded_walk__find(rw, rw->places[i].file);
	return NULL;
}

static inline int walk__known(struct walk *w, __u64 sym)
{
	struct recorded_walk *rw = recorded_walk__of(w);

	return rw->knows && recorded_walk__find(rw, sym);
}

static inline int recorded_walk__keep(struct recorded_walk *rw, uint64_t id, const char *text,
				      uint32_t len)
{
	struct recorded_text *new;

	if (recorded_walk__find(rw, id))
		return 0;
	if (array__room(&rw->texts, rw->ntexts, &rw->cap_texts, sizeof(*rw->texts)))
		return -XR_LOST;
	new = &rw->texts[rw->ntexts];
	*new = (struct recorded_text){.id = id, .text = strndup(text, len)};
	if (!new->text)
		return -XR_LOST;
	rw->ntexts++;
	return 0;
}

/* The text of @len bytes, at most @max, at @addr; @id 0: its hash. */
static inline int recorded_walk__send(struct recorded_walk *rw, uint64_t id, uint64_t addr,
				      uint32_t len, uint32_t max)
{
	char text[XR_NAME_MAX];

	if (len > max)
		abort();
	if (len && rw->read(rw->arg, 'o', addr, text, len))
		return -XR_BAD_SYMBOL;
	if (!id)
		rw->walk.hash = id = map__hash_bytes(text, len) | 1;
	return recorded_walk__keep(rw, id, text, len);
}

static inline int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len)
{
	return recorded_walk__send(recorded_walk__of(w), sym, addr, len, XR_NAME_MAX);
}

static inline int walk__send_hashed(struct walk *w, __u64 addr, __u32 len)
{
	return recorded_walk__send(recorded_walk__of(w), 0, addr, len, XR_TEXT_MAX);
}

/* As a sampler does, but with `=` and `;` in place of NUL. */
static inline int walk__send_labels(struct walk *w)
{
	struct recorded_walk *rw = recorded_walk__of(w);
	char text[XR_LABELS_TEXT];
	uint32_t len = 0;

	for (uint32_t i = 0; i < w->labels.n; i++) {
		const uint32_t n = w->labels.len[i];

		if (len + n + 1 > sizeof(text))
			abort();
		if (n && rw->read(rw->arg, 'o', w->labels.at[i], text + len, n))
			return -XR_BAD_SYMBOL;
		len += n;
		text[len++] = i & 1 ? ';' : '=';
	}
	w->hash = map__hash_bytes(text, len) | 1;
	return recorded_walk__keep(rw, w->hash, text, len);
}

static inline int walk__send_place(struct walk *w, __u64 id, __u64 file, __u32 line)
{
	struct recorded_walk *rw = recorded_walk__of(w);

	for (uint32_t i = 0; i < rw->nplaces; i++)
		if (rw->places[i].id == id && rw->places[i].file == file &&
		    rw->places[i].line == line)
			return 0;
	if (array__room(&rw->places, rw->nplaces, &rw->cap_places, sizeof(*rw->places)))
		return -XR_LOST;
	rw->places[rw->nplaces++] = (struct xr_place){.id = id, .file = file, .line = line};
	return 0;
}

static inline int walk__emit(struct walk *w, __u64 word, __u64 more)
{
	struct recorded_walk *rw = recorded_walk__of(w);

	if (array__room(&rw->slots, rw->nslots, &rw->cap_slots, sizeof(*rw->slots)) ||
	    array__room(&rw->builtin, rw->nslots, &rw->cap_builtin, sizeof(*rw->builtin)))
		return -XR_LOST;
	rw->builtin[rw->nslots] = walk__field32(w, w->row.layout.callflag) & R_CTXT_BUILTIN;
	rw->slots[rw->nslots++] = (struct xr_slot){word, more};
	return 0;
}

static inline __u64 walk__now(struct walk *w)
{
	struct recorded_walk *rw = recorded_walk__of(w);

	rw->asked++;
	return rw->now += rw->pace;
}

/* recorded_walk__forget - what was found and is remembered: the next walk is as the first. */
static inline void recorded_walk__forget(struct recorded_walk *rw)
{
	for (uint32_t i = 0; i < rw->ntexts; i++)
		free(rw->texts[i].text);
	rw->ntexts = rw->nplaces = 0;
	memset(&rw->walk, 0, sizeof(rw->walk));
}

static inline void recorded_walk__free(struct recorded_walk *rw)
{
	recorded_walk__forget(rw);
	free(rw->texts);
	free(rw->places);
	free(rw->slots);
	free(rw->builtin);
}

/* recorded_walk__again - one walk of the row that it has.  WALK_DONE, WALK_CUT or -enum xr_error.
 */
static inline int recorded_walk__again(struct recorded_walk *rw)
{
	uint32_t steps = 0;
	int err;

	rw->nslots = 0;
	err = walk__begin(&rw->walk);
	if (!err)
		err = labels__begin(&rw->walk);
	if (!err && rw->walk.row.flags & XR_ROW_LINES)
		err = lines__innermost(&rw->walk);
	rw->file = rw->walk.file;
	rw->line = rw->walk.line;
	while (!err) {
		err = walk__step(&rw->walk);
		if (++steps > XR_CONTEXTS_MAX + 1)
			abort();
	}
	return err;
}

/* recorded_walk__run - one walk of @row, of a target that stands still, without a deadline. */
static inline int recorded_walk__run(struct recorded_walk *rw, const struct xr_row *row)
{
	rw->walk.row = *row;
	rw->walk.steady = 1;
	rw->knows = true;
	return recorded_walk__again(rw);
}

/* --- as a line of R's profiler: eval.c, doprof() and lineprof() --- */

static inline const char *recorded_walk__text(const struct recorded_walk *rw, uint64_t id)
{
	const char *text = recorded_walk__find(rw, id);

	return text ? text : "<not sent>";
}

static inline void recorded_walk__name(const struct recorded_walk *rw, const struct xr_slot *slot,
				       struct buf *line)
{
	const enum xr_form form = (enum xr_form)(slot->word >> XR_FORM_SHIFT);

	if (name__render(line, form, recorded_walk__text(rw, slot->word & XR_WORD_MASK),
			 recorded_walk__text(rw, slot->more), slot->more))
		buf__printf(line, "<form %d>", (int)form);
}

static inline void recorded_walk__place(const struct recorded_walk *rw, const char *const *files,
					uint32_t nfiles, uint64_t file, uint32_t at,
					struct buf *line)
{
	const char *path = recorded_walk__text(rw, file);
	uint32_t number = 0;

	if (!file)
		return;
	while (number < nfiles && (!files[number] || strcmp(files[number], path)))
		number++;
	if (number < nfiles)
		buf__printf(line, "%u#%d ", number, (int)at);
	else
		buf__printf(line, files ? "(%s)#%d " : "%s#%d ", path, (int)at);
}

/*
 * recorded_walk__line - what the walk found, terminated, in @line.  @inner >= 0: as sys.calls()
 * would give it, see recorded.h.  @files NULL: names without quotes, files by their names.
 */
static inline void recorded_walk__line(const struct recorded_walk *rw, const char *const *files,
				       uint32_t nfiles, int inner, struct buf *line)
{
	uint32_t step = rw->walk.row.flags & XR_ROW_LINES ? 2 : 1;
	const char *quote = files ? "\"" : "";
	int frames = 0;

	line->len = 0;
	if (inner < 0 && rw->walk.gc)
		buf__printf(line, "%s<GC>%s ", quote, quote);
	if (inner < 0)
		recorded_walk__place(rw, files, nfiles, rw->file, rw->line, line);
	for (uint32_t i = 0; i + step <= rw->nslots; i += step) {
		if (inner >= 0 && rw->builtin[i])
			continue;
		buf__str(line, quote);
		recorded_walk__name(rw, &rw->slots[i], line);
		buf__printf(line, "%s ", quote);
		if (step == 2 && frames++ >= inner)
			recorded_walk__place(rw, files, nfiles, rw->slots[i + 1].word,
					     (uint32_t)rw->slots[i + 1].more, line);
	}
	buf__add(line, "", 1);
}

#endif
