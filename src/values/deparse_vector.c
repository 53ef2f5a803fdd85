/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "values/deparse_parts.h"

#include <errno.h>
#include <inttypes.h>

#include "values/literal.h"
#include "values/value.h"

#define STRING_BYTES 1024u
#define DIGITS	     15		     /* significant ones of a number in code */
#define PIECE	     1024u	     /* elements that are read at once */
#define RANGE_MAX    (1024u * PIECE) /* elements of a vector in memory that may be written 1:n */

/* Element @i of the string vector @o. */
static int put__string(struct deparse *d, const struct object *o, uint64_t i, bool alone)
{
	struct buf text = {0};
	uint64_t at;
	int err;

	if (!heap__word(d->heap, o, i, &at))
		return -EFAULT;
	err = heap__text(d->heap, at, &text, STRING_BYTES);
	if (err > 0)
		err = buf__str(d->out, alone ? "NA_character_" : "NA");
	else if (!err)
		err = literal__string(d->out, text.data ? text.data : "", text.len);
	buf__free(&text);
	return err;
}

/* Element @i of the vector @o, which is not a list.  @alone: its NA must name its type. */
static void put__element(struct deparse *d, const struct object *o, uint64_t i, bool alone)
{
	int32_t integer = 0;
	double real = 0, parts[2];
	uint8_t byte;
	int err = -EFAULT;

	if (deparse__full(d))
		return;
	switch (o->type) {
	case HEAP_LOGICAL:
		if (heap__integer(d->heap, o, i, &integer))
			err = buf__str(d->out, integer == HEAP_NA_INTEGER ? "NA"
					       : integer		  ? "TRUE"
									  : "FALSE");
		break;
	case HEAP_INTEGER:
		if (!heap__integer(d->heap, o, i, &integer))
			break;
		if (integer == HEAP_NA_INTEGER)
			err = buf__str(d->out, alone ? "NA_integer_" : "NA");
		else
			err = buf__printf(d->out, "%" PRId32 "L", integer);
		break;
	case HEAP_REAL:
		if (!heap__real(d->heap, o, i, &real))
			break;
		err = alone && literal__is_na(real) ? buf__str(d->out, "NA_real_")
						    : literal__reals(d->out, &real, 1, DIGITS, "");
		break;
	case HEAP_COMPLEX:
		if (heap__complex(d->heap, o, i, parts))
			err = literal__complex(d->out, parts, DIGITS);
		break;
	case HEAP_STRING:
		err = put__string(d, o, i, alone);
		break;
	default:
		if (heap__byte(d->heap, o, i, &byte))
			err = buf__printf(d->out, "0x%02x", byte);
	}
	deparse__read(d, err);
}

/* Do the elements of @o, an integer vector in memory, follow on each other from @first on? */
static bool range__follows(struct heap *h, const struct object *o, int32_t first)
{
	int32_t piece[PIECE];

	for (uint64_t i = 0; i < o->length; i += PIECE) {
		const uint64_t n = o->length - i < PIECE ? o->length - i : PIECE;

		if (!heap__read(h, o->at + h->vector_data + i * 4, piece, n * 4))
			return false;
		for (uint64_t k = 0; k < n; k++)
			if (piece[k] != (int64_t)first + (int64_t)(i + k))
				return false;
	}
	return true;
}

/* Integers one after the other, "1:10"?  Whether that was written. */
static bool put__range(struct deparse *d, const struct object *o)
{
	int32_t first, last;

	if (o->type != HEAP_INTEGER || o->length < 2 ||
	    o->length > (o->alt ? INT32_MAX : RANGE_MAX) || !heap__integer(d->heap, o, 0, &first) ||
	    first == HEAP_NA_INTEGER || !heap__integer(d->heap, o, o->length - 1, &last) ||
	    (int64_t)last - first != (int64_t)o->length - 1)
		return false;
	if (!o->alt && !range__follows(d->heap, o, first))
		return false;
	if (!deparse__full(d))
		d->err = buf__printf(d->out, "%" PRId32 ":%" PRId32, first, last);
	return true;
}

/* "name = ", of element @i by the string vector @names. */
static void put__element_name(struct deparse *d, const struct object *names, uint64_t i)
{
	struct buf text = {0};
	uint64_t at;

	if (names->type != HEAP_STRING || !heap__word(d->heap, names, i, &at) ||
	    heap__text(d->heap, at, &text, LITERAL_NAME_BYTES) || !text.len) {
		buf__free(&text);
		return;
	}
	if (!deparse__full(d))
		d->err = literal__name(d->out, text.data, text.len);
	deparse__put(d, " = ");
	buf__free(&text);
}

/* Its elements, NA must name its type if there is no other element to tell it. */
static bool vector__needs_type(struct deparse *d, const struct object *o)
{
	struct buf text = {0};
	int32_t integer;
	double real;
	uint64_t at;
	bool na = true;

	for (uint64_t i = 0; i < o->length && i < 64 && na; i++) {
		if (o->type == HEAP_INTEGER)
			na = heap__integer(d->heap, o, i, &integer) && integer == HEAP_NA_INTEGER;
		else if (o->type == HEAP_REAL)
			na = heap__real(d->heap, o, i, &real) && literal__is_na(real);
		else if (o->type == HEAP_STRING)
			na = heap__word(d->heap, o, i, &at) &&
			     heap__text(d->heap, at, &text, 4) == 1;
		else
			na = false;
	}
	buf__free(&text);
	return na;
}

static void put__elements(struct deparse *d, const struct object *o)
{
	const bool list = o->type == HEAP_LIST || o->type == HEAP_EXPRESSION;
	const bool typed = !list && vector__needs_type(d, o);
	struct object names;
	uint64_t at;

	if (!heap__object(d->heap, heap__attribute(d->heap, o, "names"), &names) ||
	    !heap__plain(d->heap, &names))
		names = (struct object){0};
	if (!o->length) {
		deparse__put(d, o->type == HEAP_REAL ? "numeric" : value__type(o->type));
		deparse__put(d, list ? "()" : "(0)");
		return;
	}
	if (names.type != HEAP_STRING && put__range(d, o))
		return;
	if (list || o->length > 1 || names.type == HEAP_STRING || o->type == HEAP_RAW)
		deparse__put(d, o->type == HEAP_LIST	     ? "list("
				: o->type == HEAP_EXPRESSION ? "expression("
				: o->type == HEAP_RAW	     ? "as.raw(c("
							     : "c(");
	for (uint64_t i = 0; i < o->length && !deparse__full(d); i++) {
		if (i)
			deparse__put(d, ", ");
		put__element_name(d, &names, i);
		if (!list)
			put__element(d, o, i, typed);
		else if (heap__word(d->heap, o, i, &at))
			deparse__node(d, at);
		else
			deparse__put(d, "<?>");
	}
	if (o->type == HEAP_RAW)
		deparse__put(d, o->length > 1 ? "))" : ")");
	else if (list || o->length > 1 || names.type == HEAP_STRING)
		deparse__put(d, ")");
}

/* Attributes but names, which the elements have: structure(ELEMENTS, ATTRIBUTE = ...). */
void deparse__vector(struct deparse *d, const struct object *o)
{
	struct object plain = *o, cell;
	char class[32];
	uint64_t at = o->attributes;
	bool structure = false;

	if (!heap__plain(d->heap, &plain)) {
		heap__alt_class(d->heap, &plain, class);
		if (!deparse__full(d))
			d->err = buf__printf(d->out, "<%s>", *class ? class : "ALTREP");
		return;
	}
	for (unsigned int i = 0; i < 16 && at != d->heap->nil && !structure; i++) {
		if (!heap__object(d->heap, at, &cell))
			break;
		structure = !heap__is(d->heap, cell.word[2], "names") &&
			    !heap__is(d->heap, cell.word[2], "srcref");
		at = cell.word[1];
	}
	if (structure)
		deparse__put(d, "structure(");
	put__elements(d, &plain);
	at = o->attributes;
	for (unsigned int i = 0; structure && i < 16 && at != d->heap->nil; i++) {
		if (!heap__object(d->heap, at, &cell) || deparse__full(d))
			break;
		if (!heap__is(d->heap, cell.word[2], "names") &&
		    !heap__is(d->heap, cell.word[2], "srcref")) {
			deparse__put(d, ", ");
			deparse__symbol(d, cell.word[2], true);
			deparse__put(d, " = ");
			deparse__node(d, cell.word[0]);
		}
		at = cell.word[1];
	}
	if (structure)
		deparse__put(d, ")");
}
