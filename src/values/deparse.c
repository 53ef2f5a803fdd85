/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "values/deparse_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "values/literal.h"
#include "values/operators.h"

#define DEPTH_MAX     100u /* calls within calls */
#define FUN_TAB_BYTES 40   /* of an entry of R_FunTab */

/* --- what is written --- */

/* Nothing more is written: the limit is reached, or memory is out. */
bool deparse__full(const struct deparse *d)
{
	return d->err || d->out->len - d->start >= d->max;
}

void deparse__put(struct deparse *d, const char *text)
{
	if (!deparse__full(d))
		d->err = buf__str(d->out, text);
}

/* @err is what came of appending to d->out. */
void deparse__read(struct deparse *d, int err)
{
	if (err == -EFAULT)
		deparse__put(d, "<?>");
	else if (err < 0)
		d->err = err;
}

/* The name of the symbol at @at; as it is, or as code. */
void deparse__symbol(struct deparse *d, uint64_t at, bool as_code)
{
	struct buf name = {0};
	int err = heap__name(d->heap, at, &name, LITERAL_NAME_BYTES);

	if (!err && !deparse__full(d))
		err = as_code ? literal__name(d->out, name.data ? name.data : "", name.len)
			      : buf__add(d->out, name.data ? name.data : "", name.len);
	deparse__read(d, err);
	buf__free(&name);
}

/* --- calls --- */

/* The operator that the function part @at of a call is; NULL: none. */
static const struct op *op__find(struct deparse *d, uint64_t at)
{
	const struct op *found = NULL;
	struct buf name = {0};

	if (!heap__name(d->heap, at, &name, LITERAL_NAME_BYTES) && name.len)
		found = operator__find(name.data, name.len);
	buf__free(&name);
	return found;
}

static bool has_names(struct deparse *d, uint64_t args)
{
	struct object cell;

	for (unsigned int i = 0; i < 8 && args != d->heap->nil; i++) {
		if (!heap__object(d->heap, args, &cell))
			break;
		if (cell.word[2] != d->heap->nil)
			return true;
		args = cell.word[1];
	}
	return false;
}

/* needsparens(): does @at, on the @left of @main or not, stand in parentheses? */
static bool needs_parens(struct deparse *d, const struct op *main, uint64_t at, bool left)
{
	struct object o;
	struct op op;
	const struct op *found;
	uint32_t n;

	if (!heap__object(d->heap, at, &o))
		return false;
	if (o.type == HEAP_COMPLEX && o.length == 1)
		return main->precedence > PREC_SUM ||
		       (main->precedence == PREC_SUM && left == main->right);
	found = o.type == HEAP_CALL ? op__find(d, o.word[0]) : NULL;
	if (!found)
		return false;
	op = *found;
	switch (op.kind) {
	case OP_BINARY:
	case OP_BINARY2:
		n = heap__count(d->heap, o.word[1], 3);
		if (n == 1) {
			if (!left)
				return false;
			if (op.precedence == PREC_SUM)
				op.precedence = PREC_SIGN;
		} else if (n != 2) {
			return false;
		}
		if (main->precedence == PREC_COMPARE && op.precedence == PREC_COMPARE)
			return true;
		break;
	case OP_SUBSET:
		if (main->kind == OP_DOLLAR)
			return false;
		break;
	case OP_UNARY:
		if (!left)
			return false;
		break;
	case OP_ASSIGN:
	case OP_DOLLAR:
		break;
	case OP_FOR:
	case OP_IF:
	case OP_WHILE:
	case OP_REPEAT:
		return left;
	default:
		return false;
	}
	return main->precedence > op.precedence ||
	       (main->precedence == op.precedence && left == main->right);
}

static void put__operand(struct deparse *d, const struct op *op, uint64_t at, bool left)
{
	const bool parens = needs_parens(d, op, at, left);

	if (parens)
		deparse__put(d, "(");
	deparse__node(d, at);
	if (parens)
		deparse__put(d, ")");
}

static void put__args(struct deparse *d, uint64_t args, bool formals)
{
	struct object cell, value;

	while (args != d->heap->nil && !deparse__full(d)) {
		if (!heap__object(d->heap, args, &cell)) {
			deparse__put(d, "<?>");
			return;
		}
		if (cell.word[2] != d->heap->nil)
			deparse__symbol(d, cell.word[2], true);
		/* the missing argument is a symbol without a name */
		if (cell.word[2] != d->heap->nil &&
		    (!formals ||
		     !(heap__object(d->heap, cell.word[0], &value) && value.type == HEAP_SYMBOL &&
		       heap__is(d->heap, cell.word[0], ""))))
			deparse__put(d, " = ");
		d->in_argument = true;
		deparse__node(d, cell.word[0]);
		d->in_argument = false;
		args = cell.word[1];
		if (args != d->heap->nil)
			deparse__put(d, ", ");
	}
}

static void put__block(struct deparse *d, uint64_t args)
{
	struct object cell;
	bool any = false;

	deparse__put(d, "{");
	while (args != d->heap->nil && !deparse__full(d)) {
		if (!heap__object(d->heap, args, &cell)) {
			deparse__put(d, "<?>");
			break;
		}
		deparse__put(d, any ? "; " : " ");
		deparse__node(d, cell.word[0]);
		any = true;
		args = cell.word[1];
	}
	deparse__put(d, " }");
}

/* The first three arguments at @args; nil for those that are not there.  How many there are. */
static uint32_t args__take(struct deparse *d, uint64_t args, uint64_t arg[4])
{
	struct object cell;
	uint32_t n = 0;

	for (uint32_t i = 0; i < 4; i++)
		arg[i] = d->heap->nil;
	while (n < 5 && args != d->heap->nil && heap__object(d->heap, args, &cell)) {
		if (n < 4)
			arg[n] = cell.word[0];
		n++;
		args = cell.word[1];
	}
	return n;
}

static void put__if(struct deparse *d, const uint64_t arg[4], uint32_t n)
{
	deparse__put(d, "if (");
	deparse__node(d, arg[0]);
	deparse__put(d, ") ");
	deparse__node(d, arg[1]);
	if (n > 2) {
		deparse__put(d, " else ");
		deparse__node(d, arg[2]);
	}
}

static void put__loop(struct deparse *d, const struct op *op, const uint64_t arg[4])
{
	deparse__put(d, op->name);
	if (op->kind == OP_REPEAT) {
		deparse__put(d, " ");
		deparse__node(d, arg[0]);
		return;
	}
	deparse__put(d, " (");
	deparse__node(d, arg[0]);
	if (op->kind == OP_FOR) {
		deparse__put(d, " in ");
		deparse__node(d, arg[1]);
	}
	deparse__put(d, ") ");
	deparse__node(d, arg[op->kind == OP_FOR ? 2 : 1]);
}

/* An operator with one or two operands. */
static void put__operator(struct deparse *d, struct op op, uint64_t fun, const uint64_t arg[4],
			  uint32_t n)
{
	const bool spaces = op.kind == OP_BINARY || op.kind == OP_ASSIGN;

	if (n == 1) {
		if (op.precedence == PREC_SUM)
			op.precedence = PREC_SIGN;
		deparse__symbol(d, fun, false);
		put__operand(d, &op, arg[0], false);
		return;
	}
	put__operand(d, &op, arg[0], true);
	if (spaces)
		deparse__put(d, " ");
	deparse__symbol(d, fun, false);
	if (spaces)
		deparse__put(d, " ");
	put__operand(d, &op, arg[1], false);
}

/* a$b; what is a string there and a name is written as the name. */
static void put__dollar(struct deparse *d, const struct op *op, uint64_t fun, const uint64_t arg[4])
{
	struct buf text = {0};
	struct object o;
	uint64_t at;

	put__operand(d, op, arg[0], true);
	deparse__symbol(d, fun, false);
	if (heap__object(d->heap, arg[1], &o) && o.type == HEAP_STRING && !o.alt &&
	    heap__word(d->heap, &o, 0, &at) &&
	    !heap__text(d->heap, at, &text, LITERAL_NAME_BYTES) &&
	    literal__is_name(text.data ? text.data : "", text.len)) {
		if (!deparse__full(d))
			d->err = buf__add(d->out, text.data, text.len);
	} else {
		put__operand(d, op, arg[1], false);
	}
	buf__free(&text);
}

static void put__call(struct deparse *d, uint64_t fun, uint64_t args)
{
	deparse__symbol(d, fun, true);
	deparse__put(d, "(");
	put__args(d, args, false);
	deparse__put(d, ")");
}

/* A call whose function part is the operator @op, written as such if its arguments allow that. */
static void put__op(struct deparse *d, const struct op *op, uint64_t fun, uint64_t args,
		    bool argument)
{
	uint64_t arg[4];
	const uint32_t n = args__take(d, args, arg);
	const bool equals = op->kind == OP_ASSIGN && op->precedence == PREC_EQ && argument;
	const bool binary = op->kind == OP_BINARY || op->kind == OP_BINARY2 ||
			    op->kind == OP_ASSIGN || op->kind == OP_DOLLAR;
	struct object cell, name;

	if ((binary && n != 2 && !(n == 1 && op->kind == OP_BINARY && op->name)) ||
	    (op->kind == OP_UNARY && n != 1) || (!op->name && has_names(d, args)) ||
	    (op->kind == OP_SUBSET && !n) ||
	    (op->kind == OP_DOLLAR && heap__object(d->heap, arg[1], &name) &&
	     name.type != HEAP_SYMBOL && name.type != HEAP_STRING)) {
		put__call(d, fun, args);
		return;
	}
	switch (op->kind) {
	case OP_IF:
		put__if(d, arg, n);
		break;
	case OP_FOR:
	case OP_WHILE:
	case OP_REPEAT:
		put__loop(d, op, arg);
		break;
	case OP_CURLY:
		put__block(d, args);
		break;
	case OP_PAREN:
		deparse__put(d, "(");
		deparse__node(d, arg[0]);
		deparse__put(d, ")");
		break;
	case OP_FUNCTION:
		deparse__put(d, "function(");
		put__args(d, arg[0], true);
		deparse__put(d, ") ");
		deparse__node(d, arg[1]);
		break;
	case OP_WORD:
		deparse__put(d, op->name);
		break;
	case OP_SUBSET:
		put__operand(d, op, arg[0], true);
		deparse__put(d, op->name);
		if (heap__object(d->heap, args, &cell))
			put__args(d, cell.word[1], false);
		deparse__put(d, op->name[1] ? "]]" : "]");
		break;
	case OP_DOLLAR:
		put__dollar(d, op, fun, arg);
		break;
	default:
		if (equals)
			deparse__put(d, "(");
		put__operator(d, *op, fun, arg, n);
		if (equals)
			deparse__put(d, ")");
	}
}

/* parenthesizeCaller(): the function part is code itself, (f + g)(x). */
static bool caller__needs_parens(struct deparse *d, const struct object *fun)
{
	const struct op *op;
	struct object head;

	if (fun->type != HEAP_CALL)
		return fun->type == HEAP_CLOSURE;
	if (!heap__object(d->heap, fun->word[0], &head) || head.type != HEAP_SYMBOL)
		return true;
	op = op__find(d, fun->word[0]);
	return op && (!op->name || (op->precedence < PREC_SUBSET && op->kind != OP_PAREN &&
				    op->kind != OP_CURLY));
}

static void put__language(struct deparse *d, const struct object *o)
{
	const bool argument = d->in_argument;
	struct object fun;
	const struct op *op;
	bool parens;

	d->in_argument = false;
	if (!heap__object(d->heap, o->word[0], &fun)) {
		deparse__put(d, "<?>");
		return;
	}
	if (fun.type == HEAP_SYMBOL) {
		op = op__find(d, fun.at);
		if (op)
			put__op(d, op, fun.at, o->word[1], argument);
		else
			put__call(d, fun.at, o->word[1]);
		return;
	}
	parens = caller__needs_parens(d, &fun);
	if (parens)
		deparse__put(d, "(");
	deparse__node(d, fun.at);
	if (parens)
		deparse__put(d, ")");
	deparse__put(d, "(");
	put__args(d, o->word[1], false);
	deparse__put(d, ")");
}

/* The expression that byte code was made of is the first of its constants. */
static void put__bytecode(struct deparse *d, const struct object *o)
{
	struct object constants;
	uint64_t at;

	if (heap__object(d->heap, o->word[1], &constants) && constants.type == HEAP_LIST &&
	    heap__word(d->heap, &constants, 0, &at))
		deparse__node(d, at);
	else
		deparse__put(d, "<bytecode>");
}

static void put__builtin(struct deparse *d, const struct object *o)
{
	char name[64] = "";
	uint64_t at;

	/* the name comes first in an entry (FUNTAB, Defn.h) */
	if (d->heap->fun_tab && (uint32_t)o->word[0] < 2048 &&
	    heap__read(d->heap, d->heap->fun_tab + (o->word[0] & 0xffff) * FUN_TAB_BYTES, &at, 8))
		heap__read(d->heap, at, name, sizeof(name) - 1);
	deparse__put(d, ".Primitive(");
	if (!deparse__full(d))
		d->err = literal__string(d->out, *name ? name : "?", strlen(*name ? name : "?"));
	deparse__put(d, ")");
}

static void put__pairlist(struct deparse *d, uint64_t at)
{
	deparse__put(d, "pairlist(");
	put__args(d, at, false);
	deparse__put(d, ")");
}

void deparse__node(struct deparse *d, uint64_t at)
{
	struct object o;

	if (deparse__full(d))
		return;
	if (d->depth >= DEPTH_MAX || !heap__object(d->heap, at, &o)) {
		deparse__put(d, "<?>");
		return;
	}
	d->depth++;
	switch (o.type) {
	case HEAP_NIL:
		deparse__put(d, "NULL");
		break;
	case HEAP_SYMBOL:
		deparse__symbol(d, at, true);
		break;
	case HEAP_CALL:
		put__language(d, &o);
		break;
	case HEAP_PROMISE:
		deparse__node(d, o.word[1]);
		break;
	case HEAP_BYTECODE:
		put__bytecode(d, &o);
		break;
	case HEAP_CLOSURE:
		deparse__put(d, "function (");
		put__args(d, o.word[0], true);
		deparse__put(d, ") ");
		deparse__node(d, o.word[1]);
		break;
	case HEAP_PAIRLIST:
		put__pairlist(d, at);
		break;
	case HEAP_DOTS:
		deparse__put(d, "...");
		break;
	case HEAP_ENVIRONMENT:
		deparse__put(d, "<environment>");
		break;
	case HEAP_SPECIAL:
	case HEAP_BUILTIN:
		put__builtin(d, &o);
		break;
	case HEAP_POINTER:
		if (!deparse__full(d))
			d->err = buf__printf(d->out, "<pointer: 0x%" PRIx64 ">", o.word[0]);
		break;
	case HEAP_WEAK:
		deparse__put(d, "<weak reference>");
		break;
	case HEAP_S4:
		deparse__put(d, "<S4 object>");
		break;
	default:
		if (heap__is_vector(o.type))
			deparse__vector(d, &o);
		else
			deparse__put(d, "<?>");
	}
	d->depth--;
}

int deparse__call(struct heap *h, uint64_t at, struct buf *b, size_t max)
{
	struct deparse d = {.heap = h, .out = b, .start = b->len, .max = max};
	size_t end;

	deparse__node(&d, at);
	if (d.err)
		return d.err;
	if (b->len - d.start < max)
		return 0;
	/* not in the middle of a character */
	for (end = d.start + max; end > d.start && (b->data[end - 1] & 0xc0) == 0x80; end--)
		;
	if (end > d.start && b->data[end - 1] & 0x80)
		end--;
	b->len = end;
	d.err = buf__str(b, "...");
	return d.err ? d.err : 1;
}
