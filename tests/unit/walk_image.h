/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk (walk.h) over an image of R's memory, and its sample as Rprof() writes it. */
#ifndef XR_TEST_WALK_IMAGE_H
#define XR_TEST_WALK_IMAGE_H

#include "base/map.h"
#include "profile/names.h"
#include "target/layouts.h"
#include "r_image.h"
#include "tap.h"

#define WALK_FN static inline __attribute__((unused))
#define WALK_PLAIN

#include "walk.h"

#define SLOTS_MAX (2 * XR_CONTEXTS_MAX)
#define TEXTS_MAX 64 /* others are "?" */

struct run {
	struct walk walk; /* first: the hooks get it */
	struct image *image;
	struct xr_slot slots[SLOTS_MAX];
	uint32_t nslots;
	struct {
		uint64_t id;
		char text[XR_NAME_MAX + 1];
	} texts[TEXTS_MAX];
	uint32_t ntexts;
	struct xr_place places[32];
	uint32_t nplaces;
	uint64_t now;	/* what walk__now() says, */
	uint64_t pace;	/* and by how much more the next time */
	uint64_t asked; /* how often it was */
	uint64_t file;	/* innermost */
	uint32_t line;
};

static inline struct run *run__of(struct walk *w)
{
	return (struct run *)w;
}

static int walk__read(struct walk *w, enum read_kind kind, void *dst, __u32 len, __u64 addr)
{
	return image__read(run__of(w)->image, dst, len, addr);
}

static __u64 walk__now(struct walk *w)
{
	struct run *r = run__of(w);

	r->asked++;
	return r->now += r->pace;
}

static inline int walk__known(struct walk *w, __u64 sym)
{
	return 0;
}

static inline int run__keep(struct run *r, uint64_t id, const char *text)
{
	uint32_t i = 0;

	while (i < r->ntexts && r->texts[i].id != id)
		i++;
	if (i < r->ntexts || i == TEXTS_MAX)
		return 0;
	r->texts[i].id = id;
	strcpy(r->texts[i].text, text);
	r->ntexts++;
	return 0;
}

/* @id 0: the text's hash. */
static inline int run__text(struct run *r, uint64_t id, uint64_t addr, uint32_t len, uint32_t max)
{
	char text[XR_NAME_MAX + 1];

	tap__bail_if(len > max, "a text of %u bytes", len);
	if (len && image__read(r->image, text, len, addr))
		return -XR_BAD_SYMBOL;
	text[len] = '\0';
	if (!id)
		r->walk.hash = id = map__hash_bytes(text, len) | 1;
	return run__keep(r, id, text);
}

static inline int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len)
{
	return run__text(run__of(w), sym, addr, len, XR_NAME_MAX);
}

static inline int walk__send_hashed(struct walk *w, __u64 addr, __u32 len)
{
	return run__text(run__of(w), 0, addr, len, XR_TEXT_MAX);
}

/* As a sampler does, but with `=` and `;` in place of NUL. */
static inline int walk__send_labels(struct walk *w)
{
	struct run *r = run__of(w);
	char text[XR_LABELS_TEXT + 1] = "";
	size_t len = 0;

	for (uint32_t i = 0; i < w->labels.n; i++) {
		tap__bail_if(len + w->labels.len[i] + 1 >= sizeof(text), "labels of %zu bytes",
			     len);
		if (w->labels.len[i] &&
		    image__read(r->image, text + len, w->labels.len[i], w->labels.at[i]))
			return -XR_BAD_SYMBOL;
		len += w->labels.len[i];
		text[len++] = i & 1 ? ';' : '=';
	}
	w->hash = map__hash_bytes(text, len) | 1;
	return run__keep(r, w->hash, text);
}

static int walk__send_place(struct walk *w, __u64 id, __u64 file, __u32 line)
{
	struct run *r = run__of(w);

	for (uint32_t i = 0; i < r->nplaces; i++)
		if (r->places[i].id == id)
			return 0;
	tap__bail_if(r->nplaces == COUNT(r->places), "more places than there can be");
	r->places[r->nplaces++] = (struct xr_place){.id = id, .file = file, .line = line};
	return 0;
}

static int walk__emit(struct walk *w, __u64 word, __u64 more)
{
	struct run *r = run__of(w);

	tap__bail_if(r->nslots == SLOTS_MAX, "more slots than there can be");
	r->slots[r->nslots++] = (struct xr_slot){word, more};
	return 0;
}

/* The newest layout that is known. */
static inline const struct xr_layout *layout_now(void)
{
	return layouts__last(LAYOUTS_X86_64_LINUX);
}

/* Walk the image: what the last step returned. */
static inline int run__walk(struct run *r)
{
	uint32_t steps = 0;
	int result;

	r->nslots = 0;
	result = walk__begin(&r->walk);
	if (!result)
		result = labels__begin(&r->walk);
	if (!result && r->walk.row.flags & XR_ROW_LINES)
		result = lines__innermost(&r->walk);
	r->file = r->walk.file;
	r->line = r->walk.line;
	while (!result) {
		result = walk__step(&r->walk);
		tap__bail_if(++steps > XR_CONTEXTS_MAX + 1, "a walk without end");
	}
	return result;
}

static inline const char *run__name(const struct run *r, uint64_t id)
{
	for (uint32_t i = 0; i < r->ntexts; i++)
		if (r->texts[i].id == id)
			return r->texts[i].text;
	for (uint32_t i = 0; i < r->nplaces && !(id & 1); i++)
		if (r->places[i].id == id)
			return run__name(r, r->places[i].file);
	return "?";
}

static inline void run__place(const struct run *r, uint64_t file, uint32_t line, struct buf *out)
{
	if (file)
		buf__printf(out, "%s#%d ", run__name(r, file), (int32_t)line);
}

/* The sample as Rprof() writes it, but with the names of files; until the next call. */
static inline const char *run__line(const struct run *r)
{
	uint32_t step = r->walk.row.flags & XR_ROW_LINES ? 2 : 1;
	static struct buf out;

	out.len = 0;
	run__place(r, r->file, r->line, &out);
	for (const struct xr_slot *s = r->slots; s < r->slots + r->nslots; s += step) {
		name__render(&out, (enum xr_form)(s->word >> XR_FORM_SHIFT),
			     run__name(r, s->word & XR_WORD_MASK), run__name(r, s->more), s->more);
		buf__str(&out, " ");
		if (step == 2)
			run__place(r, s[1].word, (uint32_t)s[1].more, &out);
	}
	buf__add(&out, "", 1);
	return out.data;
}

/* One more walk: the sample as run__line() writes it. */
static inline const char *run__says(struct run *r)
{
	return run__walk(r) == WALK_DONE ? run__line(r) : "(not done)";
}

#endif
