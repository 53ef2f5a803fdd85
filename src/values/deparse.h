/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * R code from R's objects: what deparse() writes, in one line.
 *
 * Facts: deparse.c of R 4.2 to 4.6 (deparse2buff, args2buff, needsparens, parenthesizeCaller,
 * vec2buff), names.c (kinds and precedences of operators).
 */
#ifndef XR_VALUES_DEPARSE_H
#define XR_VALUES_DEPARSE_H

#include "values/heap.h"

/*
 * deparse__call - append the code of the object at @at, at most @max bytes and then "...".  Where R
 * begins a new line there is a space, or "; " between the statements of a block.  What cannot be
 * read is "<?>".  1: it was cut; 0; -ENOMEM.
 */
int deparse__call(struct heap *h, uint64_t at, struct buf *b, size_t max);

#endif
