/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "values/operators.h"

#include <string.h>

/* R_FunTab[], names.c.  What is not here is written as a call of its name. */
static const struct op ops[] = {
	{"if", OP_IF, PREC_FN, true},
	{"for", OP_FOR, PREC_FN, false},
	{"while", OP_WHILE, PREC_FN, false},
	{"repeat", OP_REPEAT, PREC_FN, false},
	{"break", OP_WORD, PREC_FN, false},
	{"next", OP_WORD, PREC_FN, false},
	{"function", OP_FUNCTION, PREC_FN, false},
	{"{", OP_CURLY, PREC_FN, false},
	{"(", OP_PAREN, PREC_FN, false},
	{"<-", OP_ASSIGN, PREC_LEFT, true},
	{"<<-", OP_ASSIGN, PREC_LEFT, true},
	{"=", OP_ASSIGN, PREC_EQ, true},
	{"[", OP_SUBSET, PREC_SUBSET, false},
	{"[[", OP_SUBSET, PREC_SUBSET, false},
	{"$", OP_DOLLAR, PREC_DOLLAR, false},
	{"@", OP_DOLLAR, PREC_DOLLAR, false},
	{"::", OP_BINARY2, PREC_NS, false},
	{":::", OP_BINARY2, PREC_NS, false},
	{"+", OP_BINARY, PREC_SUM, false},
	{"-", OP_BINARY, PREC_SUM, false},
	{"*", OP_BINARY, PREC_PROD, false},
	{"/", OP_BINARY2, PREC_PROD, false},
	{"^", OP_BINARY2, PREC_POWER, true},
	{"%%", OP_BINARY2, PREC_PERCENT, false},
	{"%/%", OP_BINARY2, PREC_PERCENT, false},
	{"%*%", OP_BINARY, PREC_PERCENT, false},
	{"==", OP_BINARY, PREC_COMPARE, false},
	{"!=", OP_BINARY, PREC_COMPARE, false},
	{"<", OP_BINARY, PREC_COMPARE, false},
	{"<=", OP_BINARY, PREC_COMPARE, false},
	{">=", OP_BINARY, PREC_COMPARE, false},
	{">", OP_BINARY, PREC_COMPARE, false},
	{"&", OP_BINARY, PREC_AND, false},
	{"&&", OP_BINARY, PREC_AND, false},
	{"|", OP_BINARY, PREC_OR, false},
	{"||", OP_BINARY, PREC_OR, false},
	{"!", OP_UNARY, PREC_NOT, false},
	{":", OP_BINARY2, PREC_RANGE, false},
	{"~", OP_BINARY, PREC_TILDE, false},
};

const struct op *operator__find(const char *name, size_t len)
{
	static const struct op own = {NULL, OP_BINARY, PREC_PERCENT, false};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops) && len; i++)
		if (strlen(ops[i].name) == len && !memcmp(ops[i].name, name, len))
			return &ops[i];
	return len >= 2 && name[0] == '%' && name[len - 1] == '%' ? &own : NULL;
}
