/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A DLL to be called R.dll, that keeps contexts, symbols and calls as R does, and exports the
 * variables that R exports.  The functions it "calls" are known, so a profile of it can be checked
 * to the last stack.
 *
 * Contexts lie on the C stack, one in the frame of each call; environments and argument lists are
 * new for each call.
 */
#include <string.h>
#include <windows.h>

#include "fixture.h"
#include "rcntxt.h"

#define EXPORT __declspec(dllexport)

/* Rinternals.h */
enum {
	NILSXP = 0,
	SYMSXP = 1,
	LISTSXP = 2,
	CLOSXP = 3,
	ENVSXP = 4,
	LANGSXP = 6,
	CHARSXP = 9,
	STRSXP = 16
};
enum { CTXT_TOPLEVEL = 0, CTXT_FUNCTION = 4, CTXT_BUILTIN = 64 };

typedef struct cell *SEXP;

struct cell {
	uint64_t info; /* type in the low five bits */
	SEXP attrib, next, prev;
	SEXP car, cdr, tag; /* printname, value, internal; length and truelength of a vector */
};

struct text {
	struct cell cell; /* to `cdr`; the data begins at byte 48 */
	char more[64];
};

EXPORT struct rcntxt *R_GlobalContext;
EXPORT SEXP R_NilValue, R_DoubleColonSymbol, R_TripleColonSymbol, R_DollarSymbol;
EXPORT SEXP R_Bracket2Symbol, R_SrcfileSymbol, R_ClassSymbol, R_EvalSymbol;
EXPORT SEXP R_InBCInterpreter, R_Srcref;

static struct rcntxt toplevel; /* R_Toplevel */

#ifdef LITERALS
/* do_version(), src/main/version.c */
EXPORT const char *const fixture_version[] = {
	"platform", "major", LITERALS_MAJOR, "minor", LITERALS, "year", LITERALS_YEAR, "month",
};
#endif

/* --- memory --- */

/* Calls until environments and arguments are used again: long after any sample. */
#define CELLS 262144u

static struct cell cells[CELLS];
static uint32_t used;

static SEXP cell__new(int type, SEXP car, SEXP cdr)
{
	SEXP cell = &cells[used++ % CELLS];

	cell->info = (uint64_t)type;
	cell->attrib = R_NilValue;
	cell->car = car;
	cell->cdr = cdr;
	cell->tag = R_NilValue;
	return cell;
}

/* What lives as long as the process. */
static SEXP cell__keep(int type, SEXP car, SEXP cdr)
{
	SEXP cell = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof(struct text));

	cell->info = (uint64_t)type;
	cell->attrib = cell->tag = R_NilValue;
	cell->car = car;
	cell->cdr = cdr;
	return cell;
}

static SEXP text__make(const char *s)
{
	SEXP text = cell__keep(CHARSXP, (SEXP)(uintptr_t)strlen(s), NULL);

	strcpy((char *)text + 48, s);
	return text;
}

static SEXP symbol__make(const char *name)
{
	SEXP sym = cell__keep(SYMSXP, text__make(name), R_NilValue);

	sym->tag = R_NilValue;
	return sym;
}

static SEXP string__make(const char *s)
{
	SEXP string = cell__keep(STRSXP, (SEXP)(uintptr_t)1, NULL);

	*(SEXP *)((char *)string + 48) = text__make(s);
	return string;
}

static SEXP list__make(SEXP first, SEXP second)
{
	return cell__keep(LISTSXP, first, cell__keep(LISTSXP, second, R_NilValue));
}

/* The call f(), or (a op b)() */
static SEXP call__make(SEXP fun)
{
	return cell__keep(LANGSXP, fun, R_NilValue);
}

static SEXP call__of(SEXP op, SEXP a, SEXP b)
{
	return call__make(cell__keep(LANGSXP, op, list__make(a, b)));
}

/* --- calls --- */

static SEXP main_call, work_call, leaf_call, other_call, f_call, g_call;
static SEXP colon2_call, colon3_call, dollar_call, item_call, anon_call, builtin_call;
static SEXP closure;
static enum fixture_mode mode;
static volatile long *stop;
static uint32_t seed = 1;

__attribute__((constructor)) static void r__init(void)
{
	R_NilValue = NULL;
	R_NilValue = cell__keep(NILSXP, NULL, NULL);
	R_NilValue->car = R_NilValue->cdr = R_NilValue->tag = R_NilValue->attrib = R_NilValue;
	R_DoubleColonSymbol = symbol__make("::");
	R_TripleColonSymbol = symbol__make(":::");
	R_DollarSymbol = symbol__make("$");
	R_Bracket2Symbol = symbol__make("[[");
	R_SrcfileSymbol = symbol__make("srcfile");
	R_ClassSymbol = symbol__make("class");
	R_EvalSymbol = symbol__make("eval");
	R_EvalSymbol->tag = cell__keep(CLOSXP, R_NilValue, R_NilValue);
	R_InBCInterpreter = symbol__make("<in-bc-interp>");
	R_Srcref = R_NilValue;

	main_call = call__make(symbol__make("main"));
	work_call = call__make(symbol__make("work"));
	leaf_call = call__make(symbol__make("leaf"));
	other_call = call__make(symbol__make("other"));
	f_call = call__make(symbol__make("f"));
	g_call = call__make(symbol__make("g"));
	builtin_call = call__make(symbol__make("sum"));
	colon2_call = call__of(R_DoubleColonSymbol, symbol__make("stats"), symbol__make("lm"));
	colon3_call = call__of(R_TripleColonSymbol, symbol__make("utils"), symbol__make("head"));
	dollar_call = call__of(R_DollarSymbol, symbol__make("self"), symbol__make("run"));
	item_call = call__of(R_Bracket2Symbol, symbol__make("fs"), string__make("na\xc3\xafve"));
	/* (function() ...)() */
	anon_call = call__make(cell__keep(LANGSXP, symbol__make("function"), R_NilValue));
	closure = cell__keep(CLOSXP, R_NilValue, R_NilValue);

	toplevel.callflag = CTXT_TOPLEVEL;
	toplevel.call = toplevel.cloenv = toplevel.sysparent = R_NilValue;
	R_GlobalContext = &toplevel;
}

/* begincontext(), context.c */
static void context__begin(struct rcntxt *c, int flags, SEXP call)
{
	SEXP env = flags & CTXT_FUNCTION ? cell__new(ENVSXP, R_NilValue, R_NilValue) : R_NilValue;

	c->callflag = flags;
	c->call = call;
	c->cloenv = env;
	c->sysparent = R_GlobalContext->cloenv;
	c->callfun = closure;
	c->promargs = cell__new(LISTSXP, R_NilValue, R_NilValue);
	c->srcref = R_NilValue;
	c->bcbody = c->bcpc = NULL;
	c->nextcontext = R_GlobalContext;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*(struct rcntxt *volatile *)&R_GlobalContext = c;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void context__end(struct rcntxt *c)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*(struct rcntxt *volatile *)&R_GlobalContext = c->nextcontext;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Stay in the function that was called last for 1 to 4 ms, or no time at all. */
static void stay(void)
{
	LARGE_INTEGER hz, now, end;

	if (mode != FIXTURE_KNOWN)
		return;
	seed = seed * 1103515245u + 12345u;
	QueryPerformanceFrequency(&hz);
	QueryPerformanceCounter(&end);
	end.QuadPart += hz.QuadPart / 1000 * (1 + (seed >> 16) % 4);
	do {
		QueryPerformanceCounter(&now);
	} while (now.QuadPart < end.QuadPart && !*stop);
}

typedef void body(int depth);

__attribute__((noinline)) static void call(SEXP what, int flags, body *then, int depth)
{
	struct rcntxt c;

	context__begin(&c, flags, what);
	stay();
	if (then && !*stop)
		then(depth);
	context__end(&c);
}

static void leaf(int depth)
{
	(void)depth;
	call(leaf_call, CTXT_FUNCTION, NULL, 0);
	call(builtin_call, CTXT_BUILTIN, NULL, 0);
}

static void named(int depth)
{
	(void)depth;
	call(colon2_call, CTXT_FUNCTION, NULL, 0);
	call(colon3_call, CTXT_FUNCTION, NULL, 0);
	call(dollar_call, CTXT_FUNCTION, NULL, 0);
	call(item_call, CTXT_FUNCTION, NULL, 0);
	call(anon_call, CTXT_FUNCTION, NULL, 0);
}

/* Contexts that are not frames: a loop's */
static void loop(int depth)
{
	call(R_NilValue, 1, leaf, depth);
}

static void deep(int depth)
{
	if (depth)
		call(depth % 2 ? f_call : g_call, CTXT_FUNCTION, deep, depth - 1);
}

static void known(int depth)
{
	(void)depth;
	call(work_call, CTXT_FUNCTION, leaf, 0);
	call(other_call, CTXT_FUNCTION, named, 0);
	call(work_call, CTXT_FUNCTION, loop, 0);
	call(other_call, CTXT_FUNCTION, deep, 6);
}

EXPORT fixture_run fixture_loop;

void fixture_loop(enum fixture_mode how, volatile long *until)
{
	mode = how;
	stop = until;
	while (!*stop) {
		if (mode == FIXTURE_IDLE)
			Sleep(1);
		else
			call(main_call, CTXT_FUNCTION, known, 0);
	}
}
