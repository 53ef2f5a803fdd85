/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * R's operators, as deparse.c writes them.
 *
 * Facts: R_FunTab[] (names.c) and PREC_* (Defn.h) of R 4.0 to 4.6.
 */
#ifndef XR_VALUES_OPERATORS_H
#define XR_VALUES_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>

enum op_kind {
	OP_CALL,
	OP_BINARY,  /* with spaces */
	OP_BINARY2, /* without */
	OP_UNARY,
	OP_ASSIGN,
	OP_DOLLAR,
	OP_SUBSET,
	OP_IF,
	OP_FOR,
	OP_WHILE,
	OP_REPEAT,
	OP_CURLY,
	OP_PAREN,
	OP_FUNCTION,
	OP_WORD, /* break, next */
};

/* PREC_*, Defn.h */
enum op_precedence {
	PREC_FN,
	PREC_EQ,
	PREC_LEFT,
	PREC_RIGHT,
	PREC_TILDE,
	PREC_OR,
	PREC_AND,
	PREC_NOT,
	PREC_COMPARE,
	PREC_SUM,
	PREC_PROD,
	PREC_PERCENT,
	PREC_RANGE,
	PREC_SIGN,
	PREC_POWER,
	PREC_SUBSET,
	PREC_DOLLAR,
	PREC_NS,
};

struct op {
	const char *name; /* NULL: one like `%in%` */
	enum op_kind kind;
	enum op_precedence precedence;
	bool right; /* it is right associative */
};

/*
 * operator__find - the operator called @name, of @len bytes; NULL: it is not an operator.  `%in%`
 * and the like have a `name` of NULL.
 */
const struct op *operator__find(const char *name, size_t len);

#endif
