/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names, strings and numbers as R code writes them.
 *
 * Facts: EncodeString() (util.c), isValidName() (gram.y), formatReal() (format.c), R_NaReal
 * (arithmetic.c), of R 4.0 to 4.6.
 */
#ifndef XR_VALUES_LITERAL_H
#define XR_VALUES_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define LITERAL_NAME_BYTES 256u /* of a name; longer ones are not believed */

/* literal__is_name - need the @len bytes at @s no backticks? */
bool literal__is_name(const char *s, size_t len);

/* literal__name - append a name as code: in backticks if it needs them.  -ENOMEM. */
int literal__name(struct buf *b, const char *name, size_t len);

/* literal__string - append @len bytes as a string in double quotes, with R's escapes.  -ENOMEM. */
int literal__string(struct buf *b, const char *s, size_t len);

/*
 * literal__reals - append the @n numbers at @values, @between them, as R prints a vector: with as
 * few digits as show @digits significant ones of each, and all with an exponent or none.  A number
 * has no zeros at its end.  -ENOMEM.
 */
int literal__reals(struct buf *b, const double *values, size_t n, int digits, const char *between);

/* literal__complex - append the number with these two @parts, each as literal__reals.  -ENOMEM. */
int literal__complex(struct buf *b, const double parts[2], int digits);

/* literal__is_na - is it NA_real_, and not another NaN? */
bool literal__is_na(double value);

#endif
