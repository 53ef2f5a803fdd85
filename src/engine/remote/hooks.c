/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/hooks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define KNOWN_MAX  (1u << 16) /* names remembered, 3 MiB; beyond it all are sent again */
#define WINDOW_MAX 256u

/*
 * For N contexts it is known which of them asked for a piece last, and therefore all that is
 * remembered within a walk is forgotten at each of them.  Those further out are taken as one.
 */
#define CONTEXTS_APART 64u

#define KNOWN_PLACE 3u /* in `known`, beside enum xr_text_kind */

/* The walk is the first member. */
static struct remote_walk *remote__of(struct walk *w)
{
	return (struct remote_walk *)w;
}

static int plan__add(struct plan *p, uint32_t id)
{
	int err = array__room(&p->ids, p->count, &p->cap, sizeof(*p->ids));

	if (!err)
		p->ids[p->count++] = id;
	return err;
}

/*
 * Read piece @id, and if it is a context what came after it in the last plan along with it: where
 * the stack is not as it was, more than one context has changed.
 */
static void piece__fetch(struct remote_walk *rw, uint32_t id, bool context)
{
	const struct plan *plan = rw->phase == REMOTE_AHEAD ? &rw->last : &rw->plan;
	uint32_t pos = rw->memory.pieces[id].pos, n = 1;
	const uint32_t *ids = &id;

	rw->loose = true;
	if (context && pos < plan->count && plan->ids[pos] == id) {
		ids = plan->ids + pos;
		n = plan->count - pos < rw->window ? plan->count - pos : rw->window;
		if (rw->window < WINDOW_MAX)
			rw->window *= 2;
	}
	remote_memory__fetch(&rw->memory, ids, n, rw->phase != REMOTE_AHEAD);
}

bool kind__is_volatile(enum read_kind kind)
{
	return kind == READ_PC || kind == READ_GC;
}

/* Must what is of @kind, and no context, be the same before and after a look at a moving target? */
static bool kind__is_verified(enum read_kind kind)
{
	return kind == READ_GLOBAL;
}

static const uint8_t *piece__ahead(struct remote_walk *rw, uint32_t id, enum read_kind kind)
{
	const struct piece *p = &rw->memory.pieces[id];
	bool context = kind == READ_CONTEXT;
	uint64_t floor = rw->floor;

	if ((context || kind__is_volatile(kind)) && rw->context_seq > floor)
		floor = rw->context_seq;

	if (p->base_seq <= floor)
		piece__fetch(rw, id, context);
	if (p->base_seq <= floor)
		return NULL;
	if (context) {
		rw->context_seq = p->base_seq;
		rw->memory.pieces[id].visited = rw->pass;
		if (rw->contexts < CONTEXTS_APART) {
			rw->contexts++;
			rw->walk.sample++;
		}
	}
	rw->memory.pieces[id].outermost = rw->contexts;
	return remote_memory__base(&rw->memory, id);
}

/* Is the context @bytes that of a call? */
static bool context__calls(const struct remote_walk *rw, const uint8_t *bytes)
{
	uint32_t flag;

	memcpy(&flag, bytes + rw->walk.row.layout.callflag, sizeof(flag));
	return flag & R_CTXT_FUNCTION;
}

/*
 * A live call has an environment.  What is left on the stack of one that returned often has none,
 * and is the same each time.
 */
static bool context__has_env(const struct remote_walk *rw, const uint8_t *bytes)
{
	uint64_t cloenv;

	memcpy(&cloenv, bytes + rw->walk.row.layout.cloenv, sizeof(cloenv));
	return cloenv != 0;
}

/* Did the first look see this very call? */
static bool piece__same_call(const struct remote_walk *rw, uint32_t id)
{
	const struct piece *p = &rw->memory.pieces[id];
	const uint8_t *fresh = remote_memory__fresh(&rw->memory, id);

	if (!rw->whole || p->visited != rw->ahead_pass || p->base_seq <= rw->floor)
		return false;
	return context__calls(rw, fresh) && context__has_env(rw, fresh) &&
	       !memcmp(fresh, remote_memory__base(&rw->memory, id), p->len);
}

static const uint8_t *piece__top(struct remote_walk *rw, uint32_t id, enum read_kind kind)
{
	const struct piece *p = &rw->memory.pieces[id];
	bool context = kind == READ_CONTEXT, is_volatile = kind__is_volatile(kind);
	uint64_t floor = rw->top_floor;

	/* before that call was there its objects may have been others in the same place */
	if (!context && !kind__is_verified(kind) && rw->matched && p->fresh_seq <= rw->floor &&
	    p->base_seq > rw->call_seq)
		return remote_memory__base(&rw->memory, id);
	if ((context || (is_volatile && !rw->matched)) && rw->context_seq > floor)
		floor = rw->context_seq;
	if (p->fresh_seq <= floor)
		piece__fetch(rw, id, context);
	if (p->fresh_seq <= floor)
		return NULL;
	if (context) {
		rw->context_seq = p->fresh_seq;
		rw->memory.pieces[id].walked = rw->look;
		rw->matched = piece__same_call(rw, id);
		if (rw->matched) {
			rw->call_seq = p->base_seq;
			rw->call_at = p->outermost;
		}
	}
	return remote_memory__fresh(&rw->memory, id);
}

/*
 * What the second look walked is as that found it, the contexts outside of it as the first did:
 * they were perhaps read again, too, but who knows when, and whether they were live then.
 */
static const uint8_t *piece__final(struct remote_walk *rw, uint32_t id, enum read_kind kind)
{
	const struct piece *p = &rw->memory.pieces[id];
	bool context = kind == READ_CONTEXT;

	if (p->fresh_seq > rw->top_floor && (!context || p->walked == rw->look))
		return remote_memory__fresh(&rw->memory, id);
	/* a context that was read with others, but that the first look did not come to: who knows
	 */
	if (p->base_seq > rw->floor && (!context || p->visited == rw->ahead_pass)) {
		rw->early = true;
		return remote_memory__base(&rw->memory, id);
	}
	if (!context && p->fresh_seq > rw->floor)
		return remote_memory__fresh(&rw->memory, id);
	return NULL;
}

/* Remember what is to be verified, and the contexts up to the innermost call. */
static void verify__note(struct remote_walk *rw, uint32_t id, enum read_kind kind,
			 const uint8_t *bytes)
{
	bool context = kind == READ_CONTEXT;

	if (!context && !kind__is_verified(kind))
		return;
	if (!rw->call_seen && rw->nverify <= VERIFY_MAX) {
		if (rw->nverify < VERIFY_MAX)
			rw->verify[rw->nverify] = id;
		rw->nverify++;
	}
	if (!context || !context__calls(rw, bytes))
		return;
	if (context__has_env(rw, bytes))
		rw->call_seen = true;
	else
		rw->dead = true;
}

/*
 * What the walk asked for cannot be read, or was not.  May that be?  Of what was asked for in a
 * look and could not be read then, the last pass knows nothing either.
 */
static bool remote__may_miss(struct remote_walk *rw, uint32_t id)
{
	struct piece *p = id == PIECE_NONE ? NULL : &rw->memory.pieces[id];

	if (!rw->walk.lenient || !p)
		return false;
	if (rw->phase != REMOTE_FINAL)
		p->refused = rw->floor + 1;
	return p->refused == rw->floor + 1;
}

int walk__read(struct walk *w, enum read_kind kind, void *dst, __u32 len, __u64 addr)
{
	struct remote_walk *rw = remote__of(w);
	const uint8_t *bytes = NULL;
	uint32_t id;

	if (!len || len > REMOTE_PIECE_MAX || addr > UINT64_MAX - len)
		return -1;
	if (rw->direct)
		return remote_memory__read(&rw->memory, addr, dst, len);
	id = remote_memory__find(&rw->memory, addr, len);
	if (id == PIECE_NONE && rw->phase != REMOTE_FINAL)
		id = remote_memory__put(&rw->memory, addr, len);
	if (id != PIECE_NONE) {
		switch (rw->phase) {
		case REMOTE_AHEAD:
			bytes = piece__ahead(rw, id, kind);
			break;
		case REMOTE_TOP:
			bytes = piece__top(rw, id, kind);
			break;
		case REMOTE_FINAL:
			bytes = piece__final(rw, id, kind);
			break;
		}
	}
	if (!bytes) {
		rw->missed = rw->missed || !remote__may_miss(rw, id);
		return -1;
	}
	memcpy(dst, bytes, len);
	rw->memory.pieces[id].kind = kind;
	if (rw->phase != REMOTE_FINAL)
		verify__note(rw, id, kind, bytes);
	if (rw->phase == REMOTE_TOP)
		return plan__add(&rw->top, id);
	if (rw->memory.pieces[id].used != rw->pass) {
		rw->memory.pieces[id].used = rw->pass;
		rw->memory.pieces[id].pos = rw->plan.count;
		return plan__add(&rw->plan, id);
	}
	return 0;
}

int walk__known(struct walk *w, __u64 sym)
{
	return map__get(&remote__of(w)->known, sym, 0) != NULL;
}

/* Remember that what @id and @kind stand for was sent. */
static int remote__remember(struct remote_walk *rw, __u64 id, uint32_t kind)
{
	if (rw->known.count >= KNOWN_MAX)
		map__free(&rw->known);
	return map__put(&rw->known, id, kind, rw) ? -XR_LOST : 0;
}

/* Send the @len bytes of the record's text. */
static void text__put(struct remote_walk *rw, __u64 id, enum xr_text_kind kind, __u32 len)
{
	struct xr_text *text = &rw->record.text;

	text->head.type = XR_REC_TEXT;
	text->head.size = (__u32)sizeof(*text) + len;
	text->id = id;
	text->serial = rw->walk.row.serial;
	text->kind = kind;
	text->len = len;
	text->pad = 0;
	if (rw->sink)
		rw->sink(rw->sink_arg, text, text->head.size);
	rw->texts++;
}

/* Send the text of @len bytes at @addr; @id 0: under its hash, which goes to walk.hash. */
static int text__send(struct remote_walk *rw, __u64 id, enum xr_text_kind kind, __u64 addr,
		      __u32 len)
{
	struct xr_text *text = &rw->record.text;
	__u32 max = kind == XR_TEXT_SYMBOL ? XR_NAME_MAX : XR_TEXT_MAX;
	int err = 0;

	if (len > max)
		len = max;
	/* a symbol's name is sent once; other texts are asked for in each sample */
	if (kind == XR_TEXT_HASHED && len && len <= REMOTE_PIECE_MAX)
		err = walk__read(&rw->walk, READ_OBJECT, text->text, len, addr);
	else if (len)
		err = remote_memory__read(&rw->memory, addr, text->text, len);
	if (err)
		return -XR_BAD_SYMBOL;
	if (kind == XR_TEXT_HASHED) {
		rw->walk.hash = id = map__hash_bytes(text->text, len) | 1; /* 0: no text */
		if (map__get(&rw->known, id, XR_TEXT_HASHED))
			return 0;
	}
	text__put(rw, id, kind, len);
	return remote__remember(rw, id, kind);
}

int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len)
{
	return text__send(remote__of(w), sym, XR_TEXT_SYMBOL, addr, len);
}

int walk__send_hashed(struct walk *w, __u64 addr, __u32 len)
{
	return text__send(remote__of(w), 0, XR_TEXT_HASHED, addr, len);
}

int walk__send_labels(struct walk *w)
{
	struct remote_walk *rw = remote__of(w);
	struct xr_text *text = &rw->record.text;
	uint32_t len = 0;

	for (uint32_t i = 0; i < w->labels.n; i++) {
		const uint32_t n = w->labels.len[i];

		if (n && walk__read(w, READ_OBJECT, text->text + len, n, w->labels.at[i]))
			return -XR_BAD_SYMBOL;
		text->text[len + n] = '\0';
		len += n + 1;
	}
	w->hash = map__hash_bytes(text->text, len) | 1;
	if (rw->phase != REMOTE_FINAL || w->hash == rw->labels_sent)
		return 0;
	rw->labels_sent = w->hash;
	text__put(rw, w->hash, XR_TEXT_LABELS, len);
	return 0;
}

int walk__send_place(struct walk *w, __u64 id, __u64 file, __u32 line)
{
	struct remote_walk *rw = remote__of(w);
	struct xr_place *place = &rw->record.place;
	const uint64_t key = id ^ file ^ line * 0x9e3779b97f4a7c15ULL;

	/* an address may be used again, for another file */
	if (map__get(&rw->known, key, KNOWN_PLACE))
		return 0;
	*place = (struct xr_place){
		.head = {.type = XR_REC_PLACE, .size = sizeof(*place)},
		.id = id,
		.file = file,
		.serial = rw->walk.row.serial,
		.line = line,
	};
	if (rw->sink)
		rw->sink(rw->sink_arg, place, sizeof(*place));
	return remote__remember(rw, key, KNOWN_PLACE);
}

int walk__emit(struct walk *w, __u64 word, __u64 more)
{
	struct remote_walk *rw = remote__of(w);

	if (rw->phase != REMOTE_FINAL)
		return 0;
	if (array__room(&rw->slots, rw->nslots, &rw->cap_slots, sizeof(*rw->slots)))
		return -XR_LOST;
	rw->slots[rw->nslots].word = word;
	rw->slots[rw->nslots].more = more;
	rw->nslots++;
	return 0;
}

__u64 walk__now(struct walk *w)
{
	return remote__clock(remote__of(w));
}
