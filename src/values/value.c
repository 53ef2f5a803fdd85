/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "values/value.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "values/deparse.h"
#include "values/literal.h"

#define SHOWN	     10u /* elements of a vector */
#define STRING_BYTES 64u
#define DIGITS	     3	    /* significant ones, as str() has them */
#define CELLS_MAX    10000u /* of a pairlist that are counted */

/* gp of a binding (Defn.h) */
#define GP_ACTIVE (1u << 15)

const char *value__type(unsigned int type)
{
	static const char *const names[] = {
		[HEAP_NIL] = "NULL",
		[HEAP_SYMBOL] = "symbol",
		[HEAP_PAIRLIST] = "pairlist",
		[HEAP_CLOSURE] = "closure",
		[HEAP_ENVIRONMENT] = "environment",
		[HEAP_PROMISE] = "promise",
		[HEAP_CALL] = "language",
		[HEAP_SPECIAL] = "special",
		[HEAP_BUILTIN] = "builtin",
		[HEAP_CHAR] = "char",
		[HEAP_LOGICAL] = "logical",
		[HEAP_INTEGER] = "integer",
		[HEAP_REAL] = "double",
		[HEAP_COMPLEX] = "complex",
		[HEAP_STRING] = "character",
		[HEAP_DOTS] = "...",
		[HEAP_LIST] = "list",
		[HEAP_EXPRESSION] = "expression",
		[HEAP_BYTECODE] = "bytecode",
		[HEAP_POINTER] = "externalptr",
		[HEAP_WEAK] = "weakref",
		[HEAP_RAW] = "raw",
		[HEAP_S4] = "S4",
	};
	const char *name = type < sizeof(names) / sizeof(*names) ? names[type] : NULL;

	return name ? name : "?";
}

/* How str() begins the line of an atomic vector. */
static const char *type__short(unsigned int type)
{
	static const char *const names[HEAP_S4 + 1] = {
		[HEAP_LOGICAL] = "logi", [HEAP_INTEGER] = "int", [HEAP_REAL] = "num",
		[HEAP_COMPLEX] = "cplx", [HEAP_STRING] = "chr",	 [HEAP_RAW] = "raw",
	};

	return names[type] ? names[type] : names[HEAP_RAW];
}

/*
 * The string @i of the vector at @at, between @quote if there is one.  -EFAULT: it is not a string.
 */
static int add__string(struct heap *h, const struct object *o, uint64_t i, struct buf *b)
{
	struct buf text = {0};
	struct object chars;
	uint64_t at;
	int err = heap__word(h, o, i, &at) ? heap__text(h, at, &text, STRING_BYTES) : -EFAULT;

	if (err > 0)
		err = buf__str(b, "NA");
	else if (!err)
		err = literal__string(b, text.data ? text.data : "", text.len);
	if (!err && heap__object(h, at, &chars) && chars.length > STRING_BYTES)
		err = buf__str(b, "...");
	buf__free(&text);
	return err;
}

static int add__integer(int32_t value, unsigned int type, struct buf *b)
{
	if (value == HEAP_NA_INTEGER)
		return buf__str(b, "NA");
	if (type == HEAP_LOGICAL)
		return buf__str(b, value ? "TRUE" : "FALSE");
	return buf__printf(b, "%" PRId32, value);
}

static int add__element(struct heap *h, const struct object *o, uint64_t i, struct buf *b)
{
	double parts[2];
	int32_t value;
	uint8_t byte;

	switch (o->type) {
	case HEAP_LOGICAL:
	case HEAP_INTEGER:
		return heap__integer(h, o, i, &value) ? add__integer(value, o->type, b) : -EFAULT;
	case HEAP_COMPLEX:
		return heap__complex(h, o, i, parts) ? literal__complex(b, parts, DIGITS) : -EFAULT;
	case HEAP_STRING:
		return add__string(h, o, i, b);
	case HEAP_REAL: /* the caller could not read it */
		return -EFAULT;
	default:
		return heap__byte(h, o, i, &byte) ? buf__printf(b, "%02x", byte) : -EFAULT;
	}
}

/* The first elements, @between them; what cannot be read is "<?>". */
static int add__elements(struct heap *h, const struct object *o, const char *between, uint64_t most,
			 struct buf *b)
{
	double reals[SHOWN];
	int err = 0;
	uint64_t n = 0;

	while (o->type == HEAP_REAL && n < o->length && n < most && heap__real(h, o, n, &reals[n]))
		n++;
	err = literal__reals(b, reals, n, DIGITS, between);
	for (uint64_t i = n; i < o->length && i < most && !err; i++) {
		err = i ? buf__str(b, between) : 0;
		err = err ? err : add__element(h, o, i, b);
		if (err == -EFAULT)
			return buf__str(b, "<?>");
	}
	if (!err && o->length > most)
		err = buf__printf(b, "%s...", between);
	return err;
}

/* "[1:2, 1:3]" of a matrix, "[1:5]" of a vector. */
static int add__extent(struct heap *h, const struct object *o, struct buf *b)
{
	struct object dim;
	int32_t n;
	int err = 0;

	if (!heap__object(h, heap__attribute(h, o, "dim"), &dim) || dim.type != HEAP_INTEGER ||
	    !heap__plain(h, &dim) || !dim.length)
		return o->length == 1 ? 0 : buf__printf(b, " [1:%" PRIu64 "]", o->length);
	err = buf__str(b, " [");
	for (uint64_t i = 0; i < dim.length && i < 8 && !err; i++) {
		err = i ? buf__str(b, ", ") : 0;
		if (!err && !heap__integer(h, &dim, i, &n))
			err = buf__str(b, "<?>");
		else if (!err)
			err = buf__printf(b, n == 1 ? "%" PRId32 : "1:%" PRId32, n);
	}
	return err ? err : buf__str(b, "]");
}

/* ` "a","b"`, the classes or levels that the string vector at @at has. */
static int add__strings(struct heap *h, uint64_t at, uint64_t most, struct buf *b)
{
	struct object o;

	if (!heap__object(h, at, &o) || !heap__plain(h, &o) || o.type != HEAP_STRING)
		return buf__str(b, "<?>");
	return add__elements(h, &o, ",", most, b);
}

bool value__inherits(struct heap *h, const struct object *o, const char *name)
{
	struct object class;
	struct buf text = {0};
	bool is = false;
	uint64_t at;

	if (!o->has_class || !heap__object(h, heap__attribute(h, o, "class"), &class) ||
	    class.type != HEAP_STRING || class.alt)
		return false;
	for (uint64_t i = 0; i < class.length && i < 16 && !is; i++) {
		text.len = 0;
		is = heap__word(h, &class, i, &at) &&
		     !heap__text(h, at, &text, LITERAL_NAME_BYTES) && text.len == strlen(name) &&
		     !memcmp(text.data ? text.data : "", name, text.len);
	}
	buf__free(&text);
	return is;
}

static int add__atomic(struct heap *h, const struct object *o, struct buf *b)
{
	int err = buf__str(b, type__short(o->type));

	if (!err && !o->length)
		return buf__str(b, "(0)");
	err = err ? err : add__extent(h, o, b);
	err = err ? err : buf__str(b, " ");
	return err ? err : add__elements(h, o, " ", o->type == HEAP_STRING ? SHOWN / 2 : SHOWN, b);
}

static int add__factor(struct heap *h, const struct object *o, struct buf *b)
{
	struct object levels;
	uint64_t at = heap__attribute(h, o, "levels");
	int err;

	if (!heap__object(h, at, &levels) || !heap__plain(h, &levels))
		return add__atomic(h, o, b);
	err = buf__printf(b, "Factor w/ %" PRIu64 " %s ", levels.length,
			  count__word(levels.length, "level", "levels"));
	err = err ? err : add__strings(h, at, SHOWN / 2, b);
	err = err ? err : buf__str(b, ": ");
	return err ? err : add__elements(h, o, " ", SHOWN, b);
}

/* Rows by `row.names`: c(NA, -n) where they have no names (attrib.c). */
static int add__rows(struct heap *h, const struct object *o, struct buf *b)
{
	struct object names;
	int32_t first, n;
	/* of strings that R has not made yet, the length is known */
	const bool known = heap__object(h, heap__attribute(h, o, "row.names"), &names) &&
			   (heap__plain(h, &names) || names.length);

	if (known && names.type == HEAP_INTEGER && names.length == 2 &&
	    heap__integer(h, &names, 0, &first) && first == HEAP_NA_INTEGER &&
	    heap__integer(h, &names, 1, &n))
		return buf__printf(b, "%" PRId64, n < 0 ? -(int64_t)n : n);
	return known && h->left ? buf__printf(b, "%" PRIu64, names.length) : buf__str(b, "<?>");
}

static int add__list(struct heap *h, const struct object *o, struct buf *b)
{
	uint64_t names = heap__attribute(h, o, "names");
	int err;

	if (value__inherits(h, o, "data.frame")) {
		err = buf__str(b, "'data.frame': ");
		err = err ? err : add__rows(h, o, b);
		err = err ? err
			  : buf__printf(b, " obs. of %" PRIu64 " %s", o->length,
					count__word(o->length, "variable", "variables"));
	} else if (!o->length && o->type == HEAP_LIST)
		err = buf__str(b, "list()");
	else
		err = buf__printf(b, "%s of %" PRIu64, o->type == HEAP_LIST ? "List" : "expression",
				  o->length);
	if (err || names == h->nil || !o->length)
		return err;
	err = buf__str(b, ": ");
	return err ? err : add__strings(h, names, SHOWN, b);
}

static int add__vector(struct heap *h, struct object *o, struct buf *b)
{
	char class[32];
	int err;

	if (!heap__plain(h, o)) {
		heap__alt_class(h, o, class);
		err = buf__str(b, o->type == HEAP_LIST ? "List" : type__short(o->type));
		return err ? err : buf__printf(b, " <ALTREP %s>", *class ? class : "?");
	}
	if (o->type == HEAP_LIST || o->type == HEAP_EXPRESSION)
		err = add__list(h, o, b);
	else if (o->type == HEAP_INTEGER && value__inherits(h, o, "factor"))
		return add__factor(h, o, b);
	else
		err = add__atomic(h, o, b);
	if (err || !o->has_class || value__inherits(h, o, "data.frame"))
		return err;
	err = buf__str(b, " - class ");
	return err ? err : add__strings(h, heap__attribute(h, o, "class"), SHOWN, b);
}

static int add__closure(struct heap *h, const struct object *o, struct buf *b, size_t max)
{
	uint64_t at = o->word[0];
	struct object cell;
	int err = buf__str(b, "function (");

	for (unsigned int i = 0; i < 64 && at != h->nil && !err && b->len < max; i++) {
		if (!heap__object(h, at, &cell))
			return buf__str(b, "<?>)");
		err = i ? buf__str(b, ", ") : 0;
		err = err ? err : heap__name(h, cell.word[2], b, LITERAL_NAME_BYTES);
		err = err == -EFAULT ? buf__str(b, "<?>") : err;
		at = cell.word[1];
	}
	return err ? err : buf__str(b, ")");
}

static int add__s4(struct heap *h, const struct object *o, struct buf *b)
{
	int err = buf__str(b, "Formal class ");

	return err ? err : add__strings(h, heap__attribute(h, o, "class"), 1, b);
}

/* A scalar that stands in a binding or a promise itself (R_BNDCELL, Defn.h, from R 4.0 on). */
static int add__scalar(unsigned int type, uint64_t word, struct buf *b)
{
	double real;
	int err;

	memcpy(&real, &word, sizeof(real));
	err = buf__printf(b, "%s ", type__short(type));
	if (err)
		return err;
	return type == HEAP_REAL ? literal__reals(b, &real, 1, DIGITS, "")
				 : add__integer((int32_t)word, type, b);
}

bool value__is_scalar(uint32_t extra)
{
	return extra == HEAP_REAL || extra == HEAP_INTEGER || extra == HEAP_LOGICAL;
}

/* R_UnboundValue: a symbol without a printname (names.c). */
static bool object__is_unbound(const struct heap *h, const struct object *o)
{
	return o->type == HEAP_SYMBOL && o->word[0] == h->nil;
}

/* What stands for @o: the value of a promise that was forced.  True: `o` is still a promise. */
static bool object__force(struct heap *h, struct object *o)
{
	struct object value;

	for (unsigned int i = 0; i < 16 && o->type == HEAP_PROMISE; i++) {
		if (value__is_scalar(o->extra) || !heap__object(h, o->word[0], &value) ||
		    object__is_unbound(h, &value))
			return true;
		*o = value;
	}
	return o->type == HEAP_PROMISE;
}

static int add__code(struct heap *h, const char *before, uint64_t at, const char *after,
		     struct buf *b, size_t max)
{
	int err = buf__str(b, before);

	err = err ? err : deparse__call(h, at, b, max);
	return err < 0 ? err : buf__str(b, after);
}

static int add__object(struct heap *h, struct object *o, struct buf *b, size_t max)
{
	if (object__force(h, o))
		return value__is_scalar(o->extra)
			       ? add__scalar(o->extra, o->word[0], b)
			       : add__code(h, "<promise: ", o->word[1], ">", b, max / 2);
	switch (o->type) {
	case HEAP_NIL:
		return buf__str(b, "NULL");
	case HEAP_SYMBOL:
		if (object__is_unbound(h, o))
			return buf__str(b, "<unbound>");
		if (heap__is(h, o->at, ""))
			return buf__str(b, "<missing>");
		return add__code(h, "symbol ", o->at, "", b, max / 2);
	case HEAP_CALL:
		return add__code(h, "language ", o->at, "", b, max / 2);
	case HEAP_CLOSURE:
		return add__closure(h, o, b, max);
	case HEAP_DOTS:
	case HEAP_PAIRLIST:
		return buf__printf(b, o->type == HEAP_DOTS ? "... of %u" : "Dotted pair list of %u",
				   heap__count(h, o->at, CELLS_MAX));
	case HEAP_SPECIAL:
	case HEAP_BUILTIN:
		return add__code(h, "function ", o->at, "", b, max / 2);
	case HEAP_ENVIRONMENT:
		return buf__printf(b, "<environment: 0x%" PRIx64 ">", o->at);
	case HEAP_POINTER:
		return buf__printf(b, "<externalptr: 0x%" PRIx64 ">", o->word[0]);
	case HEAP_S4:
		return add__s4(h, o, b);
	default:
		return heap__is_vector(o->type) ? add__vector(h, o, b)
						: buf__printf(b, "<%s>", value__type(o->type));
	}
}

/* Cut what was added from @start on to @max bytes. */
static int value__cut(struct buf *b, size_t start, size_t max)
{
	size_t end = start + max;

	if (b->len <= end)
		return 0;
	while (end > start && (b->data[end] & 0xc0) == 0x80)
		end--;
	b->len = end;
	return buf__str(b, "...");
}

static uint64_t object__length(struct heap *h, const struct object *o)
{
	switch (o->type) {
	case HEAP_NIL:
		return 0;
	case HEAP_CALL:
	case HEAP_PAIRLIST:
	case HEAP_DOTS:
		return heap__count(h, o->at, CELLS_MAX);
	default:
		return heap__is_vector(o->type) ? o->length : 1;
	}
}

int value__describe(struct heap *h, uint64_t at, struct buf *b, size_t max, struct value_kind *kind)
{
	struct value_kind unused = {0};
	const size_t start = b->len;
	struct object o;
	int err;

	kind = kind ? kind : &unused;
	*kind = (struct value_kind){.type = "?", .length = 1};
	if (!heap__object(h, at, &o))
		return buf__str(b, "<?>");
	err = add__object(h, &o, b, max);
	kind->type =
		value__type(o.type == HEAP_PROMISE && value__is_scalar(o.extra) ? o.extra : o.type);
	kind->length = object__length(h, &o);
	return err ? err : value__cut(b, start, max);
}

bool value__bound(struct heap *h, const struct object *binding, struct object *value)
{
	return !value__is_scalar(binding->extra) && !(binding->gp & GP_ACTIVE) &&
	       heap__object(h, binding->word[0], value) && !object__force(h, value);
}

int value__in_binding(struct heap *h, const struct object *binding, struct buf *b, size_t max,
		      struct value_kind *kind)
{
	*kind = (struct value_kind){.type = "active binding", .length = 1};
	if (value__is_scalar(binding->extra)) {
		kind->type = value__type(binding->extra);
		return add__scalar(binding->extra, binding->word[0], b);
	}
	if (binding->gp & GP_ACTIVE)
		return buf__str(b, "<active binding>");
	return value__describe(h, binding->word[0], b, max, kind);
}
