/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "values/heap.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "sexp.h"

#define TEXT_READ 4096u /* bytes of a text read at once */
#define CHAIN_MAX 64u	/* attributes of an object looked at; wrappers around wrappers */

/* Bits of a CHARSXP's gp (Defn.h). */
#define GP_LATIN1 (1u << 2)
#define GP_ASCII  (1u << 6)

void heap__init(struct heap *h, const struct mem_reader *reader, const struct xr_row *row,
		uint32_t reads)
{
	*h = (struct heap){
		.reader = reader,
		.nil = row->nil,
		.vector_data = row->layout.vector_data,
		.altrep = row->layout.has_altrep,
		.left = reads,
		.fun_tab = row->fun_tab,
	};
}

bool heap__read(struct heap *h, uint64_t at, void *to, size_t len)
{
	int err = -EFAULT;

	if (h->left && at && at + len > at)
		err = mem_reader__read(h->reader, at, to, len);
	h->left -= h->left > 0;
	h->err = err ? err : h->err;
	return !err;
}

bool heap__is_vector(unsigned int type)
{
	return type == HEAP_LOGICAL || (type >= HEAP_INTEGER && type <= HEAP_STRING) ||
	       type == HEAP_LIST || type == HEAP_EXPRESSION || type == HEAP_RAW;
}

bool heap__object(struct heap *h, uint64_t at, struct object *o)
{
	uint64_t words[R_CELL_WORDS];

	*o = (struct object){.at = at};
	if (at == h->nil) {
		o->attributes = h->nil;
		return true;
	}
	if (at % 8 || !heap__read(h, at, words, sizeof(words)))
		return false;
	o->type = (unsigned int)words[0] & R_TYPE_MASK;
	/* type:5 scalar:1 obj:1 alt:1 gp:16 from R 3.5 on; type:5 obj:1 named:2 gp:16 before */
	o->has_class = words[0] & (h->altrep ? 0x40u : 0x20u);
	o->alt = h->altrep && words[0] & R_ALTREP_BIT;
	o->gp = (uint16_t)(words[0] >> 8);
	o->extra = h->altrep ? (uint32_t)(words[0] >> 48) : 0;
	o->attributes = words[1];
	memcpy(o->word, &words[R_CAR], sizeof(o->word));
	if ((o->type == HEAP_CHAR || heap__is_vector(o->type)) &&
	    !o->alt) /* of ALTREP objects heap__plain() knows */
		o->length = h->altrep ? o->word[0] : o->word[0] & 0xffffffff;
	return true;
}

/* Latin-1 as UTF-8. */
static int text__latin1(struct buf *b, const char *s, size_t len)
{
	char one[4];
	int err = 0;

	for (size_t i = 0; i < len && !err; i++)
		err = buf__add(b, one, (size_t)(utf8__put(one, (unsigned char)s[i]) - one));
	return err;
}

int heap__text(struct heap *h, uint64_t at, struct buf *b, size_t max)
{
	char text[TEXT_READ + 1];
	struct object o;
	size_t len, whole = 0, n;

	if (!heap__object(h, at, &o) || o.type != HEAP_CHAR)
		return -EFAULT;
	len = o.length & 0xffffffff;
	if (len > max)
		len = max;
	if (len > TEXT_READ)
		len = TEXT_READ;
	if (len && !heap__read(h, at + h->vector_data, text, len))
		return -EFAULT;
	text[len] = '\0';
	/* R_NaString alone has these letters and is not marked as ASCII (InitNames(), names.c) */
	if (len == 2 && !memcmp(text, "NA", 2) && !(o.gp & GP_ASCII))
		return 1;
	if (o.gp & GP_LATIN1)
		return text__latin1(b, text, len);
	while (whole < len && (n = utf8__length(text + whole)) && whole + n <= len)
		whole += n;
	/* a character that the limit cuts in two is left out, bytes that are not characters stay */
	return buf__add(b, text, len == o.length || len - whole > 3 ? len : whole);
}

int heap__name(struct heap *h, uint64_t at, struct buf *b, size_t max)
{
	struct object o;
	int err;

	if (!heap__object(h, at, &o) || o.type != HEAP_SYMBOL)
		return -EFAULT;
	err = heap__text(h, o.word[0], b, max);
	return err > 0 ? buf__str(b, "NA") : err;
}

bool heap__is(struct heap *h, uint64_t at, const char *name)
{
	struct buf b = {0};
	bool same = !heap__name(h, at, &b, strlen(name) + 1) && b.len == strlen(name) &&
		    !memcmp(b.data ? b.data : "", name, b.len);

	buf__free(&b);
	return same;
}

uint64_t heap__attribute(struct heap *h, const struct object *o, const char *name)
{
	uint64_t at = o->attributes;
	struct object cell;

	for (unsigned int i = 0; i < CHAIN_MAX && at != h->nil; i++) {
		if (!heap__object(h, at, &cell) || cell.type != HEAP_PAIRLIST)
			break;
		if (heap__is(h, cell.word[2], name))
			return cell.word[0];
		at = cell.word[1];
	}
	return h->nil;
}

uint32_t heap__count(struct heap *h, uint64_t at, uint32_t max)
{
	struct object cell;
	uint32_t n = 0;

	while (n < max && at != h->nil && heap__object(h, at, &cell)) {
		n++;
		at = cell.word[1];
	}
	return n;
}

void heap__alt_class(struct heap *h, const struct object *o, char name[32])
{
	struct object class, cell;
	struct buf b = {0};

	/* TAG is the class; its attributes are list(class, package, type), altrep.c */
	*name = '\0';
	if (heap__object(h, o->word[2], &class) && heap__object(h, class.attributes, &cell) &&
	    !heap__name(h, cell.word[0], &b, 31)) {
		size_t len = b.len;

		/* Latin-1 became twice as long; no character is cut in two */
		while (len > 31 || (len < b.len && (b.data[len] & 0xc0) == 0x80))
			len--;
		memcpy(name, len ? b.data : "", len);
		name[len] = '\0';
	}
	buf__free(&b);
}

/* c(length, first, step) of a compact sequence that is not expanded. */
static bool alt__sequence(struct heap *h, const struct object *o, double parts[3])
{
	struct object info;

	return heap__object(h, o->word[0], &info) && info.type == HEAP_REAL && !info.alt &&
	       info.length == 3 && heap__read(h, info.at + h->vector_data, parts, 24);
}

bool heap__plain(struct heap *h, struct object *o)
{
	const bool has_class = o->has_class;
	const uint64_t attributes = o->attributes;
	struct object inner;
	double parts[3];
	char class[32];

	for (unsigned int i = 0; o->alt; i++) {
		if (i == CHAIN_MAX)
			return false;
		heap__alt_class(h, o, class);
		if (!strncmp(class, "wrap_", 5)) {
			if (!heap__object(h, o->word[0], &inner) || inner.type != o->type)
				return false;
		} else if (!strcmp(class, "compact_intseq") || !strcmp(class, "compact_realseq")) {
			if (!alt__sequence(h, o, parts) || !(parts[0] >= 0) || parts[0] > 1e15)
				return false;
			o->length = (uint64_t)parts[0];
			if (o->word[1] == h->nil)
				return true;
			if (!heap__object(h, o->word[1], &inner) || inner.type != o->type)
				return false;
		} else if (!strcmp(class, "deferred_string")) { /* all of it was computed */
			if (o->word[0] != h->nil) {		/* of what it is to be made */
				if (heap__object(h, o->word[0], &inner) &&
				    heap__object(h, inner.word[0], &inner) &&
				    heap__plain(h, &inner))
					o->length = inner.length;
				return false;
			}
			if (!heap__object(h, o->word[1], &inner) || inner.type != o->type)
				return false;
		} else {
			return false;
		}
		*o = inner;
		o->has_class = has_class;
		o->attributes = attributes;
	}
	return true;
}

bool heap__word(struct heap *h, const struct object *o, uint64_t i, uint64_t *value)
{
	return i < o->length && heap__read(h, o->at + h->vector_data + i * 8, value, 8);
}

bool heap__complex(struct heap *h, const struct object *o, uint64_t i, double parts[2])
{
	return i < o->length && heap__read(h, o->at + h->vector_data + i * 16, parts, 16);
}

bool heap__byte(struct heap *h, const struct object *o, uint64_t i, uint8_t *value)
{
	return i < o->length && heap__read(h, o->at + h->vector_data + i, value, 1);
}

bool heap__integer(struct heap *h, const struct object *o, uint64_t i, int32_t *value)
{
	double parts[3];

	if (i >= o->length)
		return false;
	if (!o->alt)
		return heap__read(h, o->at + h->vector_data + i * 4, value, 4);
	if (!alt__sequence(h, o, parts))
		return false;
	parts[1] += parts[2] * (double)i;
	if (!(parts[1] >= INT32_MIN && parts[1] <= INT32_MAX))
		return false;
	*value = (int32_t)parts[1];
	return true;
}

bool heap__real(struct heap *h, const struct object *o, uint64_t i, double *value)
{
	double parts[3];

	if (i >= o->length)
		return false;
	if (!o->alt)
		return heap__read(h, o->at + h->vector_data + i * 8, value, 8);
	if (!alt__sequence(h, o, parts))
		return false;
	*value = parts[1] + parts[2] * (double)i;
	return true;
}
