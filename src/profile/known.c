/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/known.h"
#include "base/limits.h"
#include "base/seed.h"
#include "profile/names.h"

#define ID_COST (2 * sizeof(struct map_entry)) /* a name's place in a map */

#define KNOWN_PLACE 3u	/* the kind of a place's id, beside enum xr_text_kind */
#define KNOWN_COUNT 4u	/* of a name's hash: how many srcfiles have that name */
#define NUMBERED    64u /* srcfiles of one name that are told apart; the others are one */

struct slot {
	uint64_t hash;
	struct known_frame key;
	const struct frame *frame;
};

/* What the sampler told of a place. */
struct known_place {
	uint64_t file; /* hash */
	uint32_t line; /* of a srcfile its number among those of that name */
	uint32_t born; /* of a srcfile, as in struct xr_place */
};

void known__init(struct knowledge *all, struct decoder_stats *stats, size_t memory)
{
	*all = (struct knowledge){
		.stats = stats,
		.memory = memory,
		.room = {.max = LIMIT_NAMES(memory), .shared = true},
		.made.max = LIMIT_MADE(memory),
		.reserves.max = LIMIT_RESERVES(memory),
	};
	for (size_t i = 0; i < sizeof(all->keys) / sizeof(all->keys[0]); i++)
		all->keys[i] = map__hash(seed__get(), i) | 1;
}

static void known__forget_slots(struct known *k)
{
	table__free(&k->slots);
	arena__free(&k->arena);
}

/* Let go all that was made of the names. */
static void known__forget_made(struct known *k)
{
	known__forget_slots(k);
	stacks__free(&k->stacks);
}

static void known__free(struct knowledge *all, struct known *k)
{
	if (!k)
		return;
	known__forget_made(k);
	intern__free(&k->names);
	label_sets__free(&k->labels);
	arena__free(&k->places);
	budget__give(&k->room, k->ids.count * ID_COST);
	map__free(&k->ids);
	budget__give(&all->reserves, k->room.reserve);
	free(k);
}

struct known *known__of(struct knowledge *all, uint32_t serial)
{
	struct known *k = map__get(&all->processes, serial, 0);

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->room = (struct budget){.whole = &all->room, .max = SIZE_MAX};
	if (budget__take(&all->reserves, LIMIT_RESERVE(all->memory)))
		k->room.reserve = LIMIT_RESERVE(all->memory);
	k->made = (struct budget){.whole = &all->made, .max = LIMIT_MADE_ONE(all->memory)};
	intern__init(&k->names, &k->room);
	k->labels.budget = &k->room;
	k->places.budget = &k->room;
	stacks__init(&k->stacks, &k->made, &all->last_id);
	k->slots.budget = k->arena.budget = &k->made;
	if (!map__put(&all->processes, serial, 0, k))
		return k;
	known__free(all, k);
	return NULL;
}

/* Map values are not const; no code writes through these. */
static int known__put(struct known *k, uint64_t id, uint32_t kind, const void *value)
{
	return map__put(&k->ids, id, kind, (void *)(uintptr_t)value);
}

/* The most bytes that a sampler sends of a text of @kind. */
static uint32_t text__max(uint32_t kind)
{
	return kind == XR_TEXT_SYMBOL ? XR_NAME_MAX : XR_TEXT_MAX;
}

/*
 * The name of @r, which the sampler cut: without the part of a character at its end, marked.
 */
static const struct name *known__cut(struct knowledge *all, struct known *k,
				     const struct xr_text *r)
{
	uint32_t len = r->len;

	while (len && ((unsigned char)r->text[len - 1] & 0xc0) == 0x80 && r->len - len < 3)
		len--;
	/* keep a character of which nothing is missing */
	if (len && (unsigned char)r->text[len - 1] >= 0xc0) {
		unsigned char first = (unsigned char)r->text[len - 1];
		uint32_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;

		len = r->len - len + 1 < need ? len - 1 : r->len;
	} else {
		len = r->len;
	}
	all->name.len = 0;
	if (buf__add(&all->name, r->text, len) || buf__add(&all->name, "...", 3))
		return NULL;
	return intern__get(&k->names, all->name.data, all->name.len);
}

int known__text(struct knowledge *all, const struct xr_text *r)
{
	const struct name *name, *old;
	struct known *k;
	int err;

	if (r->kind > XR_TEXT_LABELS || r->len > text__max(r->kind))
		return -EBADMSG;
	k = known__of(all, r->serial);
	if (!k)
		return -ENOMEM;
	if (r->kind == XR_TEXT_LABELS) {
		all->stats->names_dropped +=
			label_sets__put(&k->labels, r->id, r->text, r->len) != 0;
		return 0;
	}
	name = r->len < text__max(r->kind) ? intern__get(&k->names, r->text, r->len)
					   : known__cut(all, k, r);
	old = map__get(&k->ids, r->id, r->kind);
	if (name && name == old)
		return 0;
	if (name && (name->cut || r->len == text__max(r->kind)))
		all->stats->names_cut++;
	if (!old && (!name || !budget__take(&k->room, ID_COST))) {
		all->stats->names_dropped++;
		return 0;
	}
	if (!name) {
		/* the old name is wrong now */
		all->stats->names_dropped++;
		name = mark_no_room.function;
	}
	if (old)
		known__forget_slots(k); /* some may be made of the old text */
	err = known__put(k, r->id, r->kind, name);
	if (err && !old)
		budget__give(&k->room, ID_COST);
	return err;
}

const struct profile_label *known__labels(struct knowledge *all, struct known *k, uint64_t id,
					  size_t *n)
{
	const struct profile_label *labels = label_sets__find(&k->labels, id, n);

	all->stats->unnamed += id && !labels;
	return labels;
}

/* The number of one more srcfile whose name's hash is @file. */
static uint32_t known__number(struct known *k, uint64_t file)
{
	uint32_t n = map__number(&k->ids, file, KNOWN_COUNT);

	if (n > NUMBERED || (!n && !budget__take(&k->room, ID_COST)))
		return n;
	return known__put(k, file, KNOWN_COUNT, (void *)(uintptr_t)(n + 1)) ? n : n + 1;
}

/*
 * Is @r what is known of the srcfile @place?  If it was not known when R made that, it is taken to
 * be the same.
 */
static bool place__same_srcfile(struct known_place *place, const struct xr_place *r)
{
	if (place->file != r->file ||
	    (r->line >= XR_BORN_FIRST && place->born && place->born != r->line))
		return false;
	if (r->line && place->born < XR_BORN_FIRST)
		place->born = r->line;
	return true;
}

int known__told_place(struct knowledge *all, const struct xr_place *r)
{
	struct known *k = known__of(all, r->serial);
	const bool srcfile = !(r->id & 1);
	struct known_place *place, new = {r->file, r->line, 0};
	int err;

	if (!k)
		return -ENOMEM;
	place = map__get(&k->ids, r->id, KNOWN_PLACE);
	if (place && (srcfile ? place__same_srcfile(place, r)
			      : place->file == r->file && place->line == r->line))
		return 0;
	if (srcfile)
		new = (struct known_place){r->file, known__number(k, r->file), r->line};
	if (place && place->file == new.file && place->line == new.line) {
		*place = new; /* all numbers are used: no name changes */
		return 0;
	}
	if (place) {
		known__forget_slots(k); /* some may be made of the old place */
		*place = new;
		return 1;
	}
	if (!budget__take(&k->room, ID_COST))
		goto no_room;
	place = arena__alloc(&k->places, sizeof(*place));
	if (!place) {
		budget__give(&k->room, ID_COST);
		goto no_room;
	}
	*place = new;
	err = known__put(k, r->id, KNOWN_PLACE, place);
	if (err)
		budget__give(&k->room, ID_COST);
	return err ? err : 1;
no_room:
	all->stats->names_dropped++;
	return 0;
}

#define ADDRESS_TEXT 24 /* bytes that hold <0x%llx> */

/*
 * The text of @id, or one that says its address, which is written to @address; @known turns false
 * then.
 */
static const char *known__word(const struct known *k, uint64_t id, uint32_t kind,
			       char address[ADDRESS_TEXT], bool *known)
{
	const struct name *name = map__get(&k->ids, id, kind);

	if (name)
		return name->text;
	*known = false;
	snprintf(address, ADDRESS_TEXT, "<0x%" PRIx64 ">", id);
	return address;
}

/* How a slot's words are to be read, by form. */
static const struct form {
	uint8_t word : 1;   /* a symbol */
	uint8_t more : 1;   /* a symbol, too */
	uint8_t hashed : 1; /* more is a text's hash */
	uint8_t native : 1; /* known__native() */
	enum frame_kind kind;
} forms[XR_FORMS] = {
	[XR_FORM_SYMBOL] = {.word = 1},
	[XR_FORM_ANON] = {.kind = FRAME_ANON},
	[XR_FORM_COLON2] = {.word = 1, .more = 1},
	[XR_FORM_COLON3] = {.word = 1, .more = 1},
	[XR_FORM_DOLLAR] = {.word = 1, .more = 1},
	[XR_FORM_ITEM_SYM] = {.word = 1, .more = 1},
	[XR_FORM_ITEM_STR] = {.word = 1, .hashed = 1},
	[XR_FORM_ITEM_INT] = {.word = 1},
	[XR_FORM_ITEM_REAL] = {.word = 1},
	[XR_FORM_ITEM_ODD] = {.word = 1},
	[XR_FORM_BUILTIN] = {.native = 1, .kind = FRAME_BUILTIN},
	[XR_FORM_NATIVE] = {.native = 1, .kind = FRAME_NATIVE},
	[XR_FORM_KERNEL] = {.native = 1, .kind = FRAME_KERNEL},
};

/* Render the name of a slot.  @known turns false if a text never came. */
static int known__render(struct knowledge *all, const struct known *k, const struct xr_slot *key,
			 const struct name **name, bool *known)
{
	uint64_t form = key->word >> XR_FORM_SHIFT, id = key->word & XR_WORD_MASK;
	char address[ADDRESS_TEXT], second[ADDRESS_TEXT];
	const char *word = NULL, *more = NULL;
	int err;

	if (form == XR_FORM_SYMBOL) { /* its text is its name */
		*name = map__get(&k->ids, id, XR_TEXT_SYMBOL);
		if (*name)
			return 0;
	}
	if (forms[form].word)
		word = known__word(k, id, XR_TEXT_SYMBOL, address, known);
	if (forms[form].more)
		more = known__word(k, key->more, XR_TEXT_SYMBOL, second, known);
	if (forms[form].hashed)
		more = known__word(k, key->more, XR_TEXT_HASHED, second, known);
	all->name.len = 0;
	err = name__render(&all->name, (enum xr_form)form, word, more, key->more);
	*name = NULL;
	return err;
}

/* What the file at srcfile @id is called: that of code in no file, if R's name is not a file's. */
static const struct name *known__srcfile(struct knowledge *all, struct known *k, uint64_t id)
{
	const struct known_place *source = map__get(&k->ids, id, KNOWN_PLACE);
	const struct name *name = source ? map__get(&k->ids, source->file, XR_TEXT_HASHED) : NULL;

	if (!name || (name->len && name->text[0] != '<'))
		return name;
	all->name.len = 0;
	if (code_name__make(&all->name, name->text, source->line))
		return NULL;
	return stacks__name(&k->stacks, all->name.data, all->name.len);
}

/* The name of file @id (abi.h), NULL for none; one whose text never came is named by its id. */
static const struct name *known__file(struct knowledge *all, struct known *k, uint64_t id)
{
	const struct name *file;
	char address[ADDRESS_TEXT];

	if (!id)
		return NULL;
	file = id & 1 ? map__get(&k->ids, id, XR_TEXT_HASHED) : known__srcfile(all, k, id);
	if (file)
		return file;
	all->stats->unnamed++;
	snprintf(address, sizeof(address), "<0x%" PRIx64 ">", id);
	file = stacks__word(&k->stacks, address);
	return file ? file : mark_no_room.function;
}

const struct name *known__source(struct knowledge *all, uint32_t serial, uint64_t id)
{
	struct known *k = known__of(all, serial);
	const struct known_place *source = k ? map__get(&k->ids, id, KNOWN_PLACE) : NULL;

	return source && source->line <= NUMBERED ? known__srcfile(all, k, id) : NULL;
}

struct place known__place(struct knowledge *all, struct known *k, uint64_t file, uint32_t line)
{
	return (struct place){.file = known__file(all, k, file), .line = file ? line : 0};
}

/* The name of @package (abi.h), NULL for none and for one whose text never came. */
static const struct name *known__package(struct knowledge *all, struct known *k, uint64_t package)
{
	const struct name *name;

	switch (package) {
	case 0:
		return NULL;
	case XR_PACKAGE_GLOBAL:
		return stacks__word(&k->stacks, ".GlobalEnv");
	case XR_PACKAGE_BASE:
		return stacks__word(&k->stacks, "base");
	default:
		name = map__get(&k->ids, package, XR_TEXT_HASHED);
		all->stats->unnamed += !name;
		return name;
	}
}

/* The place that @definition (abi.h) stands for; one that was never told is not known. */
static struct place known__defined(struct knowledge *all, struct known *k, uint64_t definition)
{
	const struct known_place *place =
		definition ? map__get(&k->ids, definition, KNOWN_PLACE) : NULL;

	all->stats->unnamed += definition && !place;
	return place ? known__place(all, k, place->file, place->line) : (struct place){0};
}

/* Remember what @key stands for; if that fails it is made again each time. */
static void known__remember(struct known *k, const struct known_frame *key, uint64_t hash,
			    const struct frame *frame)
{
	struct slot *slot = arena__alloc(&k->arena, sizeof(*slot));

	if (!slot)
		return;
	*slot = (struct slot){.hash = hash, .key = *key, .frame = frame};
	table__add(&k->slots, slot);
}

/* The frame of @key, made and remembered; one with a text that may still come is not. */
static int known__make(struct knowledge *all, struct known *k, const struct known_frame *key,
		       uint64_t hash, const struct frame **out)
{
	uint64_t form = key->name.word >> XR_FORM_SHIFT, unnamed = all->stats->unnamed;
	struct frame frame = {0};
	bool known = true;
	int err;

	if (form == XR_FORM_NONE || form >= XR_FORMS || forms[form].native)
		return -EBADMSG;
	frame.kind = forms[form].kind;
	err = known__render(all, k, &key->name, &frame.function, &known);
	if (err)
		return err;
	if (!frame.function)
		frame.function = stacks__name(&k->stacks, all->name.data ? all->name.data : "",
					      all->name.len);
	if (!known && frame.kind == FRAME_R)
		frame.kind = FRAME_UNNAMED;
	if (frame.function && frame.function->cut && form != XR_FORM_SYMBOL)
		all->stats->names_cut++;
	frame.place = known__place(all, k, key->file, key->line);
	frame.package = known__package(all, k, key->function.word);
	frame.defined = known__defined(all, k, key->function.more);
	*out = frame.function ? stacks__frame(&k->stacks, &frame) : NULL;
	if (!*out) {
		all->stats->names_dropped++;
		*out = &mark_no_room;
		return 0;
	}
	all->stats->unnamed += !known;
	if (all->stats->unnamed != unnamed)
		return 0;
	known__remember(k, key, hash, *out);
	return 0;
}

static bool slot__same(const void *record, const void *arg)
{
	const struct known_frame *a = &((const struct slot *)record)->key, *b = arg;

	return a->name.word == b->name.word && a->name.more == b->name.more && a->file == b->file &&
	       a->line == b->line && a->function.word == b->function.word &&
	       a->function.more == b->function.more;
}

/* The target chooses all of these words, so that each has a secret factor. */
static uint64_t slot__hash(const struct knowledge *all, const struct known_frame *told)
{
	const uint64_t *keys = all->keys;

	return map__hash(told->name.word * keys[0] + told->name.more * keys[1] +
				 told->file * keys[2] + told->line * keys[3] +
				 told->function.word * keys[4] + told->function.more * keys[5],
			 0);
}

int known__frame(struct knowledge *all, struct known *k, const struct known_frame *told,
		 const struct frame **out)
{
	const uint64_t hash = slot__hash(all, told);
	const struct slot *made = table__find(&k->slots, hash, slot__same, told);

	if (!made)
		return known__make(all, k, told, hash, out);
	*out = made->frame;
	return 0;
}

/* A native frame without a name: its module and where it is in that. */
static int native__place(struct buf *name, const struct native_told *told)
{
	const char *module = told->module ? strrchr(told->module, '/') : NULL;

	name->len = 0;
	if (!told->module)
		return buf__str(name, "[unknown]");
	return buf__printf(name, "%s+0x%" PRIx64, module ? module + 1 : told->module,
			   told->address);
}

/* What makes no difference to the frame is not told apart. */
static struct xr_slot native__key(const struct knowledge *all, const struct xr_slot *slot)
{
	const uint64_t flags =
		(uint64_t)(XR_NATIVE_FLAGS(slot->more) & (XR_NATIVE_BEGINS | XR_NATIVE_SIGNAL))
		<< 56;
	struct xr_slot key = *slot;

	if (slot->word >> XR_FORM_SHIFT == XR_FORM_KERNEL)
		return key;
	key.more = (slot->more & ~(0xffULL << 56)) | flags;
	if (!all->raw && XR_NATIVE_FLAGS(slot->more) & XR_NATIVE_BEGINS)
		key.word = (slot->word & ~0xffffffffULL) | XR_NATIVE_BEGIN(slot->more);
	else if (!XR_NATIVE_MODULE(slot->more)) /* nothing is known of it */
		key.word &= ~XR_WORD_MASK;
	return key;
}

int known__native(struct knowledge *all, struct known *k, const struct xr_slot *slot,
		  const struct frame **out, bool *named)
{
	struct known_frame key = {.name = native__key(all, slot)};
	const uint64_t hash = slot__hash(all, &key), form = slot->word >> XR_FORM_SHIFT;
	const struct slot *made = table__find(&k->slots, hash, slot__same, &key);
	struct native_told told = {0};
	struct frame frame = {0};

	if (made) {
		*named = made->key.named;
		*out = made->frame;
		return 0;
	}
	if (form >= XR_FORMS || !forms[form].native)
		return -EBADMSG;
	if (all->teller)
		all->teller(all->teller_arg, &key.name, &told);
	*named = key.named = told.name != NULL;
	frame.kind = forms[form].kind;
	if (!told.name && frame.kind == FRAME_BUILTIN)
		frame.kind = FRAME_NATIVE;
	frame.address = told.address;
	frame.module = stacks__word(&k->stacks, told.module);
	frame.build_id = stacks__word(&k->stacks, told.build_id);
	frame.hash = stacks__word(&k->stacks, told.hash);
	if (told.name) {
		frame.function = stacks__word(&k->stacks, told.name);
	} else {
		if (native__place(&all->name, &told))
			return -ENOMEM;
		frame.function = stacks__name(&k->stacks, all->name.data, all->name.len);
	}
	*out = frame.function ? stacks__frame(&k->stacks, &frame) : NULL;
	if (!*out) {
		all->stats->names_dropped++;
		*out = &mark_no_room;
		return 0;
	}
	known__remember(k, &key, hash, *out);
	return 0;
}

const struct frame *known__leaf(struct known *k)
{
	struct frame frame = {
		.kind = FRAME_NATIVE,
		.function = stacks__word(&k->stacks, "[R]"),
	};

	return frame.function ? stacks__frame(&k->stacks, &frame) : NULL;
}

void known__make_room(struct knowledge *all, struct known *k)
{
	if (k->made.used > k->made.max / 2 && !k->pending)
		known__forget_made(k);
	if (all->made.used <= all->made.max / 2)
		return;
	for (size_t i = 0; i < all->processes.cap; i++) {
		k = all->processes.entries[i].value;
		if (k && !k->pending)
			known__forget_made(k);
	}
}

void known__forget(struct knowledge *all, uint32_t serial)
{
	known__free(all, map__remove(&all->processes, serial, 0));
}

void known__free_all(struct knowledge *all)
{
	for (size_t i = 0; i < all->processes.cap; i++)
		known__free(all, all->processes.entries[i].value);
	map__free(&all->processes);
	buf__free(&all->name);
}
