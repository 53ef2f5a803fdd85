/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an object is, in one line, as str() shows it.  Nothing is evaluated: a promise that was
 * not forced is its expression.
 */
#ifndef XR_VALUES_VALUE_H
#define XR_VALUES_VALUE_H

#include "values/heap.h"

/* What kind of object it is. */
struct value_kind {
	const char *type; /* as typeof(), or "active binding"; a constant */
	uint64_t length;  /* as length(); 1 of what has none */
};

/* value__type - as typeof() has it; "?": R has no such type.  A constant. */
const char *value__type(unsigned int type);

/* value__inherits - is @name one of the classes of @o? */
bool value__inherits(struct heap *h, const struct object *o, const char *name);

/* value__is_scalar - is the value of a cell with this `extra` a number in the cell itself? */
bool value__is_scalar(uint32_t extra);

/*
 * value__describe - append a line about the object at @at, at most @max bytes and then "...": type,
 * length and the first elements.  @kind may be NULL.  -ENOMEM.
 */
int value__describe(struct heap *h, uint64_t at, struct buf *b, size_t max,
		    struct value_kind *kind);

/*
 * value__bound - the object that the cell @binding of an environment holds, a promise that was
 * forced being its value.  False: there is none, or it is an active binding, a scalar in the cell,
 * or a promise that was not forced.
 */
bool value__bound(struct heap *h, const struct object *binding, struct object *value);

/*
 * value__in_binding - the same of what the cell @binding of an environment holds, which may be a
 * scalar without a separate object (R_BNDCELL, Defn.h, from R 4.0 on).
 */
int value__in_binding(struct heap *h, const struct object *binding, struct buf *b, size_t max,
		      struct value_kind *kind);

#endif
